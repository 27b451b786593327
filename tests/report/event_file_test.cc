#include "report/event_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/process.h"

namespace hogbatch::report {
namespace {

template <typename T>
T At(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(EventFile, BeginsWithItsVersion) {
  const std::string record = FirstEvent(1.5);
  const auto length = At<std::uint64_t>(record, 0);
  ASSERT_EQ(record.size(), 8 + 4 + length + 4);
  const std::string message = record.substr(12, length);
  EXPECT_EQ(message[0], '\x09') << "field 1, a double";
  EXPECT_EQ(At<double>(message, 1), 1.5);
  EXPECT_EQ(message.substr(9),
            "\x1a\x0d"
            "brain.Event:2");
}

TEST(EventFile, MasksItsSums) {
  const std::string record = FirstEvent(0);
  const std::uint32_t crc = Crc32c(record.substr(0, 8));
  EXPECT_EQ(At<std::uint32_t>(record, 8), (crc >> 15 | crc << 17) + 0xA282EAD8u);
}

TEST(EventFile, HoldsScalarsWithTheirTags) {
  const Scalar scalars[] = {{"loss/valid", 0.5}, {"b", -2}};
  const std::string record = ScalarsEvent(0, 300, scalars);
  const std::string message = record.substr(12, At<std::uint64_t>(record, 0));
  EXPECT_EQ(message.substr(9, 3), "\x10\xac\x02") << "field 2, 300 as a varint";
  const std::string value = std::string("\x0a\x0aloss/valid\x15", 13);
  const std::size_t at = message.find(value);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(At<float>(message, at + value.size()), 0.5f);
  EXPECT_EQ(At<float>(message, message.size() - 4), -2.0f);
}

// A reader stops at the first record that is not whole.
TEST(EventFile, IsCutBehindItsLastWholeRecord) {
  const TemporaryFolder folder;
  const Scalar scalar[] = {{"loss/valid", 0.5}};
  const std::string first = FirstEvent(1), second = ScalarsEvent(2, 3, scalar);
  const auto kept = [&](const std::string& content) {
    folder.Write("events", content);
    CutEvents(folder.path() + "/events");
    return folder.Read("events");
  };
  EXPECT_EQ(kept(""), "");
  EXPECT_EQ(kept(first + second), first + second);
  for (std::size_t left = 0; left < second.size(); ++left) {
    EXPECT_EQ(kept(first + second.substr(0, left)), first) << left;
    std::string damaged = second;
    damaged[left] ^= 1;
    EXPECT_EQ(kept(first + damaged + second), first) << left;
  }
}

}  // namespace
}  // namespace hogbatch::report
