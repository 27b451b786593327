// predict as people use it: on tables, pipes and JSON lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

std::string Table(int rows) {
  std::string text = "x,kind,y\n";
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i % 2 ? 5 + i % 3 : -5 - i % 3) + (i % 3 ? ",big" : ",small") +
            (i % 2 ? ",yes\n" : ",no\n");
  }
  return text;
}

class PredictCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("rows.csv", Table(300));
    const Finished trained =
        RunProgram({"train", "rows.csv", "--hidden", "8", "--epochs", "20", "--lr", "0.1", "--out",
                    "o", "--devices", "cpu:1", "--quiet"},
                   folder_.path());
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  Finished Predict(const std::string& data, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"predict", "o/model.safetensors", data};
    words.insert(words.end(), more.begin(), more.end());
    return RunProgram(words, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(PredictCommand, ReadsStandardInput) {
  folder_.Write("stdin", "kind,x\nbig,6\nsmall,-6\n");
  const Finished finished = Predict("-");
  EXPECT_EQ(finished.out, "yes\nno\n") << finished.err;
}

TEST_F(PredictCommand, AnswersAPipeAsItIsWritten) {
  const std::string pipe = folder_.path() + "/stdin";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::jthread writer([&] {
    std::ofstream out(pipe);
    out << "x,kind\n6,big\n" << std::flush;
    // Only when the first answer is there does the second row follow.
    for (int i = 0; i < 3000 && !folder_.Read("stdout").starts_with("yes\n"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(folder_.Read("stdout"), "yes\n");
    out << "-6,big\n";
  });
  EXPECT_EQ(Predict("-").out, "yes\nno\n");
}

TEST_F(PredictCommand, RepeatsTheInput) {
  folder_.Write("new.csv", "name;kind;x\n\"a;b\";big;6\nc;small;-6\n");
  EXPECT_EQ(Predict("new.csv", {"--with-input"}).out,
            "name;kind;x;prediction\n\"a;b\";big;6;yes\nc;small;-6;no\n");
  folder_.Write("new.jsonl", "{\"x\": 6, \"kind\": \"big\", \"id\": 7}\n{\"x\": -6}\n");
  const Finished json = Predict("new.jsonl", {"--with-input"});
  EXPECT_EQ(json.out,
            "{\"x\": 6, \"kind\": \"big\", \"id\": 7,\"prediction\":\"yes\"}\n"
            "{\"x\": -6,\"prediction\":\"no\"}\n")
      << json.err;
}

TEST_F(PredictCommand, PrintsJsonLines) {
  folder_.Write("new.csv", "x,kind\n6,big\n");
  EXPECT_EQ(Predict("new.csv", {"--json"}).out, "{\"prediction\":\"yes\"}\n");
  EXPECT_THAT(Predict("new.csv", {"--json", "--probabilities"}).out,
              HasSubstr("{\"prediction\":\"yes\",\"probabilities\":{\"no\":"));
  EXPECT_EQ(Predict("new.csv", {"--json", "--top", "2"}).out,
            "{\"prediction\":[\"yes\",\"no\"]}\n");
}

TEST_F(PredictCommand, ChoosesTheSecondClassFromAThreshold) {
  folder_.Write("new.csv", "x,kind\n6,big\n-6,big\n");
  EXPECT_EQ(Predict("new.csv", {"--threshold", "0.000001"}).out, "yes\nyes\n");
  EXPECT_EQ(Predict("new.csv", {"--threshold", "1"}).out, "no\nno\n");
}

TEST_F(PredictCommand, RefusesOptionsThatDoNotFit) {
  folder_.Write("numbers.csv", "a,y\n1,1.5\n2,2.25\n3,3.5\n4,4.75\n5,5.5\n6,6.25\n");
  ASSERT_EQ(RunProgram({"train", "numbers.csv", "--hidden", "4", "--epochs", "1", "--out", "n",
                        "--devices", "cpu:1", "--quiet"},
                       folder_.path())
                .exit_code,
            0);
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"--probabilities"}, {"--top", "2"}, {"--threshold", "0.3"}}) {
    std::vector<std::string> words = {"predict", "n/model.safetensors", "numbers.csv"};
    words.insert(words.end(), option.begin(), option.end());
    const Finished finished = RunProgram(words, folder_.path());
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr(option[0] + ": the model predicts numbers"));
  }
  const Finished folder = Predict("there is no such data", {"--out", "o"});
  EXPECT_EQ(folder.exit_code, 2);
  EXPECT_THAT(folder.err, HasSubstr("cannot write o: it is a folder; name a file"));
  const Finished mixed = Predict("rows.csv", {"--with-input", "--json"});
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("leave out --json"));
}

