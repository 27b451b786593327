#include "compare/runs/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <thread>

#include "core/clock.h"
#include "core/error.h"

namespace hogbatch::compare {
namespace {

constexpr int kPollMilliseconds = 100;
constexpr double kGraceSeconds = 3;  // between asking a program to end and ending it
constexpr std::size_t kLongestLine = 2000;

// Seconds that all cores together were busy since the machine started.
double BusySeconds() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, hard = 0, soft = 0, steal = 0;
  file >> cpu >> user >> nice >> system >> idle >> wait >> hard >> soft >> steal;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return file ? (user + nice + system + hard + soft + steal) / ticks : 0;
}

// Becomes readable when the process ends. glibc's header of the call misses its extern "C".
int OpenProcess(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

class SpawnSettings {
 public:
  explicit SpawnSettings(const ChildCommand& command) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    // Both are new, so that nothing is written through a link that lies there.
    constexpr int kWrite = O_WRONLY | O_CREAT | O_EXCL;
    for (const std::string& path : {command.out, command.err}) ::unlink(path.c_str());
    ::posix_spawn_file_actions_addopen(&files_, 1, command.out.c_str(), kWrite, 0666);
    ::posix_spawn_file_actions_addopen(&files_, 2, command.err.c_str(), kWrite, 0666);
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&files_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  pid_t Spawn(const std::vector<std::string>& words) const {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, argv[0], &files_, &attributes_, argv.data(), environ);
    if (error != 0) {
      throw Error(fmt::format("cannot start {}: {}", words.front(), std::strerror(error)));
    }
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// A program that runs. Gone with this, together with what it started.
class Child {
 public:
  explicit Child(const ChildCommand& command)
      : pid_(SpawnSettings(command).Spawn(command.words)), descriptor_(OpenProcess(pid_)) {}
  ~Child() {
    if (!ended_) End();
    ::kill(-pid_, SIGKILL);  // processes that it left behind
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits a moment for the end.
  bool Ended() {
    pollfd wait{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (descriptor_ >= 0) {
      ::poll(&wait, 1, kPollMilliseconds);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
    }
    if (!ended_ && ::wait4(pid_, &status_, WNOHANG, &usage_) == pid_) ended_ = true;
    return ended_;
  }

  // Asks it to end, then ends it.
  void End() {
    ::kill(-pid_, SIGTERM);
    const double asked = SteadySeconds();
    while (!Ended()) {
      if (SteadySeconds() - asked > kGraceSeconds) ::kill(-pid_, SIGKILL);
    }
  }

  int status() const { return status_; }
  const rusage& usage() const { return usage_; }

 private:
  pid_t pid_;
  int descriptor_;
  bool ended_ = false;
  int status_ = 0;
  rusage usage_{};
};

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

std::optional<ChildResult> RunChild(const ChildCommand& command, const Interrupted& interrupted) {
  const double busy = BusySeconds();
  const double began = SteadySeconds();
  ChildResult result;
  Child child(command);
  while (!child.Ended()) {
    if (interrupted()) return std::nullopt;
    result.timed_out = SteadySeconds() - began > command.limit_seconds;
    if (result.timed_out) child.End();
  }
  result.wall_seconds = SteadySeconds() - began;
  if (WIFEXITED(child.status())) result.exit_code = WEXITSTATUS(child.status());
  if (WIFSIGNALED(child.status())) result.signal = WTERMSIG(child.status());
  result.cpu_seconds = Seconds(child.usage().ru_utime) + Seconds(child.usage().ru_stime);
  result.peak_bytes = std::int64_t{child.usage().ru_maxrss} * 1024;
  const double cores = static_cast<double>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const double others = BusySeconds() - busy - result.cpu_seconds;
  result.others_cpu = std::clamp(others / (result.wall_seconds * cores), 0.0, 1.0);
  return result;
}

std::string LastLines(const std::string& path, int lines) {
  std::ifstream file(path, std::ios::binary);
  std::deque<std::string> last;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    last.push_back(line.substr(0, kLongestLine));
    if (std::ssize(last) > lines) last.pop_front();
  }
  std::string text;
  for (const std::string& line : last) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace hogbatch::compare
