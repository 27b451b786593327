// Options in a TOML file: `name = value` for each, at the top or in a table of the command's name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"

namespace hogbatch {

struct ConfigEntry {
  std::string name;   // of the option, without dashes
  std::string text;   // as on a command line; "true" or "false" for a flag
  std::string place;  // FILE:LINE
};

// The file that --config names among the arguments; empty: none.
std::string FindConfig(std::span<const std::string> arguments);

// The entries for one command. `commands` are the names that tables may have. UserError, with the
// place, for text that is not TOML, a value that no option can have, or a newer format.
std::vector<ConfigEntry> ReadConfig(const std::string& path, std::string_view command,
                                    std::span<const std::string> commands);
// The same for the text of a file; `path` names it in errors.
std::vector<ConfigEntry> ParseConfig(std::string_view text, const std::string& path,
                                     std::string_view command,
                                     std::span<const std::string> commands);

// A file of jobs: the entries of [defaults] and of each [[job]] table. UserError, with the place,
// for text that is not TOML, a value that no option can have, or anything else at the top.
struct JobEntries {
  std::string place;  // FILE:LINE
  std::vector<ConfigEntry> entries;
};
struct JobTables {
  std::vector<ConfigEntry> defaults;
  std::vector<JobEntries> jobs;
};
JobTables ParseJobTables(std::string_view text, const std::string& path);

// Writes options as such a file; texts that are not given are left out.
class ConfigWriter final : public OptionVisitor {
 public:
  ConfigWriter();

  void Group(std::string_view title) override;
  void Flag(std::string_view name, bool& value, std::string_view help) override;
  void Number(std::string_view name, std::int64_t& value, Range range,
              std::string_view help) override;
  void Number(std::string_view name, double& value, Range range, std::string_view help) override;
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range range,
               std::string_view help) override;
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view help) override;
  void Text(std::string_view name, std::string& value, std::string_view meta,
            std::string_view help) override;

  // An argument that is not an option, such as the data.
  void Argument(std::string_view name, const std::string& value);

  const std::string& text() const { return text_; }

 private:
  void Add(std::string_view name, std::string_view value);

  std::string text_;
};

}  // namespace hogbatch
