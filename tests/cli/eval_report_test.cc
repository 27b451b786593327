#include "cli/reports/eval_report.h"

#include <gtest/gtest.h>

namespace hogbatch {
namespace {

TEST(EvalReport, OfVeryManyClassesKeepsWhatF1NeedsAndNoMatrix) {
  ConfusionMatrix matrix(65536);
  EXPECT_FALSE(matrix.has_counts());
  matrix.Add(65535, 65535);
  matrix.Add(7, 65535);
  EXPECT_EQ(matrix.actual(7), 1);
  EXPECT_EQ(matrix.predicted(65535), 2);
  EXPECT_NEAR(matrix.F1(), (2.0 / 3 + 0) / 2, 1e-12);

  const EvalReport report{
      .sums = {.rows = 2, .loss = 1, .correct = 1},
      .scale = {.loss = Loss::kSoftmax},
      .classes = ClassReport{.confusion = matrix, .names = std::vector<std::string>(65536, "a")}};
  EXPECT_EQ(EvalJson(report).find("confusion"), std::string::npos);
  EXPECT_EQ(EvalText(report).find("--json"), std::string::npos);
  EXPECT_NE(EvalText(report).find("too many to read"), std::string::npos);
}

TEST(EvalReport, UpToAThousandClassesIsInTheJson) {
  ConfusionMatrix matrix(2);
  matrix.Add(0, 0);
  matrix.Add(0, 1);
  const EvalReport report{.sums = {.rows = 2, .loss = 1, .correct = 1},
                          .scale = {.loss = Loss::kSoftmax},
                          .classes = ClassReport{.confusion = matrix, .names = {"no", "yes"}}};
  EXPECT_NE(EvalJson(report).find("\"confusion\""), std::string::npos);
}

}  // namespace
}  // namespace hogbatch
