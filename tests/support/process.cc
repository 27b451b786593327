#include "tests/support/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/paths.h"

namespace hogbatch {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// A terminal 40 columns wide: our side, and the name of the program's.
int OpenTerminal(std::string& name) {
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) {
    throw std::runtime_error("no terminal to test with");
  }
  const winsize size{.ws_row = 24, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(ours, TIOCSWINSZ, &size);
  name = ::ptsname(ours);
  return ours;
}

// Both ends of a full pipe.
void OpenFullPipe(int (&ends)[2]) {
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe to test with");
  const char filler[4096] = {};
  while (::write(ends[1], filler, sizeof filler) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, 0);  // as a shell gives it
}

std::string Drain(int terminal) {
  std::string text;
  char part[4096];
  for (ssize_t got; (got = ::read(terminal, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

// Of a program to be started: its process group, and its signals, which are all at their defaults,
// but one that may be ignored.
class Inherited {
 public:
  Inherited(int ignored, Process::Group group) : ignored_(ignored) {
    sigset_t defaults;
    ::sigfillset(&defaults);
    if (ignored_ != 0) {
      ::sigdelset(&defaults, ignored_);
      before_ = std::signal(ignored_, SIG_IGN);
    }
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    const bool is_own = group == Process::Group::kOwn;
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETSIGDEF | (is_own ? POSIX_SPAWN_SETPGROUP : 0)));
  }
  ~Inherited() {
    ::posix_spawnattr_destroy(&attributes_);
    if (ignored_ != 0) std::signal(ignored_, before_);
  }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  int ignored_;
  void (*before_)(int) = SIG_DFL;
  posix_spawnattr_t attributes_;
};

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& in, Output output,
                 int ignored_signal, Group group)
    : folder_(in) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, in.c_str());
  const bool has_input = std::filesystem::exists(in + "/stdin");
  ::posix_spawn_file_actions_addopen(&actions, 0, has_input ? "stdin" : "/dev/null", O_RDONLY, 0);
  if (output == Output::kAllClosed) ::posix_spawn_file_actions_addclose(&actions, 0);
  if (output == Output::kErrorClosed || output == Output::kAllClosed) {
    ::posix_spawn_file_actions_addclose(&actions, 2);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, 2, (in + "/stderr").c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  std::string terminal_name;
  int pipe[2] = {-1, -1};
  if (output == Output::kCaptured || output == Output::kErrorClosed) {
    ::posix_spawn_file_actions_addopen(&actions, 1, (in + "/stdout").c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
  } else if (output == Output::kAllClosed) {
    ::posix_spawn_file_actions_addclose(&actions, 1);
  } else if (output == Output::kTerminal) {
    terminal_ = OpenTerminal(terminal_name);
    ::posix_spawn_file_actions_addopen(&actions, 1, terminal_name.c_str(), O_WRONLY | O_NOCTTY, 0);
  } else if (output == Output::kStuck) {
    OpenFullPipe(pipe);
    unread_ = pipe[0];
    for (const int stream : {1, 2}) ::posix_spawn_file_actions_adddup2(&actions, pipe[1], stream);
  } else {
    if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe to test with");
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
    ::close(pipe[0]);
  }
  std::vector<std::string> words = {InBuild("hogbatch")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string plugins = "HOGBATCH_PLUGINS=" + in;
  std::vector<char*> variables;
  for (char** variable = environ; *variable; ++variable) variables.push_back(*variable);
  if (!std::getenv("HOGBATCH_PLUGINS")) variables.push_back(plugins.data());
  variables.push_back(nullptr);
  const Inherited inherited(ignored_signal, group);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, inherited.attributes(), argv.data(),
                                  variables.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (pipe[1] >= 0) ::close(pipe[1]);
  if (error != 0) throw std::runtime_error(fmt::format("cannot start {}", words[0]));
}

Process::~Process() {
  if (running()) {
    Signal(SIGKILL);
    HasEnded(0);
  }
  if (terminal_ >= 0) ::close(terminal_);
  if (unread_ >= 0) ::close(unread_);
}

void Process::Signal(int number) { ::kill(pid_, number); }

bool Process::HasEnded(int options) {
  rusage usage{};
  if (!ended_ && ::wait4(pid_, &status_, options, &usage) == pid_) {
    ended_ = true;
    peak_megabytes_ = static_cast<double>(usage.ru_maxrss) / 1024;
  }
  return ended_;
}

bool Process::running() { return !HasEnded(WNOHANG); }

Finished Process::Wait() {
  Finished finished;
  if (terminal_ >= 0) finished.out = Drain(terminal_);  // until the program's side is closed
  HasEnded(0);
  finished.peak_megabytes = peak_megabytes_;
  if (WIFEXITED(status_)) finished.exit_code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) finished.signal = WTERMSIG(status_);
  if (terminal_ < 0) finished.out = ReadAll(folder_ + "/stdout");
  finished.err = ReadAll(folder_ + "/stderr");
  return finished;
}

Finished RunProgram(const std::vector<std::string>& arguments, const std::string& in) {
  return Process(arguments, in).Wait();
}

ScopedVariable::ScopedVariable(const char* name, const std::string& value) : name_(name) {
  if (const char* before = std::getenv(name)) before_ = before;
  ::setenv(name, value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (before_) {
    ::setenv(name_, before_->c_str(), 1);
  } else {
    ::unsetenv(name_);
  }
}

ScopedFileLimit::ScopedFileLimit(std::size_t bytes)
    : handler_before_(std::signal(SIGXFSZ, SIG_IGN)) {
  ::getrlimit(RLIMIT_FSIZE, &before_);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("no limit to test with");
}

ScopedFileLimit::~ScopedFileLimit() {
  ::setrlimit(RLIMIT_FSIZE, &before_);
  std::signal(SIGXFSZ, handler_before_);
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "hogbatch-test-XXXXXX").string();
  if (!::mkdtemp(path_.data())) throw std::runtime_error("no temporary folder");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& content) const {
  std::ofstream(path_ + "/" + name, std::ios::binary) << content;
  return name;
}

std::string TemporaryFolder::Read(const std::string& name) const {
  return ReadAll(path_ + "/" + name);
}

bool TemporaryFolder::Has(const std::string& name) const {
  return std::filesystem::exists(path_ + "/" + name);
}

std::string TwoClasses(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += fmt::format("{} 1:{} 2:{} 4:{}\n", i % 2 ? "+1" : "-1", i % 2 ? 0.9 : 0.1,
                        0.01 * (i % 7), 0.02 * (i % 5));
  }
  return text;
}

bool HasKey(const std::string& json, const std::string& key) {
  return json.find(fmt::format("\"{}\":", key)) != std::string::npos;
}

std::string ValueOf(const std::string& json, const std::string& key) {
  const std::string quoted = fmt::format("\"{}\":", key);
  std::size_t at = json.find(quoted);
  if (at == std::string::npos) return "";
  at = json.find_first_not_of(" \"", at + quoted.size());
  return json.substr(at, json.find_first_of(",}\"\n", at) - at);
}

}  // namespace hogbatch
