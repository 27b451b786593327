// Limits of control groups, read from made-up trees.
#include "core/guard/machine_limits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

class Cgroups : public testing::Test {
 protected:
  Cgroups() {
    std::string name = testing::TempDir() + "cgroups_XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~Cgroups() override { fs::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  MachineLimits Read() const { return ReadCgroupLimits(root_); }

  fs::path root_;
};

TEST_F(Cgroups, LimitNothingWhereThereAreNone) {
  EXPECT_EQ(Read().memory_bytes, std::nullopt);
  EXPECT_EQ(Read().cores, std::nullopt);
}

TEST_F(Cgroups, OfBothVersionsLimitThreads) {
  Write("proc/self/cgroup", "0::/user/job");
  Write("sys/fs/cgroup/user/job/pids.max", "max");
  Write("sys/fs/cgroup/user/pids.max", "64");
  EXPECT_EQ(Read().threads, 64);
  Write("proc/self/cgroup", "7:pids:/job");
  Write("sys/fs/cgroup/pids/job/pids.max", "32");
  EXPECT_EQ(Read().threads, 32);
}

TEST_F(Cgroups, OfVersion2LimitMemoryAndCores) {
  Write("proc/self/cgroup", "0::/user/job");
  Write("sys/fs/cgroup/user/job/memory.max", "1073741824");
  Write("sys/fs/cgroup/user/job/cpu.max", "150000 100000");
  EXPECT_EQ(Read().memory_bytes, 1073741824);
  EXPECT_EQ(Read().cores, 1.5);
}

TEST_F(Cgroups, OfVersion2AreLimitedByThoseAroundThem) {
  Write("proc/self/cgroup", "0::/user/job");
  Write("sys/fs/cgroup/user/job/memory.max", "max");
  Write("sys/fs/cgroup/user/job/cpu.max", "max 100000");
  Write("sys/fs/cgroup/user/memory.max", "5000000");
  Write("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(Read().memory_bytes, 5000000);
  EXPECT_EQ(Read().cores, 3);
}

TEST_F(Cgroups, OfVersion1LimitMemoryAndCores) {
  Write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n1:name=systemd:/x");
  Write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
  Write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "268435456");
  Write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000");
  Write("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Read().memory_bytes, 268435456);
  EXPECT_EQ(Read().cores, 0.5);
}

TEST_F(Cgroups, OfVersion1WithoutLimitsLimitNothing) {
  Write("proc/self/cgroup", "5:cpu:/\n4:memory:/");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Read().memory_bytes, std::nullopt);
  EXPECT_EQ(Read().cores, std::nullopt);
}

// In a container without a cgroup namespace the path is the host's, and the container's own group
// is mounted at the top.
TEST_F(Cgroups, OfAContainerAreFoundAtTheTop) {
  Write("proc/self/cgroup", "4:memory:/docker/0123\n3:cpu:/docker/0123\n0::/");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "100000000");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Read().memory_bytes, 100000000);
  EXPECT_EQ(Read().cores, 2);
}

TEST_F(Cgroups, ThatAreNonsenseLimitNothing) {
  Write("proc/self/cgroup", ":::\nx\n0::../../../..\n2:memory:");
  for (const char* text : {"", "-7", "nan", "0", "1e", "\xff", "max max"}) {
    Write("sys/fs/cgroup/memory.max", text);
    Write("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(Read().memory_bytes, std::nullopt) << text;
    EXPECT_EQ(Read().cores, std::nullopt) << text;
  }
}

TEST(MachineLimits, LeaveAtLeastOneCoreAndAddNone) {
  EXPECT_EQ(UsableCores(1), 1);
  EXPECT_EQ(UsableCores(0), 1);
  EXPECT_LE(UsableCores(4), 4);
  EXPECT_GT(UsableMemory(), 0);
}

}  // namespace
}  // namespace hogbatch
