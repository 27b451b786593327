// The only file that knows CLI11.
#include "cli/options/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/options/command_list.h"
#include "cli/options/config.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/option_values.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr std::size_t kHelpColumn = 36;
constexpr std::size_t kHelpWidth = 98 - kHelpColumn;
constexpr char kNoBreak = '\x1f';  // a space at which no line ends

// Wraps each line. A line with a gap is a row of a table: what does not fit stands below its text.
std::string WrapLines(std::string_view text) {
  std::string wrapped;
  for (const std::string& line : SplitLines(text)) {
    const std::size_t gap = line.find("  ");
    const std::size_t indent = gap == line.npos ? 0 : line.find_first_not_of(' ', gap);
    std::string cell = Wrap(std::string_view(line).substr(indent), kHelpWidth - indent);
    for (std::size_t at = 0; (at = cell.find('\n', at)) != cell.npos; at += indent + 1) {
      cell.insert(at + 1, indent, ' ');
    }
    wrapped += (wrapped.empty() ? "" : "\n") + line.substr(0, indent) + cell;
  }
  return wrapped;
}

// Help texts begin with a capital letter.
std::string HelpText(std::string help) {
  if (!help.empty() && help[0] >= 'a' && help[0] <= 'z') {
    help[0] = static_cast<char>(help[0] - 'a' + 'A');
  }
  help = WrapLines(help);
  std::ranges::replace(help, kNoBreak, ' ');
  return help;
}

std::shared_ptr<CLI::Formatter> MakeFormatter() {
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(kHelpColumn);
  formatter->label("Positionals", "Arguments");
  return formatter;
}

// Registers arguments with a CLI11 command.
class ArgumentRegistrar final : public ArgumentVisitor {
 public:
  explicit ArgumentRegistrar(CLI::App& app) : app_(app) {}

  // By their names in a configuration file.
  const std::vector<std::pair<std::string, std::string*>>& texts() const { return texts_; }

  void One(const char* name, std::string& value, const std::string& help) override {
    app_.add_option(name, value, HelpText(help))->type_name("");
    Note(name, value);
  }
  void Files(const char* name, std::string& value, const std::string& help) override {
    const auto join = [&value](const std::vector<std::string>& files) {
      value = fmt::format("{}", fmt::join(files, "\n"));
    };
    app_.add_option_function<std::vector<std::string>>(name, join, HelpText(help))->type_name("");
    Note(name, value);
  }
  void Folders(const char* name, std::vector<std::string>& values,
               const std::string& help) override {
    app_.add_option(name, values, HelpText(help))->type_name("");
  }

 private:
  void Note(std::string name, std::string& value) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    texts_.emplace_back(std::move(name), &value);
  }

  CLI::App& app_;
  std::vector<std::pair<std::string, std::string*>> texts_;
};

// Registers an option with a CLI11 command. `take` is given its name and text.
using Take = std::function<void(const std::string& name, const std::string& text)>;
void Register(CLI::App& app, const ListedOption& option, const Take& take) {
  const std::string flag = fmt::format("--{}", option.name);
  const std::string help = HelpText(
      option.value.empty() ? option.help
                           : fmt::format("{} (default{}{})", option.help, kNoBreak, option.value));
  if (option.name == kHelpOption) {
    app.set_help_flag("-h," + flag, help)->group(option.group);
  } else if (option.meta.empty()) {
    const auto note = [take, name = option.name](std::int64_t count) {
      take(name, OptionText(count > 0));
    };
    app.add_flag_function(flag, note, help)->group(option.group);
  } else {
    const auto note = [take, name = option.name](const std::string& text) { take(name, text); };
    app.add_option_function<std::string>(flag, note, help)
        ->type_name(option.meta)
        ->group(option.group)
        ->take_last();
  }
}

// A sentence about the first argument that CLI11 did not expect.
[[noreturn]] void ThrowUnknown(const CLI::App& app, const std::vector<ListedOption>& options) {
  std::vector<std::string> known;
  for (const ListedOption& option : options) known.push_back(option.name);
  const std::vector<std::string> rest = app.remaining();
  for (const std::string& word : rest) {
    if (!word.starts_with('-')) continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string bare = name.substr(std::min(name.size(), name.find_first_not_of('-')));
    throw UserError(fmt::format("unknown option {}{}", name, DidYouMean(bare, known, "--")));
  }
  throw UserError(fmt::format("'{}' is one argument too many; see hogbatch {} --help",
                              rest.empty() ? "" : rest.front(), app.get_name()));
}

