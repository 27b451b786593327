#include "cli/options/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/process.h"
#include "training/spec.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kCommands = {"train", "eval"};

std::string ConfigError(const std::string& text) {
  try {
    ParseConfig(text, "c.toml", "train", kCommands);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(Config, HasTheOptionsOfItsCommand) {
  const auto entries = ParseConfig(
      "config-format = 1\nlr = 0.5\nhidden = [8, 9]\n[train]\nno-pin = true\n[eval]\njson = true\n",
      "c.toml", "train", kCommands);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "hidden");
  EXPECT_EQ(entries[0].text, "8,9");
  EXPECT_EQ(entries[1].text, "0.5");
  EXPECT_EQ(entries[2].text, "true");
  EXPECT_EQ(entries[2].place, "c.toml:5");
}

TEST(Config, IsRefusedWithThePlace) {
  EXPECT_THAT(ConfigError("lr = \n"), HasSubstr("c.toml:1:"));
  EXPECT_THAT(ConfigError("lr = 1\n[trian]\n"), HasSubstr("c.toml:2: [trian] is not a command"));
  EXPECT_THAT(ConfigError("lr = [[1]]\n"), HasSubstr("c.toml:1: lr is a list of lists"));
  EXPECT_THAT(ConfigError("lr = 1979-05-27\n"), HasSubstr("c.toml:1: lr is a date or a table"));
  EXPECT_THAT(ConfigError("config-format = 2\n"),
              HasSubstr("c.toml:1 was written by a newer hogbatch (format 2; "));
  EXPECT_THAT(ConfigError("config-format = 'x'\n"),
              HasSubstr("c.toml:1: config-format x is not a version"));
}

std::string Dotted(std::size_t parts, const std::string& part) {
  std::string key = part;
  for (std::size_t i = 1; i < parts; ++i) key += "." + part;
  return key;
}

TEST(Config, IsRefusedWithNamesOfManyParts) {
  const std::string gist = "a key or table has a name of more than 32 dotted parts";
  for (const std::string part : {"a", "\"a\"", "'#'", " a ", "\"=\""}) {
    for (const std::size_t parts : {33, 500000}) {
      const std::string key = Dotted(parts, part);
      EXPECT_THAT(ConfigError("lr = 1\n" + key + " = 1\n"), HasSubstr("c.toml:2: " + gist));
      EXPECT_THAT(ConfigError("[" + key + "]\n"), HasSubstr("c.toml:1: " + gist));
      EXPECT_THAT(ConfigError("[[" + key + "]]\n"), HasSubstr("c.toml:1: " + gist));
      EXPECT_THAT(ConfigError("x = {" + key + " = 1}\n"), HasSubstr("c.toml:1: " + gist));
      EXPECT_THAT(ConfigError("x = [\"\"\"\\\"\"\"\"\"\", {" + key + " = 1}]\n"), HasSubstr(gist));
    }
    EXPECT_THAT(ConfigError(Dotted(32, part) + " = 1\n"), Not(HasSubstr(gist)));
  }
}

TEST(Config, MayHaveDotsInStringsAndComments) {
  const std::string dots(100, '.');
  std::string many;
  for (int i = 0; i < 50; ++i) many += ", 1.5";
  for (const std::string& text :
       {"label = \"\\\"" + dots + "\"", "label = '\"" + dots + "'", "# '\"" + dots,
        "label = \"\"\"\"" + dots + "\n\"" + dots + "\"\"\"\"\"", "label = '''\n'" + dots + "\\'''",
        "label = \"\" # " + dots, "x = [1.5, 1.5" + many + "]"}) {
    EXPECT_EQ(ConfigError(text + "\nlr = 1.5\n"), "") << text;
  }
}

TEST(Config, ComesBackAsItWasWritten) {
  TrainingSpec spec;
  spec.label = "a \"b\"\\\x7f\x01ä\n";
  spec.learning_rate.lr = 1e-7;
  ConfigWriter writer;
  spec.Visit(writer);
  TrainingSpec read;
  for (const ConfigEntry& entry : ParseConfig(writer.text(), "c.toml", "train", kCommands)) {
    SetOption(read, entry.name, entry.text);
  }
  ConfigWriter again;
  read.Visit(again);
  EXPECT_EQ(writer.text(), again.text());
}

TEST(Config, ReplacesWhatIsNoUtf8AndSaysSo) {
  TrainingSpec spec;
  spec.test = "t\xff.csv";
  ConfigWriter writer;
  writer.Argument("data", "d\xc3.csv");
  spec.Visit(writer);
  EXPECT_THAT(writer.text(),
              HasSubstr("give it on the command line\ndata = \"d\xEF\xBF\xBD.csv\"\n"));
  EXPECT_THAT(writer.text(),
              HasSubstr("give it on the command line\ntest = \"t\xEF\xBF\xBD.csv\"\n"));
  EXPECT_FALSE(ParseConfig(writer.text(), "c.toml", "train", kCommands).empty());
}

TEST(Config, OfTheProgramLosesToFlags) {
  const TemporaryFolder folder;
  folder.Write("rows.svm", TwoClasses(60));
  folder.Write("c.toml", "data = \"rows.svm\"\nhidden = [4]\nepochs = 3\n");
  const Finished printed =
      RunProgram({"train", "--config", "c.toml", "--epochs", "2", "--print-config"}, folder.path());
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("epochs = 2\n"));
  EXPECT_THAT(printed.out, HasSubstr("hidden = [4]\n"));
  const Finished run = RunProgram({"train", "--config", "c.toml", "--out", "run"}, folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Finished again =
      RunProgram({"train", "--config", "run/config.toml", "--out", "again"}, folder.path());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(folder.Read("run/config.toml"), folder.Read("again/config.toml"));
}

TEST(Config, WithAnUnknownOptionIsRefused) {
  const TemporaryFolder folder;
  folder.Write("c.toml", "epochs = 3\nepohcs = 3\n");
  const Finished run = RunProgram({"train", "--config", "c.toml"}, folder.path());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("c.toml:2: unknown option epohcs"));
  EXPECT_THAT(run.err, HasSubstr("epochs"));
  const Finished missing = RunProgram({"train", "--config", "none.toml"}, folder.path());
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--config none.toml: cannot be read"));
}

}  // namespace
}  // namespace hogbatch
