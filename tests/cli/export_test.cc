// Rows and initial weights for other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

class ExportCommand : public testing::Test {
 protected:
  void SetUp() override { folder_.Write("data", TwoClasses(400)); }
  Finished Run(const std::vector<std::string>& arguments) const {
    return RunProgram(arguments, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(ExportCommand, WritesTheWeightsThatTrainingStartsFrom) {
  const Finished exported =
      Run({"export", "data", "--hidden", "8", "--out", "e", "--init-seeds", "1,2"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(exported.out, "e: 400 rows and 2 initial models\n");
  for (const char* seed : {"1", "2"}) {
    const std::string out = std::string("t") + seed;
    ASSERT_EQ(Run({"train", "data", "--hidden", "8", "--epochs", "0", "--seed", seed, "--out", out,
                   "--devices", "cpu:1"})
                  .exit_code,
              0);
    const std::string model = folder_.Read("e/initial-" + std::string(seed) + ".safetensors");
    // Seeds change the split and with it the scaling, so only the weights must agree.
    const std::string trained = folder_.Read(out + "/model.safetensors");
    constexpr std::size_t kWeights = sizeof(float) * (4 * 8 + 8 + 8 * 2 + 2);
    ASSERT_GE(model.size(), kWeights);
    EXPECT_EQ(model.substr(model.size() - kWeights), trained.substr(trained.size() - kWeights));
  }
  EXPECT_EQ(Run({"train", "data", "--hidden", "8", "--epochs", "0", "--init",
                 "e/initial-2.safetensors", "--out", "again", "--devices", "cpu:1"})
                .exit_code,
            0);
  EXPECT_EQ(folder_.Read("again/model.safetensors"), folder_.Read("e/initial-2.safetensors"));
}

TEST_F(ExportCommand, DescribesWhatItWrote) {
  folder_.Write("test", TwoClasses(20));
  ASSERT_EQ(Run({"export", "data", "--test", "test", "--hidden", "8,4", "--activation", "tanh",
                 "--seed", "3", "--out", "e"})
                .exit_code,
            0);
  const std::string json = folder_.Read("e/export.json");
  for (const char* part :
       {R"("format": 1)", R"("source": "data")", R"("train": 360)", R"("valid": 40)",
        R"("test": 20)", R"("features": 4)", R"("label_kind": "class")", R"("outputs": 2)",
        R"("activation": "tanh")", R"("loss": "softmax")", R"("data_seed": 3)"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
  const std::string data = folder_.Read("e/data.safetensors");
  for (const char* tensor : {"train.classes", "valid.classes", "test.classes"}) {
    EXPECT_THAT(data, HasSubstr(tensor));
  }
  EXPECT_FALSE(folder_.Read("e/initial-3.safetensors").empty()) << "the seed of --seed";
}

TEST_F(ExportCommand, SaysWhatIsMissing) {
  const Finished finished = Run({"export", "data"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err,
            "hogbatch: export needs --out DIR for the rows of DATA, or --onnx FILE for a model\n");
  EXPECT_EQ(Run({"export", "data", "--out", "e", "--lr", "1"}).exit_code, 2) << "train's alone";
}

}  // namespace
}  // namespace hogbatch
