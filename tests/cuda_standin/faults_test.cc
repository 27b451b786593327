// What the CUDA driver makes of machines that lack something and of calls that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "core/error.h"
#include "gpu/cuda/cuda_driver.h"
#include "gpu/gpu_device.h"
#include "tests/cuda_standin/standin.h"

namespace hogbatch::standin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Faults : public testing::Test {
 protected:
  ~Faults() override { Restart(Settings::FromEnvironment()); }
};

std::unique_ptr<Device> MakeDevice() {
  return gpu::MakeGpuDevice(cuda::MakeDriver(cuda::ListDevices().at(0)));
}

// Every kind of call that training makes: transfers, products with and without a bias, kernels,
// softmax, and memory that comes and goes.
void TrainALittle() {
  const std::unique_ptr<Device> device = MakeDevice();
  const std::array<float, 64> host = {};
  const std::array<std::int32_t, 4> classes = {0, 1, 2, 3};
  const Buffer x(*device, sizeof(host)), w(*device, sizeof(host)), bias(*device, sizeof(host)),
      y(*device, sizeof(host)), gradient(*device, sizeof(host)), loss(*device, sizeof(host)),
      targets(*device, sizeof(classes));
  for (const Buffer* buffer : {&x, &w, &bias}) {
    device->Upload(std::as_bytes(std::span(host)), buffer->span<float>().base, 0);
  }
  device->Upload(std::as_bytes(std::span(classes)), targets.span<std::int32_t>().base, 0);
  const auto matrix = [](const Buffer& buffer) {
    return Tensor::Matrix(buffer.span<float>(), 4, 4);
  };
  const auto vector = [](const Buffer& buffer) {
    return Tensor::Vector(buffer.span<float>().Sub(0, 4));
  };
  const DeviceSpan<std::int32_t> of = targets.span<std::int32_t>();
  for (int step = 0; step < 2; ++step) {
    device->DenseForward(matrix(x), matrix(w), vector(bias), Activation::kIdentity, matrix(y), {});
    device->DenseForward(matrix(x), matrix(w), vector(bias), Activation::kRelu, matrix(y), {});
    device->SoftmaxLoss(matrix(y), {.classes = {of.base, of.offset, of.size}}, {}, 1, vector(loss),
                        matrix(gradient));
    device->DenseBackwardWeights(matrix(x), matrix(gradient), -1, 1, matrix(w), vector(bias));
    std::array<float, 4> losses;
    device->Download(loss.span<float>().base, 0, std::as_writable_bytes(std::span(losses)));
    {
      const Buffer passing(*device, 100);
    }
    device->Wait();
  }
}

TEST_F(Faults, AnyCallThatFailsBecomesADeviceErrorAndLeavesNothingBehind) {
  int failures = 0;
  for (std::int64_t call = 1;; ++call) {
    ASSERT_LT(call, 2000) << "training a little never ends";
    Restart({.fail_at = call});
    std::optional<std::string> said;
    try {
      TrainALittle();
    } catch (const DeviceError& error) {
      said = error.what();
    }
    const bool came_to_it = CallsMade() >= call;
    EXPECT_THAT(TakeViolations(), IsEmpty()) << "when call " << call << " failed";
    if (!came_to_it) break;
    if (!said) continue;  // it was one of those that give things back at the end
    ++failures;
    EXPECT_THAT(*said, AllOf(testing::MatchesRegex("(cuda\\.0|CUDA).*: cu[A-Za-z]+.* failed: .*")))
        << "when call " << call << " failed";
  }
  EXPECT_GT(failures, 100);
}

TEST_F(Faults, FullMemoryIsSaidAndTheDeviceGoesOn) {
  Restart({.memory_bytes = std::size_t{64} << 20});
  {
    const std::unique_ptr<Device> device = MakeDevice();
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

TEST_F(Faults, TooLittleMemoryForTheLibrariesIsSaid) {
  Restart({.memory_bytes = std::size_t{1} << 20});
  EXPECT_THROW(MakeDevice(), OutOfDeviceMemory);
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
