#include "core/guard/mapped_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/process.h"

namespace hogbatch {
namespace {

// A file of `pages` pages of the letter x, in memory.
class Mapping {
 public:
  Mapping(const TemporaryFolder& folder, const std::string& name, std::size_t pages)
      : path_(folder.path() + "/" + folder.Write(name, std::string(pages * PageBytes(), 'x'))) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path_.c_str(), "re"), std::fclose);
    bytes_ = {static_cast<const std::byte*>(::mmap(nullptr, pages * PageBytes(), PROT_READ,
                                                   MAP_SHARED, ::fileno(file.get()), 0)),
              pages * PageBytes()};
  }
  ~Mapping() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  static std::size_t PageBytes() { return ::sysconf(_SC_PAGESIZE); }
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  void Truncate(std::size_t pages) const {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(pages * PageBytes())), 0);
  }
  std::size_t Count(char letter) const {
    return std::ranges::count(bytes_, static_cast<std::byte>(letter));
  }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

TEST(MappedFaults, ZerosStandInForWhatAFileHasLostAndAreTold) {
  const TemporaryFolder folder;
  const Mapping lost(folder, "lost", 8), whole(folder, "whole", 2);
  const GuardedMapping guard(lost.bytes(), lost.path()), other(whole.bytes(), whole.path());
  lost.Truncate(3);
  EXPECT_TRUE(IsReadable(lost.bytes().data()));
  EXPECT_EQ(lost.Count('x'), 3 * Mapping::PageBytes());
  EXPECT_EQ(lost.Count('\0'), 5 * Mapping::PageBytes());
  for (const std::byte* const address : {&lost.bytes().front(), &lost.bytes().back()}) {
    EXPECT_FALSE(IsReadable(address));
    EXPECT_THAT([&] { RequireReadable(address); },
                testing::ThrowsMessage<MappingLost>(testing::HasSubstr(
                    "cache file " + lost.path() + " became shorter or cannot be read")));
  }
  EXPECT_EQ(whole.Count('x'), 2 * Mapping::PageBytes());
  EXPECT_NO_THROW(RequireReadable(whole.bytes().data()));
  EXPECT_NO_THROW(RequireReadable(nullptr));
}

TEST(MappedFaults, AreForgottenWithTheirMapping) {
  const TemporaryFolder folder;
  const Mapping lost(folder, "lost", 4);
  {
    const GuardedMapping guard(lost.bytes(), lost.path());
    lost.Truncate(0);
    EXPECT_EQ(lost.Count('\0'), lost.bytes().size());
    EXPECT_FALSE(IsReadable(lost.bytes().data()));
  }
  EXPECT_TRUE(IsReadable(lost.bytes().data()));
}

TEST(MappedFaults, MayHappenOnManyThreadsAtOnce) {
  const TemporaryFolder folder;
  const Mapping lost(folder, "lost", 64);
  const GuardedMapping guard(lost.bytes(), lost.path());
  lost.Truncate(1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(lost.Count('x'), Mapping::PageBytes());
      EXPECT_FALSE(IsReadable(lost.bytes().data()));
    });
  }
}

TEST(MappedFaultsDeathTest, OfMemoryThatNobodyGuardsEndTheProgramAsBefore) {
  const TemporaryFolder folder;
  const Mapping guarded(folder, "guarded", 1), lost(folder, "lost", 2);
  const GuardedMapping guard(guarded.bytes(), guarded.path());
  lost.Truncate(0);
  EXPECT_DEATH(std::ignore = lost.Count('x'), "");
}

}  // namespace
}  // namespace hogbatch
