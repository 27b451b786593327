#include "cli/options/command_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/options/help_text.h"
#include "cli/options/options.h"
#include "core/error.h"
#include "core/option_values.h"
#include "core/text.h"

namespace hogbatch {
namespace {

class Lister final : public OptionVisitor {
 public:
  std::vector<ListedOption> options;

  void Group(std::string_view title) override { group_ = title; }
  void Flag(std::string_view name, bool&, std::string_view help) override {
    Add(name, "", {}, help, "");
  }
  void Number(std::string_view name, std::int64_t& value, Range, std::string_view help) override {
    Add(name, "N", {}, help, OptionText(value));
  }
  void Number(std::string_view name, double& value, Range, std::string_view help) override {
    Add(name, "X", {}, help, OptionText(value));
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
               std::string_view help) override {
    Add(name, "N,N,...", {}, help, Join(value));
  }
  void Word(std::string_view name, std::string& value, const Words& words,
            std::string_view help) override {
    Add(name, words.text(), words.words, help, value);
  }
  void Text(std::string_view name, std::string& value, std::string_view meta,
            std::string_view help) override {
    Add(name, meta, {}, help, value);
  }

 private:
  void Add(std::string_view name, std::string_view meta, std::vector<std::string> words,
           std::string_view help, std::string_view value) {
    options.push_back({.group = group_,
                       .name = std::string(name),
                       .meta = std::string(meta),
                       .words = std::move(words),
                       .help = std::string(help),
                       .value = std::string(value)});
  }
  std::string group_ = "Options";
};

template <typename Options>
ListedCommand Listed(std::string name, const char* help) {
  Options options;
  Lister lister;
  options.Visit(lister);
  const std::string group = lister.options.empty() ? "Options" : lister.options.back().group;
  const auto add = [&](const char* option, const char* meta, const char* what) {
    lister.options.push_back(
        {.group = group, .name = option, .meta = meta, .words = {}, .help = what, .value = {}});
  };
  add("config", "FILE", "A TOML file with options: name = value; flags on the command line win");
  add("print-config", "", "Print all options as such a file, and do nothing else");
  add("help", "", "Print this");
  return {.name = std::move(name), .help = help, .options = std::move(lister.options)};
}

bool TakesFile(const ListedOption& option) {
  return option.meta.find("FILE") != std::string::npos ||
         option.meta.find("DIR") != std::string::npos;
}

std::string BashCase(const ListedCommand& command) {
  std::string flags, values;
  for (const ListedOption& option : command.options) {
    flags += fmt::format(" --{}", option.name);
    if (option.meta.empty()) continue;
    std::string answer;
    if (!option.words.empty()) {
      answer = fmt::format("-W \"{}\"", fmt::join(option.words, " "));
    }
    if (TakesFile(option)) answer += answer.empty() ? "-f" : " -f";
    values += fmt::format("        --{}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n",
                          option.name, answer.empty() ? "-W \"\"" : answer);
  }
  return fmt::format("    '{}')\n      case \"$before\" in\n{}      esac\n      flags=\"{}\" ;;\n",
                     command.name, values, flags.substr(1));
}

// First words of the commands, each once.
std::vector<std::string> FirstWords(const std::vector<ListedCommand>& commands) {
  std::vector<std::string> words;
  for (const ListedCommand& command : commands) {
    const std::string word = command.name.substr(0, command.name.find(' '));
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

std::string DataWords(const std::vector<ListedCommand>& commands) {
  std::vector<std::string> words;
  for (const ListedCommand& command : commands) {
    if (command.name.starts_with("data ")) words.push_back(command.name.substr(5));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string BashScript() {
  const std::vector<ListedCommand> commands = ListCommands();
  std::string cases;
  for (const ListedCommand& command : commands) cases += BashCase(command);
  return fmt::format(R"(# Completion of hogbatch for bash: source <(hogbatch completion bash)
_hogbatch() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="${{COMP_WORDS[1]}}" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
    return
  fi
  if [ "$command" = data ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then
      COMPREPLY=($(compgen -W "{}" -- "$word"))
      return
    fi
    command="data ${{COMP_WORDS[2]}}"
  fi
  case "$command" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _hogbatch hogbatch
)",
                     fmt::join(FirstWords(commands), " "), DataWords(commands), cases);
}

// Text of an option's description within '[...]' of zsh.
std::string ZshText(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      safe += '\\';
      safe += c;
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string ZshOption(const ListedOption& option) {
  std::string text =
      fmt::format("'--{}{}[{}]", option.name, option.meta.empty() ? "" : "=", ZshText(option.help));
  if (!option.meta.empty()) {
    text += ":value:";
    if (TakesFile(option)) {
      text += "_files";
    } else if (!option.words.empty()) {
      text += fmt::format("({})", fmt::join(option.words, " "));
    }
  }
  return text + "'";
}

std::string ZshScript() {
  const std::vector<ListedCommand> commands = ListCommands();
  std::string cases;
  for (const ListedCommand& command : commands) {
    cases += fmt::format("    '{}')\n      _arguments \\\n", command.name);
    for (const ListedOption& option : command.options) {
      cases += fmt::format("        {} \\\n", ZshOption(option));
    }
    cases += "        '*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef hogbatch
# Completion of hogbatch for zsh: source <(hogbatch completion zsh)
_hogbatch() {{
  local command="${{words[2]}}"
  if (( CURRENT == 2 )); then
    compadd {} --help --version
    return
  fi
  if [[ "$command" == data ]]; then
    if (( CURRENT == 3 )); then
      compadd {}
      return
    fi
    command="data ${{words[3]}}"
  fi
  case "$command" in
{}  esac
}}
compdef _hogbatch hogbatch
)",
                     fmt::join(FirstWords(commands), " "), DataWords(commands), cases);
}

// Text for troff: lines must not begin with a dot, and a backslash or dash stands for itself.
std::string Troff(std::string_view text) {
  std::string safe;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    begins = c == '\n';
  }
  return safe;
}

std::string ManualOptions(const ListedCommand& command) {
  std::string text, group;
  for (const ListedOption& option : command.options) {
    if (option.group != group) {
      group = option.group;
      text += fmt::format(".PP\n.I {}\n", Troff(group));
    }
    text += fmt::format(".TP\n.B \\-\\-{}", Troff(option.name));
    if (!option.meta.empty()) text += fmt::format("\\fR {}", Troff(option.meta));
    text += fmt::format("\n{}", Troff(option.help));
    if (!option.value.empty()) text += fmt::format(" (default {})", Troff(option.value));
    text += '\n';
  }
  return text;
}

}  // namespace

std::vector<ListedCommand> ListCommands() {
  return {Listed<TrainOptions>("train", kTrainHelp),
          Listed<QueueCommandOptions>("queue", kQueueHelp),
          Listed<SweepCommandOptions>("sweep", kSweepHelp),
          Listed<EvalOptions>("eval", kEvalHelp),
          Listed<PredictOptions>("predict", kPredictHelp),
          Listed<ReportOptions>("report", kReportHelp),
          Listed<ExportOptions>("export", kExportHelp),
          Listed<CompareOptions>("compare", kCompareHelp),
          Listed<DataInfoOptions>("data info", kDataInfoHelp),
          Listed<DataConvertOptions>("data convert", kDataConvertHelp),
          Listed<DataSplitOptions>("data split", kDataSplitHelp),
          Listed<DataGenerateOptions>("data generate", kDataGenerateHelp),
          Listed<DataFetchOptions>("data fetch", kDataFetchHelp),
          Listed<InspectOptions>("inspect", kInspectHelp),
          Listed<DevicesOptions>("devices", kDevicesHelp)};
}

std::string CompletionScript(const std::string& shell) {
  if (shell == "bash") return BashScript();
  if (shell == "zsh") return ZshScript();
  throw UserError(fmt::format(
      "completion {}: write bash or zsh; for example: source <(hogbatch completion bash)", shell));
}

std::string ManualPage(const std::string& version) {
  std::string text = fmt::format(
      ".TH HOGBATCH 1 \"\" \"hogbatch {}\" \"User Commands\"\n.SH NAME\nhogbatch \\- train a "
      "neural "
      "network with all cores and GPUs of a machine at once\n.SH SYNOPSIS\n.B hogbatch\n"
      "COMMAND [OPTION]... [FILE]...\n.SH DESCRIPTION\n.nf\n{}.fi\n",
      version, Troff(kProgramHelp));
  for (const ListedCommand& command : ListCommands()) {
    std::string title = command.name;
    std::ranges::transform(title, title.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    });
    text += fmt::format(".SH HOGBATCH {}\n.nf\n{}.fi\n{}", title, Troff(command.help),
                        ManualOptions(command));
  }
  return text;
}

}  // namespace hogbatch
