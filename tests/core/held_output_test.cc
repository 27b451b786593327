#include "core/guard/held_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

namespace hogbatch {
namespace {

bool Waits(double) { return true; }
bool GivesUp(double) { return false; }

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

// A pipe, a socket or a terminal, of which nothing is read before the test says so.
enum class Kind { kPipe, kSocket, kTerminal };
class HeldOutputTo : public testing::TestWithParam<Kind> {
 protected:
  HeldOutputTo() {
    std::signal(SIGPIPE, SIG_IGN);
    if (GetParam() == Kind::kPipe) {
      EXPECT_EQ(::pipe(ends_.data()), 0);
    } else if (GetParam() == Kind::kSocket) {
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
    } else {
      ends_[0] = ::posix_openpt(O_RDWR | O_NOCTTY);
      EXPECT_TRUE(::grantpt(ends_[0]) == 0 && ::unlockpt(ends_[0]) == 0);
      ends_[1] = ::open(::ptsname(ends_[0]), O_WRONLY | O_NOCTTY);
    }
  }
  ~HeldOutputTo() override {
    CloseReader();
    CloseWriter();
  }

  void CloseReader() { Close(ends_[0]); }
  void CloseWriter() { Close(ends_[1]); }
  // What a reader gets that begins now. A terminal's line ends are plain ones again.
  std::string ReadAll(std::optional<HeldOutput>& output, const std::string& last) {
    std::string text;
    std::jthread reader([&] {
      std::array<char, 512> part{};
      for (ssize_t got; (got = ::read(ends_[0], part.data(), part.size())) > 0;) {
        std::copy_if(part.begin(), part.begin() + got, std::back_inserter(text),
                     [](char c) { return c != '\r'; });
      }
    });
    output->Write(last, Waits);
    output.reset();
    CloseWriter();
    reader.join();
    return text;
  }
  int writer() const { return ends_[1]; }

 private:
  static void Close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

// A writer that waited would wait for ever: the reader begins later.
TEST_P(HeldOutputTo, AStuckReaderIsNotWaitedForAndLosesNothing) {
  const std::string text = Lines(100);
  std::optional<HeldOutput> output(std::in_place, writer(), "output");
  std::string all;
  for (int i = 0; i < 900; ++i, all += text) output->Post(text);
  EXPECT_FALSE(output->Drain());
  const std::string last = Lines(200'000);
  EXPECT_TRUE(ReadAll(output, last) == all + last);
}

TEST_P(HeldOutputTo, AReaderThatIsFarBehindLosesWholeTexts) {
  const std::string text = Lines(100);
  std::optional<HeldOutput> output(std::in_place, writer(), "output");
  for (int i = 0; i < 4000; ++i) output->Post(text);
  std::string got = ReadAll(output, "");
  const std::size_t notice = got.rfind("... ");
  ASSERT_NE(notice, std::string::npos);
  const std::size_t whole = notice / text.size();
  EXPECT_LT(whole, 4000u);
  EXPECT_EQ(got.substr(notice),
            fmt::format("... {} messages left out, since they were not read ...\n", 4000 - whole));
  got.resize(notice);
  ASSERT_EQ(got.size() % text.size(), 0u);
  for (std::size_t at = 0; at < got.size(); at += text.size()) {
    ASSERT_EQ(got.compare(at, text.size(), text), 0) << at;
  }
}

TEST_P(HeldOutputTo, AReaderThatIsGivenUpOrGoneIsClosed) {
  HeldOutput output(writer(), "output");
  EXPECT_THROW(output.Write(Lines(200'000), GivesUp), OutputClosed);
  if (GetParam() == Kind::kTerminal) return;  // which fails otherwise if it is gone
  CloseReader();
  EXPECT_THROW(output.Post("more"), OutputClosed);
}

std::string NameOf(const testing::TestParamInfo<Kind>& tested) {
  constexpr std::array<const char*, 3> kNames = {"APipe", "ASocket", "ATerminal"};
  return kNames[static_cast<std::size_t>(tested.param)];
}

INSTANTIATE_TEST_SUITE_P(All, HeldOutputTo,
                         testing::Values(Kind::kPipe, Kind::kSocket, Kind::kTerminal), NameOf);

}  // namespace
}  // namespace hogbatch
