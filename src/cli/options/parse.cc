// The only file that knows CLI11.
#include "cli/options/parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "cli/options/command_list.h"
#include "cli/options/config.h"
#include "cli/options/help_text.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/spelling.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr std::size_t kHelpColumn = 36;
constexpr std::size_t kHelpWidth = 98 - kHelpColumn;

// Help texts begin with a capital letter.
std::string HelpText(std::string help) {
  if (!help.empty() && help[0] >= 'a' && help[0] <= 'z') {
    help[0] = static_cast<char>(help[0] - 'a' + 'A');
  }
  return Wrap(help, kHelpWidth);
}

// Registers every option it visits with a CLI11 command.
class Registrar final : public OptionVisitor {
 public:
  explicit Registrar(CLI::App& app) : app_(app) {}

  const std::vector<std::string>& names() const { return names_; }
  const std::string& group() const { return group_; }
  // On the command line, or in --config.
  const std::vector<std::string>& given() const { return given_; }

  // Sets an option from a configuration file.
  void Set(const ConfigEntry& entry) {
    const auto found = setters_.find(entry.name);
    if (found == setters_.end()) {
      throw UserError(fmt::format("{}: unknown option {}{}", entry.place, entry.name,
                                  DidYouMean(entry.name, names_)));
    }
    try {
      found->second(entry.text);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: {}", entry.place, error.what()));
    }
    given_.push_back(entry.name);
  }
  void AddArgument(const std::string& name, std::string& value) {
    setters_[name] = [&value](const std::string& text) { value = text; };
  }

  void Group(std::string_view title) override { group_ = title; }

  void Flag(std::string_view name, bool& value, std::string_view help) override {
    names_.emplace_back(name);
    setters_[std::string(name)] = [&value, name = std::string(name)](const std::string& text) {
      if (text != "true" && text != "false") {
        throw UserError(fmt::format("{} needs true or false, not '{}'", name, text));
      }
      value = text == "true";
    };
    const auto note = [this, &value, name = std::string(name)](std::int64_t count) {
      given_.push_back(name);
      value = count > 0;
    };
    app_.add_flag_function(fmt::format("--{}", name), note, HelpText(std::string(help)))
        ->group(group_);
  }
  void Number(std::string_view name, std::int64_t& value, Range range,
              std::string_view help) override {
    Add(name, "N", fmt::format("{}", value), help,
        [&value, range, name = std::string(name)](const std::string& text) {
          value = CheckedInteger(name, text, range);
        });
  }
  void Number(std::string_view name, double& value, Range range, std::string_view help) override {
    Add(name, "X", fmt::format("{:g}", value), help,
        [&value, range, name = std::string(name)](const std::string& text) {
          value = CheckedReal(name, text, range);
        });
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range range,
               std::string_view help) override {
    Add(name, "N,N,...", Join(value), help,
        [&value, range, name = std::string(name)](const std::string& text) {
          value = CheckedIntegers(name, text, range);
        });
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view help) override {
    Add(name, words.text(), value, help,
        [&value, words, name = std::string(name)](const std::string& text) {
          value = CheckedWord(name, text, words);
        });
  }
  void Checked(std::string_view name, std::string& value, const Words& words,
               const TextCheck& check, std::string_view help) override {
    Add(name, words.text(), value, help, [&value, check](const std::string& text) {
      check(text);
      value = text;
    });
  }
  void Text(std::string_view name, std::string& value, std::string_view meta,
            std::string_view help) override {
    Add(name, meta, value, help, [&value, name = std::string(name)](const std::string& text) {
      if (text.empty()) throw UserError(fmt::format("--{} needs a value", name));
      value = text;
    });
  }

 private:
  void Add(std::string_view name, std::string_view meta, std::string_view now,
           std::string_view help, const std::function<void(const std::string&)>& set) {
    names_.emplace_back(name);
    setters_[std::string(name)] = set;
    const std::string shown =
        now.empty() ? std::string(help) : fmt::format("{} (default {})", help, now);
    const auto note = [this, set, name = std::string(name)](const std::string& text) {
      given_.push_back(name);
      set(text);
    };
    app_.add_option_function<std::string>(fmt::format("--{}", name), note, HelpText(shown))
        ->type_name(std::string(meta))
        ->group(group_)
        ->take_last();
  }

  CLI::App& app_;
  std::string group_ = "Options";
  std::vector<std::string> names_;
  std::vector<std::string> given_;
  std::map<std::string, std::function<void(const std::string&)>> setters_;
};

std::shared_ptr<CLI::Formatter> MakeFormatter() {
  auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(kHelpColumn);
  formatter->label("Positionals", "Arguments");
  return formatter;
}

