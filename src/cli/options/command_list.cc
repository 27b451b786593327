#include "cli/options/command_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cli/options/command_table.h"
#include "core/error.h"
#include "core/option_values.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr const char* kProgramHelp =
    R"(hogbatch trains one neural network with every core and every GPU of this machine at once.

Begin with one of these:
  hogbatch train                               the data set that ships with the program
  hogbatch train mine.csv --test other.csv     your own data: CSV, JSON lines, LIBSVM or IDX
  hogbatch eval runs/DATE-TIME/model.safetensors other.csv
  hogbatch predict runs/DATE-TIME/model.safetensors new.csv > labels.txt
  hogbatch report runs/DATE-TIME               a page with curves and figures of the run

'hogbatch COMMAND --help' explains the options of a command.
)";

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

// Names of arguments: " DATA OUT".
class ArgumentLister final : public ArgumentVisitor {
 public:
  std::string names;

  void One(const char* name, std::string&, const std::string&) override { Add(name); }
  void Files(const char* name, std::string&, const std::string&) override { Add(name); }
  void Folders(const char* name, std::vector<std::string>&, const std::string&) override {
    Add(name);
  }

 private:
  void Add(const char* name) { names += fmt::format(" {}", name); }
};

bool IsOfData(std::string_view name) { return name.starts_with(fmt::format("{} ", kDataGroup)); }

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

std::string DataWords() { return fmt::format("{}", fmt::join(DataCommandNames(), " ")); }

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
                     fmt::join(CommandNames(), " "), DataWords(), cases);
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
                     fmt::join(CommandNames(), " "), DataWords(), cases);
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

std::vector<ListedOption> ListOptions(const std::function<void(OptionVisitor&)>& visit) {
  Lister lister;
  visit(lister);
  const std::string group = lister.options.empty() ? "Options" : lister.options.back().group;
  const auto add = [&](std::string_view option, const char* meta, const char* what) {
    lister.options.push_back({.group = group,
                              .name = std::string(option),
                              .meta = meta,
                              .words = {},
                              .help = what,
                              .value = {}});
  };
  add(kConfigOption, "FILE",
      "A TOML file with options: name = value; flags on the command line win");
  add(kPrintConfigOption, "", "Print all options as such a file, and do nothing else");
  add(kHelpOption, "", "Print this");
  return std::move(lister.options);
}

std::vector<ListedCommand> ListCommands() {
  std::vector<ListedCommand> commands;
  ForEachCommand([&]<typename Options>(const CommandRow<Options>& row) {
    Options options;
    commands.push_back({.name = row.name,
                        .help = row.help,
                        .options = ListOptions([&](OptionVisitor& all) { options.Visit(all); })});
  });
  return commands;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  ForEachCommand([&](const auto& row) {
    if (!IsOfData(row.name)) {
      names.emplace_back(row.name);
    } else if (names.empty() || names.back() != kDataGroup) {
      names.emplace_back(kDataGroup);
    }
  });
  return names;
}

std::vector<std::string> DataCommandNames() {
  std::vector<std::string> names;
  ForEachCommand([&](const auto& row) {
    const std::string_view name = row.name;
    if (IsOfData(name)) names.emplace_back(name.substr(name.find(' ') + 1));
  });
  return names;
}

std::string ProgramHelp() {
  std::string text = fmt::format("{}\nCommands:\n", kProgramHelp);
  bool has_data = false;
  ForEachCommand([&](const auto& row) {
    if (!IsOfData(row.name)) {
      text += fmt::format("  {:9} {}\n", row.name, row.summary);
    } else if (!std::exchange(has_data, true)) {
      text += fmt::format("  {:9} {}\n", kDataGroup, kDataSummary);
    }
  });
  return text +
         "\nOptions:\n  --help     print this\n  --version  print the version\n\n"
         "'hogbatch completion bash' and 'zsh' print a shell completion script; 'hogbatch "
         "man'\n"
         "prints the manual page.\n";
}

std::string DataHelp() {
  std::string text = "Shows, converts, splits, generates and fetches data files.\n\n";
  ForEachCommand([&]<typename Options>(const CommandRow<Options>& row) {
    if (!IsOfData(row.name)) return;
    Options options;
    ArgumentLister arguments;
    options.Arguments(arguments);
    text += fmt::format("  {:33} {}\n", fmt::format("hogbatch {}{}", row.name, arguments.names),
                        row.summary);
  });
  return text + "\n'hogbatch data COMMAND --help' explains the options of each.\n";
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
