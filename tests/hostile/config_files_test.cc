// Options and jobs in TOML files made to break their reader.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/hostile/refused.h"

namespace hogbatch {
namespace {

TEST(HostileConfig, IsRefusedWithNamesOfHalfAMillionParts) {
  const TemporaryFolder folder;
  std::string name = "a";
  for (int i = 1; i < 500000; ++i) name += ".a";
  folder.Write("key.toml", name + " = 1\n");
  folder.Write("table.toml", "[" + name + "]\n");
  for (const std::string file : {"key.toml", "table.toml"}) {
    const std::string gist = file + ":1: a key or table has a name of more than 32 dotted parts";
    ExpectRefused(RunProgram({"train", "--config", file, "rows"}, folder.path()), gist);
    ExpectRefused(RunProgram({"queue", file}, folder.path()), gist);
  }
}

}  // namespace
}  // namespace hogbatch