// One command: its options as CLI11 fills them, and the names it knows for suggestions.
template <typename Options>
struct Registered {
  Registered(const char* name, const char* help) : app(help, name), registrar(app) {
    app.formatter(MakeFormatter());
  }
  void Positional(const char* meta, std::string& value, const char* help) {
    app.add_option(meta, value, help)->type_name("FILE");
    std::string name = meta;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    registrar.AddArgument(name, value);
    arguments.emplace_back(name, &value);
  }
  // Several files as lines of one text.
  void Files(const char* meta, std::string& value, const char* help) {
    app.add_option_function<std::vector<std::string>>(
           meta,
           [&value](const std::vector<std::string>& files) {
             value = fmt::format("{}", fmt::join(files, "\n"));
           },
           help)
        ->type_name("FILE ...");
    registrar.AddArgument("data", value);
    arguments.emplace_back("data", &value);
  }
  void Positionals(const char* meta, std::vector<std::string>& values, const char* help) {
    app.add_option(meta, values, help)->type_name("DIR ...");
  }

  CLI::App app;
  Registrar registrar;
  Options options;
  std::vector<std::pair<std::string, const std::string*>> arguments;
};

constexpr const char* kTrainingRows =
    "Rows with labels: CSV, JSON lines, LIBSVM or IDX (MNIST), plain, .gz, .xz, .bz2 or\n"
    ".zst; several files are one data set; - is standard input.\n"
    "Not given: the data set that ships with the program";

// A sentence about the first argument that CLI11 did not expect.
[[noreturn]] void ThrowUnknown(const CLI::App& app, const std::vector<std::string>& names) {
  std::vector<std::string> known = names;
  known.emplace_back("help");
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

// Parses one command's arguments.
template <typename Options, typename Declare>
Command ParseCommand(std::span<const std::string> arguments, const char* name, const char* help,
                     Declare declare) {
  Registered<Options> command(name, help);
  declare(command);
  command.options.Visit(command.registrar);
  const std::string group = command.registrar.group();
  std::string config;
  bool prints_config = false;
  command.app
      .add_option("--config", config,
                  HelpText("A TOML file with options: name = value; flags on the command line win"))
      ->type_name("FILE")
      ->group(group);
  command.app
      .add_flag("--print-config", prints_config,
                HelpText("Print all options as such a file, and do nothing else"))
      ->group(group);
  command.app.set_help_flag("-h,--help", "Print this")->group(group);
  if (const std::string path = FindConfig(arguments); !path.empty()) {
    for (const ConfigEntry& entry : ReadConfig(path, name, CommandNames())) {
      command.registrar.Set(entry);
    }
  }
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    command.app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return PrintText{TidyHelp(command.app.help("hogbatch"))};
  } catch (const CLI::ExtrasError&) {
    ThrowUnknown(command.app, command.registrar.names());
  } catch (const CLI::ArgumentMismatch& error) {
    // "--epochs: 1 required X missing"
    const std::string_view what = error.what();
    throw UserError(fmt::format("{} needs a value; see hogbatch {} --help",
                                what.substr(0, what.find(':')), name));
  } catch (const CLI::ParseError& error) {
    throw UserError(fmt::format("{}; see hogbatch {} --help", error.what(), name));
  }
  if (prints_config) {
    ConfigWriter writer;
    for (const auto& [argument, value] : command.arguments) writer.Argument(argument, *value);
    command.options.Visit(writer);
    return PrintText{writer.text()};
  }
  if constexpr (requires { command.options.given; }) {
    command.options.given = command.registrar.given();
  }
  return command.options;
}

// The two arguments that eval and predict share.
template <typename Options>
void DeclareModelAndData(Registered<Options>& command) {
  command.Positional("MODEL", command.options.model, "A model.safetensors that train wrote");
  command.Files("DATA", command.options.data,
                "Rows: CSV, JSON lines, LIBSVM or IDX, plain, .gz, .xz, .bz2 or .zst;\n"
                "several files are one data set; - is standard input");
}

void RequireModelAndData(const Command& command) {
  const auto require = [](const std::string& model, const std::string& data, const char* name) {
    if (!model.empty() && !data.empty()) return;
    throw UserError(
        fmt::format("{0} needs a {1} file; for example: hogbatch {0} "
                    "model.safetensors {2}",
                    name, model.empty() ? "model" : "data",
                    name == std::string_view("eval") ? "test.csv" : "new.csv"));
  };
  if (const auto* eval = std::get_if<EvalOptions>(&command)) {
    require(eval->model, eval->data, "eval");
  } else if (const auto* predict = std::get_if<PredictOptions>(&command)) {
    require(predict->model, predict->data, "predict");
  }
}

