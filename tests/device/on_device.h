// What the conformance suite shares: the devices it runs on, matrices that travel to them and back,
// and what "equal" means.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"

namespace hogbatch {

// References are computed in double from the very floats the device sees.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct DeviceFactory {
  std::string name;
  std::function<std::unique_ptr<Device>()> make;

  friend void PrintTo(const DeviceFactory& f, std::ostream* out) { *out << f.name; }
};

// The devices this program runs the suite on; each program that links the suite has its own. None
// if the machine lacks them.
std::vector<DeviceFactory> AllDevices();

// Called when a claim was checked and its device is gone: the place to look for what it left
// behind. Each program has its own.
void CheckAfterDevice();

// Runs the claims of a suite on every device there is, which may be none.
#define HOGBATCH_ON_EVERY_DEVICE(suite)                 \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, testing::ValuesIn(AllDevices()), NameOf)

inline std::string NameOf(const testing::TestParamInfo<DeviceFactory>& tested) {
  return tested.param.name;
}

class OnEveryDevice : public testing::TestWithParam<DeviceFactory> {
 protected:
  // Not in TearDown: a suite's own members may hold the device's memory until now.
  ~OnEveryDevice() override {
    device_.reset();
    CheckAfterDevice();
  }

  Device& device() { return *device_; }
  // Uniform in [low, high], in float.
  Matrix Random(std::int64_t rows, std::int64_t cols, float low = -1, float high = 1);

 private:
  std::unique_ptr<Device> device_ = GetParam().make();
  std::mt19937 random_{7};
};

// Copies of host data in the device's memory, `lead` elements into their block.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(Device& device, const std::vector<T>& values, std::int64_t lead = 0)
      : device_(device),
        buffer_(device, (values.size() + static_cast<std::size_t>(lead)) * sizeof(T)),
        lead_(lead),
        size_(static_cast<std::int64_t>(values.size())) {
    if (values.empty()) return;
    device.Upload(std::as_bytes(std::span(values)), span().base, ByteOffset());
    device.Wait();
  }

  DeviceSpan<T> span() const { return buffer_.template span<T>().Sub(lead_, size_); }
  DeviceSpan<const T> view() const { return {span().base, span().offset, span().size}; }
  std::vector<T> Get() const {
    std::vector<T> values(size_);
    device_.Wait();
    if (size_) {
      device_.Download(span().base, ByteOffset(), std::as_writable_bytes(std::span(values)));
    }
    device_.Wait();
    return values;
  }

 private:
  std::size_t ByteOffset() const { return static_cast<std::size_t>(lead_) * sizeof(T); }

  Device& device_;
  Buffer buffer_;
  std::int64_t lead_, size_;
};

// A matrix on the device. `padding` floats follow each row and must survive every call; with some
// the matrix also begins in the middle of its block, else at the start.
class DeviceMatrix {
 public:
  DeviceMatrix(Device& device, const Matrix& values, std::int64_t padding = 0);

  Tensor tensor() const;
  Matrix Get() const;

 private:
  std::int64_t rows_, cols_, stride_;
  DeviceArray<float> array_;
};

// Sparse rows on the device, and the same as a dense matrix. Row 0 and every fifth are empty unless
// `density` is 1. The spans begin in the middle of their blocks, and the first row in the middle of
// the spans, as a batch of a data set does.
class DeviceCsr {
 public:
  DeviceCsr(Device& device, const Matrix& values, double density);

  CsrTensor tensor() const;
  const Matrix& dense() const { return dense_; }

 private:
  struct Parts;
  DeviceCsr(Device& device, Parts parts);
  static Parts Split(const Matrix& values, double density);

  Matrix dense_;
  DeviceArray<std::int64_t> offsets_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<float> values_;
};

// |actual - expected| within 1e-5 of `magnitude`, the sum of the absolute values of what was added
// up. NaN equals NaN.
void ExpectClose(const Matrix& actual, const Matrix& expected, const Matrix& magnitude);
void ExpectClose(const Matrix& actual, const Matrix& expected);

}  // namespace hogbatch
