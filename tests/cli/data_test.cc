// The data commands as users meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

class DataCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string rows = "id,kind,size,y\n";
    for (int i = 0; i < 200; ++i) {
      rows += std::to_string(i + 1) + (i % 4 ? ",big," : ",\"a, b\",") +
              (i % 10 ? std::to_string(i * 7 % 50) : "") + (i % 5 ? ",no\n" : ",yes\n");
    }
    folder_.Write("rows.csv", rows);
  }
  Finished Data(std::vector<std::string> words) const {
    words.insert(words.begin(), "data");
    return RunProgram(words, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(DataCommand, InfoSaysWhatItUnderstood) {
  const Finished info = Data({"info", "rows.csv"});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  for (const char* part : {"format    CSV, commas between columns, a header", "rows      200",
                           "label     y: 2 classes", "no", "80.0 %", "it numbers the rows",
                           "2 different: big (150), a, b (50)", "1 to 49", "20 missing"}) {
    EXPECT_THAT(info.out, HasSubstr(part));
  }
  folder_.Write("written.csv", "when;price;y\n3.1.2024;1,5;0\n1.2.2024;-2,25;1\n20.1.2024;7;0\n");
  const Finished written = Data({"info", "written.csv"});
  EXPECT_THAT(written.out, HasSubstr("3.1.2024 to 1.2.2024"));
  EXPECT_THAT(written.out, HasSubstr("-2.25 to 7"));
  const Finished json = Data({"info", "rows.csv", "--json"});
  EXPECT_THAT(json.out, HasSubstr("\"missing\": 20"));
  EXPECT_THAT(json.out, HasSubstr("\"no\": 160"));
  EXPECT_THAT(Data({"info", "rows.csv", "--label", "size"}).out, HasSubstr("label     size: "));
}

TEST_F(DataCommand, ConvertKeepsTheCellsOfTables) {
  ASSERT_EQ(Data({"convert", "rows.csv", "rows.jsonl"}).exit_code, 0);
  EXPECT_TRUE(folder_.Read("rows.jsonl")
                  .starts_with("{\"id\":1,\"kind\":\"a, b\",\"size\":null,\"y\":\"yes\"}\n"));
  ASSERT_EQ(Data({"convert", "rows.jsonl", "again.csv"}).exit_code, 0);
  EXPECT_EQ(folder_.Read("again.csv"), folder_.Read("rows.csv"));
}

TEST_F(DataCommand, ConvertWritesLibsvmAsANetworkSeesIt) {
  const Finished done = Data({"convert", "rows.csv", "rows.svm"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("LIBSVM labels are numbers: 0 = no, 1 = yes"));
  EXPECT_EQ(std::ranges::count(folder_.Read("rows.svm"), '\n'), 200);
  ASSERT_EQ(Data({"convert", "rows.svm", "dense.csv"}).exit_code, 0);
  EXPECT_TRUE(folder_.Read("dense.csv").starts_with("1,2,3,4,label\n"));
}

TEST_F(DataCommand, SplitCopiesEveryLineOnceAndEveryClassInItsShare) {
  const Finished done = Data({"split", "rows.csv", "--test-fraction", "0.25"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "150 rows in rows-train.csv, 50 in rows-test.csv\n");
  const auto lines = [](const std::string& text) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      all.push_back(text.substr(at, text.find('\n', at) - at));
    }
    return all;
  };
  std::vector<std::string> train = lines(folder_.Read("rows-train.csv"));
  std::vector<std::string> test = lines(folder_.Read("rows-test.csv"));
  EXPECT_EQ(std::ranges::count_if(test, [](const auto& line) { return line.ends_with("yes"); }),
            10);
  EXPECT_EQ(train.front(), test.front());
  test.erase(test.begin());
  train.insert(train.end(), test.begin(), test.end());
  std::vector<std::string> all = lines(folder_.Read("rows.csv"));
  std::ranges::sort(train);
  std::ranges::sort(all);
  EXPECT_EQ(train, all);
}

TEST_F(DataCommand, GenerateMakesRowsThatTrain) {
  ASSERT_EQ(Data({"generate", "covtype", "made.csv", "--rows", "300"}).exit_code, 0);
  EXPECT_EQ(Data({"info", "made.csv"}).exit_code, 0);
  ASSERT_EQ(Data({"generate", "delicious", "made.svm", "--rows", "100"}).exit_code, 0);
  EXPECT_THAT(Data({"info", "made.svm"}).out, HasSubstr("labels, several per row"));
}

TEST_F(DataCommand, SaysWhatIsWrong) {
  const auto refused = [&](std::vector<std::string> words, const char* gist) {
    const Finished finished = Data(std::move(words));
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr(gist));
  };
  refused({"inof", "rows.csv"}, "unknown command data inof; did you mean info?");
  refused({"zzzzzzzz"}, "unknown command data zzzzzzzz; see hogbatch data --help");
  refused({"info", "nowhere.csv"}, "nowhere.csv");
  refused({"info", "rows.csv", "--label", "z"}, "no column is called 'z'");
  refused({"convert", "rows.csv"}, "data convert needs two files");
  refused({"convert", "rows.csv", "rows.csv.gz"}, "compress the file afterwards");
  refused({"generate", "covtipe", "x"}, "unknown set 'covtipe'");
  refused({"split", "rows.csv", "--test-fraction", "2"}, "--test-fraction");
  refused({"split", "rows.csv", "--out-train", "x", "--out-test", "./x"}, "name two files");
  refused({"split", "rows.csv", "--memory-limit", "100"}, "--memory-limit");
  ASSERT_EQ(::mkfifo((folder_.path() + "/pipe").c_str(), 0600), 0);
  refused({"split", "pipe"}, "nor a pipe");
  refused({"convert", "-", "x.csv"}, "nor a pipe");
}

}  // namespace
}  // namespace hogbatch
