#include "cli/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace hogbatch {
namespace {

// What a job writes to a terminal that has a shell, in whose background it is or is not.
class OnTerminal : public testing::Test {
 protected:
  enum class Job { kForeground, kBackground };

  void SetUp() override {
    ours_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_TRUE(ours_ >= 0 && ::grantpt(ours_) == 0 && ::unlockpt(ours_) == 0);
  }
  void TearDown() override { ::close(ours_); }

  std::string Shown(Job job) const {
    const pid_t shell = ::fork();
    if (shell == 0) ::_exit(BeShell(job));
    std::string text;
    char part[4096];
    for (ssize_t got; (got = ::read(ours_, part, sizeof part)) > 0;) {
      text.append(part, static_cast<std::size_t>(got));
    }
    int status = 0;
    ::waitpid(shell, &status, 0);
    EXPECT_EQ(status, 0);
    return text;
  }

 private:
  // The leader of a session on the terminal, which starts the job.
  int BeShell(Job kind) const {
    if (::setsid() < 0) return 1;
    const int terminal = ::open(::ptsname(ours_), O_RDWR);  // becomes the session's own
    if (terminal < 0 || ::ioctl(terminal, TIOCSCTTY, 0) != 0) return 2;
    ::dup2(terminal, STDOUT_FILENO);
    const pid_t job = ::fork();
    if (job == 0) {
      if (kind == Job::kBackground && ::setpgid(0, 0) != 0) ::_exit(3);
      BeJob();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(job, &status, 0);
    return status == 0 ? 0 : 4;
  }

  static void BeJob() {
    winsize narrow{.ws_row = 24, .ws_col = 5};
    ::ioctl(STDOUT_FILENO, TIOCSWINSZ, &narrow);
    Console console(Verbosity::kLive);
    const std::string fields[] = {"live"};
    console.Live(fields);
    console.Say("line");
    console.Live(fields);
    const std::string table[] = {"größer", "b"};
    console.LiveTable(table);
    console.EndLive();
    Console(Verbosity::kPlain).Say("\033[2Jplain");  // a terminal that cannot rewrite lines
  }

  int ours_ = -1;
};

TEST_F(OnTerminal, AJobInTheForegroundRewritesItsLine) {
  EXPECT_EQ(Shown(Job::kForeground),
            "\rlive\033[K\r\033[Kline\r\n\rlive\033[K\r\033[K"
            "größ\r\nb\r\033[1A\033[J?[2Jplain\r\n");
}

TEST_F(OnTerminal, AJobInTheBackgroundLeavesTheLineOfTheShellAlone) {
  EXPECT_EQ(Shown(Job::kBackground), "line\r\n?[2Jplain\r\n");
}

}  // namespace
}  // namespace hogbatch
