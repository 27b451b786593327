// Models that earlier versions wrote still load and predict the same. For each vN-NAME there are a
// model, the rows it was trained on (.csv or .svm), and what `hogbatch predict --probabilities` of
// the version that wrote it said about them. Formats are added to the folder, never taken away.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/text.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> SplitText(const std::string& text, char delimiter) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, delimiter);) parts.push_back(part);
  return parts;
}

void ExpectSamePredictions(const std::string& found, const std::string& expected) {
  const std::vector<std::string> lines = SplitText(found, '\n');
  const std::vector<std::string> expected_lines = SplitText(expected, '\n');
  ASSERT_EQ(lines.size(), expected_lines.size());
  EXPECT_EQ(lines[0], expected_lines[0]);
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const std::vector<std::string> cells = SplitText(lines[row], ',');
    const std::vector<std::string> expected_cells = SplitText(expected_lines[row], ',');
    ASSERT_EQ(cells.size(), expected_cells.size());
    EXPECT_EQ(cells[0], expected_cells[0]) << "row " << row;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      // Machines differ in the last digits.
      EXPECT_NEAR(ParseReal("", cells[i]), ParseReal("", expected_cells[i]), 1e-5) << "row " << row;
    }
  }
}

TEST(OldModels, PredictWhatTheyDid) {
  const TemporaryFolder folder;
  int models = 0;
  for (const auto& entry : fs::directory_iterator(InSource("tests/training/models"))) {
    const fs::path model = entry.path();
    if (model.extension() != ".safetensors") continue;
    SCOPED_TRACE(model.filename().string());
    ++models;
    fs::path data = fs::path(model).replace_extension(".csv");
    if (!fs::exists(data)) data.replace_extension(".svm");
    const Finished predicted = RunProgram(
        {"predict", model.string(), data.string(), "--probabilities", "--devices", "cpu:1"},
        folder.path());
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    std::ifstream expected(fs::path(model).replace_extension(".predictions.csv"));
    ExpectSamePredictions(predicted.out, {std::istreambuf_iterator<char>(expected), {}});
  }
  EXPECT_GE(models, 2);
}

}  // namespace
}  // namespace hogbatch