Command ParseData(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    return PrintText{kDataHelp};
  }
  const std::string& name = arguments[0];
  const auto rest = arguments.subspan(1);
  if (name == "info") {
    return ParseCommand<DataInfoOptions>(rest, "data info", kDataInfoHelp, [](auto& info) {
      info.Files("DATA", info.options.spec.data, kTrainingRows);
    });
  }
  if (name == "convert") {
    return ParseCommand<DataConvertOptions>(rest, "data convert", kDataConvertHelp, [](auto& to) {
      to.Positional("DATA", to.options.spec.data, "The file to read");
      to.Positional("OUT", to.options.out, "The file to write");
    });
  }
  if (name == "split") {
    return ParseCommand<DataSplitOptions>(rest, "data split", kDataSplitHelp, [](auto& split) {
      split.Positional("DATA", split.options.spec.data, "The file to split");
    });
  }
  if (name == "generate") {
    return ParseCommand<DataGenerateOptions>(
        rest, "data generate", kDataGenerateHelp, [](auto& made) {
          made.Positional("SET", made.options.shape,
                          "The set whose shape the rows have: covtype, w8a, real-sim, delicious");
          made.Positional("OUT", made.options.out, "The file to write");
        });
  }
  if (name == "fetch") {
    return ParseCommand<DataFetchOptions>(rest, "data fetch", kDataFetchHelp, [](auto& fetch) {
      fetch.Positional("SET", fetch.options.set,
                       "The set: covtype, w8a, real-sim, delicious, mnist");
    });
  }
  const std::string nearest =
      DidYouMean(name, std::vector<std::string>{"info", "convert", "split", "generate", "fetch"});
  throw UserError(fmt::format("unknown command data {}{}", name,
                              nearest.empty() ? "; see hogbatch data --help" : nearest));
}

[[noreturn]] void ThrowUnknownCommand(const std::string& name) {
  std::vector<std::string> known = CommandNames();
  known.insert(known.end(), {"--help", "--version"});
  const std::string nearest = DidYouMean(name, known);
  throw UserError(fmt::format("unknown {} {}{}", name.starts_with('-') ? "option" : "command", name,
                              nearest.empty() ? "; see hogbatch --help" : nearest));
}

}  // namespace

Command Parse(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    return PrintText{ProgramHelp()};
  }
  const std::string& name = arguments[0];
  const auto rest = arguments.subspan(1);
  if (name == "--version") return PrintText{"hogbatch " HOGBATCH_VERSION "\n"};

  Command command;
  if (name == "train") {
    command = ParseCommand<TrainOptions>(rest, "train", kTrainHelp, [](auto& train) {
      train.Files("DATA", train.options.spec.data, kTrainingRows);
    });
  } else if (name == "queue") {
    command = ParseCommand<QueueCommandOptions>(rest, "queue", kQueueHelp, [](auto& queue) {
      queue.Positional("JOBS", queue.options.jobs, "A TOML file with one [[job]] table per job");
    });
  } else if (name == "sweep") {
    command = ParseCommand<SweepCommandOptions>(rest, "sweep", kSweepHelp, [](auto& sweep) {
      sweep.Files("DATA", sweep.options.training.data(), kTrainingRows);
    });
  } else if (name == "eval") {
    command = ParseCommand<EvalOptions>(rest, "eval", kEvalHelp,
                                        [](auto& eval) { DeclareModelAndData(eval); });
  } else if (name == "predict") {
    command = ParseCommand<PredictOptions>(rest, "predict", kPredictHelp,
                                           [](auto& predict) { DeclareModelAndData(predict); });
  } else if (name == "report") {
    command = ParseCommand<ReportOptions>(rest, "report", kReportHelp, [](auto& report) {
      report.Positionals("RUN", report.options.runs,
                         "Folders that train made; NAME=DIR gives a run another name");
    });
  } else if (name == "export") {
    command = ParseCommand<ExportOptions>(rest, "export", kExportHelp, [](auto& exported) {
      exported.Files("DATA", exported.options.spec.data, kTrainingRows);
    });
  } else if (name == "compare") {
    command = ParseCommand<CompareOptions>(rest, "compare", kCompareHelp, [](auto& compare) {
      compare.Files("DATA", compare.options.spec.training.data, kTrainingRows);
    });
  } else if (name == "data") {
    command = ParseData(rest);
  } else if (name == "inspect") {
    command = ParseCommand<InspectOptions>(rest, "inspect", kInspectHelp, [](auto& inspect) {
      inspect.Positional("FILE", inspect.options.path, "A model, a checkpoint or a folder");
    });
  } else if (name == "completion") {
    return PrintText{CompletionScript(rest.empty() ? "" : rest[0])};
  } else if (name == "man") {
    return PrintText{ManualPage(HOGBATCH_VERSION)};
  } else if (name == "devices" || name == "doctor") {
    command = ParseCommand<DevicesOptions>(rest, "devices", kDevicesHelp, [](auto&) {});
  } else {
    ThrowUnknownCommand(name);
  }
  RequireModelAndData(command);
  return command;
}

}  // namespace hogbatch