// CLI11 leaves two empty lines between groups.
std::string TidyHelp(std::string help) {
  for (std::size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
  return help;
}

// Sets an option, or an argument, from a configuration file.
void SetFromConfig(const ConfigEntry& entry, const ArgumentRegistrar& arguments, const Take& take) {
  try {
    for (const auto& [name, text] : arguments.texts()) {
      if (name != entry.name) continue;
      *text = entry.text;
      return;
    }
    take(entry.name, entry.text);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", entry.place, error.what()));
  }
}

// CLI11's own errors as sentences; text if it is asked for help.
std::optional<PrintText> ParseWith(CLI::App& app, std::span<const std::string> arguments,
                                   const std::vector<ListedOption>& options) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return PrintText{TidyHelp(app.help("hogbatch"))};
  } catch (const CLI::ExtrasError&) {
    ThrowUnknown(app, options);
  } catch (const CLI::ArgumentMismatch& error) {
    // "--epochs: 1 required X missing"
    const std::string_view what = error.what();
    throw UserError(fmt::format("{} needs a value; see hogbatch {} --help",
                                what.substr(0, what.find(':')), app.get_name()));
  } catch (const CLI::ParseError& error) {
    throw UserError(fmt::format("{}; see hogbatch {} --help", error.what(), app.get_name()));
  }
  return std::nullopt;
}

// Parses one command's arguments.
template <typename Options>
Command ParseCommand(const CommandRow<Options>& row, std::span<const std::string> arguments) {
  Options options;
  const auto visit = [&](OptionVisitor& all) { options.Visit(all); };
  const std::vector<ListedOption> listed = ListOptions(visit);
  CLI::App app(row.help, row.name);
  app.formatter(MakeFormatter());
  ArgumentRegistrar named(app);
  options.Arguments(named);
  std::vector<std::string> given;
  bool prints_config = false;
  const Take take = [&](const std::string& name, const std::string& text) {
    if (name == kConfigOption) return;  // it has been read
    if (name == kPrintConfigOption) {
      prints_config = true;
      return;
    }
    if (text.empty()) throw UserError(fmt::format("--{} needs a value", name));
    SetOption(visit, name, text);
    given.push_back(name);
  };
  for (const ListedOption& option : listed) Register(app, option, take);
  if (const std::string path = FindConfig(arguments); !path.empty()) {
    for (const ConfigEntry& entry : ReadConfig(path, row.name, CommandNames())) {
      SetFromConfig(entry, named, take);
    }
  }
  if (const auto text = ParseWith(app, arguments, listed)) return *text;
  if (prints_config) {
    ConfigWriter writer;
    for (const auto& [argument, value] : named.texts()) writer.Argument(argument, *value);
    options.Visit(writer);
    return PrintText{writer.text()};
  }
  if constexpr (requires { options.given; }) options.given = std::move(given);
  return options;
}

[[noreturn]] void ThrowUnknownCommand(const std::string& name) {
  std::vector<std::string> known = CommandNames();
  known.insert(known.end(), {"--help", "--version"});
  const std::string nearest = DidYouMean(name, known);
  throw UserError(fmt::format("unknown {} {}{}", name.starts_with('-') ? "option" : "command", name,
                              nearest.empty() ? "; see hogbatch --help" : nearest));
}

[[noreturn]] void ThrowUnknownDataCommand(const std::string& name) {
  const std::string nearest = DidYouMean(name, DataCommandNames());
  throw UserError(fmt::format("unknown command data {}{}", name,
                              nearest.empty() ? "; see hogbatch data --help" : nearest));
}

bool AsksForHelp(std::span<const std::string> arguments) {
  return arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h";
}

// The command of that name; none if there is none.
std::optional<Command> FindAndParse(std::string_view name, std::span<const std::string> arguments) {
  std::optional<Command> command;
  ForEachCommand([&](const auto& row) {
    if (row.name == name) command = ParseCommand(row, arguments);
  });
  return command;
}

}  // namespace

Command Parse(std::span<const std::string> arguments) {
  if (AsksForHelp(arguments) || arguments[0] == "help") return PrintText{ProgramHelp()};
  const std::string& name = arguments[0];
  const auto rest = arguments.subspan(1);
  if (name == "--version") return PrintText{"hogbatch " HOGBATCH_VERSION "\n"};
  if (name == "completion") return PrintText{CompletionScript(rest.empty() ? "" : rest[0])};
  if (name == "man") return PrintText{ManualPage(HOGBATCH_VERSION)};
  if (name == kDataGroup) {
    if (AsksForHelp(rest)) return PrintText{DataHelp()};
    const auto command = FindAndParse(fmt::format("{} {}", name, rest[0]), rest.subspan(1));
    if (!command) ThrowUnknownDataCommand(rest[0]);
    return *command;
  }
  const auto command = FindAndParse(name == "doctor" ? "devices" : name, rest);
  if (!command) ThrowUnknownCommand(name);
  return *command;
}

}  // namespace hogbatch