TEST_F(PredictCommand, NoCommandReplacesAFileThatItReads) {
  const std::string model = "o/model.safetensors";
  const std::string before = folder_.Read(model);
  std::filesystem::create_symlink("rows.csv", folder_.path() + "/link.csv");
  folder_.Write("stdin", "");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"predict", model, "rows.csv", "--out", "rows.csv"},
           {"predict", model, "ro?s.csv", "--out", "link.csv"},
           {"predict", model, "rows.csv", "--out", model},
           {"predict", model, "-", "--out", "stdin"},
           {"export", model, "--onnx", model},
           {"train", "link.csv", "--trace", "rows.csv", "--out", "p"},
           {"train", "rows.csv", "--init", model, "--trace", model, "--out", "p"},
           {"train", "--resume", "o", "--trace", "o/metrics.jsonl"},
           {"report", "o", "--out", model},
           {"data", "convert", "rows.csv", "rows.csv"},
           {"data", "split", "rows.csv", "--out-test", "./rows.csv"}}) {
    const Finished refused = RunProgram(words, folder_.path());
    EXPECT_EQ(refused.exit_code, 2) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("cannot write "));
    EXPECT_THAT(refused.err, HasSubstr("name another file to write"));
  }
  EXPECT_EQ(folder_.Read("rows.csv"), Table(300));
  EXPECT_EQ(folder_.Read(model), before);
  EXPECT_FALSE(folder_.Has("p"));
  EXPECT_EQ(Predict("rows.csv", {"--out", "answers"}).exit_code, 0);
  EXPECT_EQ(Predict("rows.csv", {"--out", "answers"}).exit_code, 0) << "it is no input";
}

TEST_F(PredictCommand, InspectShowsWhatIsInACache) {
  const ScopedVariable cache("XDG_CACHE_HOME", folder_.path() + "/cache");
  ASSERT_EQ(RunProgram({"train", "rows.csv", "--stream", "--hidden", "2", "--epochs", "0"},
                       folder_.path())
                .exit_code,
            0);
  const std::filesystem::directory_iterator files(folder_.path() + "/cache/hogbatch/data");
  const std::string path = files->path().string();
  const Finished whole = RunProgram({"inspect", path}, folder_.path());
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  for (const char* part : {"kind            cache\n", "data            rows.csv\n",
                           "rows            300\n", "kind, category"}) {
    EXPECT_THAT(whole.out, HasSubstr(part));
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
  const Finished cut = RunProgram({"inspect", path}, folder_.path());
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_THAT(cut.err, HasSubstr("the cache is damaged: an array; remove the file"));
}

TEST_F(PredictCommand, InspectShowsWhatIsInAModelAndARun) {
  const Finished model = RunProgram({"inspect", "o/model.safetensors"}, folder_.path());
  ASSERT_EQ(model.exit_code, 0) << model.err;
  for (const char* part : {"model", "3 -> 8 -> 2", "no, yes", "kind, category"}) {
    EXPECT_THAT(model.out, HasSubstr(part));
  }
  const Finished run = RunProgram({"inspect", "o", "--json"}, folder_.path());
  EXPECT_THAT(run.out, HasSubstr("\"checkpoints\""));
  EXPECT_EQ(RunProgram({"inspect", "rows.csv"}, folder_.path()).exit_code, 2);
  const std::string damaged = folder_.Write("checkpoint-7.safetensors", "damaged");
  EXPECT_THAT(RunProgram({"inspect", damaged}, folder_.path()).err,
              HasSubstr("is not a checkpoint that can be read: "));
  EXPECT_THAT(RunProgram({"inspect", "."}, folder_.path()).err,
              HasSubstr("name the folder of a run"));
}

TEST_F(PredictCommand, ImportanceIsThatOfTheColumnThatDecides) {
  const Finished text =
      RunProgram({"eval", "o/model.safetensors", "rows.csv", "--importance"}, folder_.path());
  ASSERT_EQ(text.exit_code, 0) << text.err;
  const std::size_t x = text.out.find("\nx "), kind = text.out.find("\nkind ");
  ASSERT_NE(kind, std::string::npos) << text.out;
  EXPECT_LT(x, kind) << text.out;
  EXPECT_THAT(RunProgram({"eval", "o/model.safetensors", "rows.csv", "--importance", "--json"},
                         folder_.path())
                  .out,
              HasSubstr("\"loss_added\""));
}

TEST_F(PredictCommand, AFailedRunLeavesNoFolder) {
  EXPECT_EQ(RunProgram({"train", "nowhere.csv", "--out", "none"}, folder_.path()).exit_code, 2);
  EXPECT_FALSE(folder_.Has("none"));
  EXPECT_EQ(RunProgram({"train", "nowhere.csv", "--out", "o"}, folder_.path()).exit_code, 2);
  EXPECT_TRUE(folder_.Has("o/model.safetensors")) << "an older run stays";
}

TEST_F(PredictCommand, TrainsFromSeveralFilesAndStandardInput) {
  folder_.Write("more.csv", Table(100));
  const Finished several = RunProgram({"train", "rows.csv", "more.csv", "--hidden", "4", "--epochs",
                                       "1", "--out", "s", "--devices", "cpu:1"},
                                      folder_.path());
  EXPECT_THAT(several.out, HasSubstr("rows.csv and 1 more: 360 training rows, 40 validation rows"))
      << several.err;
  const Finished again = RunProgram(
      {"train", "--config", "s/config.toml", "--out", "t", "--epochs", "0"}, folder_.path());
  EXPECT_THAT(again.out, HasSubstr("360 training rows")) << again.err;
  folder_.Write("stdin", Table(50));
  const Finished piped = RunProgram(
      {"train", "-", "--hidden", "4", "--epochs", "1", "--out", "u", "--devices", "cpu:1"},
      folder_.path());
  EXPECT_THAT(piped.out, HasSubstr("standard input: 45 training rows")) << piped.err;
}

}  // namespace
}  // namespace hogbatch
