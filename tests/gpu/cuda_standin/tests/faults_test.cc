// What the CUDA driver makes of machines that lack something and of calls that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "core/error.h"
#include "tests/gpu/cuda_standin/standin.h"
#include "tests/gpu/cuda_standin/tests/small_work.h"

namespace hogbatch::standin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Faults : public testing::Test {
 protected:
  ~Faults() override { Restart(Settings::FromEnvironment()); }
};

void DoSmallWork() {
  const std::unique_ptr<Device> device = MakeDevice(0);
  SmallWork work(*device);
  for (const auto step : SmallWork::kSteps) (work.*step)();
}

TEST_F(Faults, AnyCallThatFailsBecomesADeviceErrorAndLeavesNothingBehind) {
  int failures = 0, in_partial_waits = 0;
  for (std::int64_t call = 1;; ++call) {
    ASSERT_LT(call, 2000) << "a little work never ends";
    Restart({.fail_at = call});
    std::optional<std::string> said;
    try {
      DoSmallWork();
    } catch (const DeviceError& error) {
      said = error.what();
    }
    const bool came_to_it = CallsMade() >= call;
    EXPECT_THAT(TakeViolations(), IsEmpty()) << "when call " << call << " failed";
    if (!came_to_it) break;
    if (!said) continue;  // it was one of those that give things back at the end
    ++failures;
    if (said->find("cudaEventSynchronize") != std::string::npos) ++in_partial_waits;
    EXPECT_THAT(*said, AllOf(testing::MatchesRegex("(cuda\\.0|CUDA).*: cu[A-Za-z]+.* failed: .*")))
        << "when call " << call << " failed";
  }
  EXPECT_GT(failures, 100);
  EXPECT_GT(in_partial_waits, 0);
}

TEST_F(Faults, FullMemoryIsSaidAndTheDeviceGoesOn) {
  Restart({.memory_bytes = std::size_t{64} << 20});
  {
    const std::unique_ptr<Device> device = MakeDevice(0);
    try {
      device->Allocate(std::size_t{40} << 20);
      FAIL() << "there is no such memory";
    } catch (const OutOfDeviceMemory& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("cuda.0"), HasSubstr("cudaMalloc of 41943040"),
                                      HasSubstr("of 64 MiB are free")));
    }
    const Buffer fits(*device, std::size_t{20} << 20);
  }
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(Faults, MemoryMayEndAnywhere) {
  constexpr std::size_t kWorkspace = std::size_t{32} << 20;
  int ended = 0, sufficed = 0;
  for (std::size_t more = 0; more < 100 << 10; more += 1 << 10) {
    Restart({.memory_bytes = kWorkspace + more});
    try {
      DoSmallWork();
      ++sufficed;
    } catch (const OutOfDeviceMemory&) {
      ++ended;
    }
    EXPECT_THAT(TakeViolations(), IsEmpty()) << "with " << more << " bytes beyond the workspace";
  }
  EXPECT_GT(ended, 10);
  EXPECT_GT(sufficed, 10);
}

TEST_F(Faults, TooLittleMemoryForTheLibrariesIsSaid) {
  Restart({.memory_bytes = std::size_t{1} << 20});
  EXPECT_THROW(MakeDevice(0), OutOfDeviceMemory);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(Faults, ADriverThatIsTooOldIsNamedWithWhatToDo) {
  Restart({.driver_version = 11080});
  try {
    cuda::ListDevices();
    FAIL() << "the driver is too old";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("11.8"), HasSubstr("update the driver")));
  }
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

TEST_F(Faults, AMachineWithoutGpusListsNone) {
  Restart({.devices = 0});
  EXPECT_THAT(cuda::ListDevices(), IsEmpty());
}

TEST_F(Faults, ADeviceThatIsGoneIsADeviceError) {
  const std::vector<DeviceInfo> two = cuda::ListDevices();
  ASSERT_EQ(two.size(), 2u);
  Restart({.devices = 1});
  EXPECT_THROW(cuda::MakeDriver(two[1]), DeviceError);
  EXPECT_THAT(TakeViolations(), IsEmpty());
}

}  // namespace
}  // namespace hogbatch::standin
