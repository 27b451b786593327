// Workers that update one set of weights at once, as in training. Additions may be lost; nothing
// else may happen.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "cpu/cpu.h"

namespace hogbatch {
namespace {

constexpr int kThreads = 4;
constexpr int kUpdates = 200;

// Each thread gets a device of its own.
void OnThreads(const std::function<void(Device&)>& work) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] { work(*cpu::MakeDevice(cpu::Describe())); });
  }
}

// Weights start at 1, and each of all updates adds exactly 1 to each, in `parts` equal parts:
// whatever gets lost, a weight is a number of parts between 1 and 1 + all updates.
void ExpectWholeSums(const std::vector<float>& weights, std::int64_t parts = 1) {
  for (const float w : weights) {
    const float counted = w * static_cast<float>(parts);
    ASSERT_EQ(counted, std::floor(counted));
    ASSERT_GT(w, 1);
    ASSERT_LE(w, 1 + kThreads * kUpdates);
  }
}

class SharedWeights : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(RowsPerUpdate, SharedWeights, testing::Values(1, 4, 16, 64, 128));

TEST_P(SharedWeights, NeverTearWhenDenseUpdatesCollide) {
  const std::int64_t rows = GetParam(), in = 70, out = 72;
  std::vector<float> weights(in * out, 1), bias(out, 1);
  OnThreads([&](Device& device) {
    std::vector<float> x(rows * in, 1), dy(rows * out, 1.0f / static_cast<float>(rows));
    for (int i = 0; i < kUpdates; ++i) {
      device.DenseBackwardWeights(Tensor::Matrix(HostSpan(x.data(), rows * in), rows, in),
                                  Tensor::Matrix(HostSpan(dy.data(), rows * out), rows, out), 1, 1,
                                  Tensor::Matrix(HostSpan(weights.data(), in * out), in, out),
                                  Tensor::Vector(HostSpan(bias.data(), out)));
    }
  });
  ExpectWholeSums(weights);
  ExpectWholeSums(bias);
}

TEST_P(SharedWeights, AreReadWhileTheyAreWritten) {
  const std::int64_t rows = GetParam(), in = 70, out = 72;
  std::vector<float> weights(in * out, 1), bias(out, 1);
  OnThreads([&](Device& device) {
    std::vector<float> x(rows * in, 1), y(rows * out);
    const Tensor tx = Tensor::Matrix(HostSpan(x.data(), rows * in), rows, in);
    const Tensor ty = Tensor::Matrix(HostSpan(y.data(), rows * out), rows, out);
    const Tensor w = Tensor::Matrix(HostSpan(weights.data(), in * out), in, out);
    const Tensor b = Tensor::Vector(HostSpan(bias.data(), out));
    for (int i = 0; i < kUpdates; ++i) {
      device.DenseForward(tx, w, b, Activation::kRelu, ty, {});
      for (const float v : y) {
        ASSERT_EQ(v, std::floor(v));
        ASSERT_LE(v, static_cast<float>(1 + in) * (1 + kThreads * kUpdates));
      }
      device.Fill(ty, 1.0f / static_cast<float>(rows));
      device.DenseBackwardWeights(tx, ty, 1, 1, w, b);
    }
  });
  ExpectWholeSums(weights);
}

TEST_P(SharedWeights, NeverTearWhenSparseUpdatesCollide) {
  const std::int64_t rows = GetParam(), in = 30, out = 72;
  std::vector<float> weights(in * out, 1), bias(out, 1);
  OnThreads([&](Device& device) {
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> columns;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int32_t c = 0; c < in; ++c) columns.push_back(c);
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    std::vector<float> values(columns.size(), 1), y(rows * out);
    const CsrTensor x{HostSpan<const std::int64_t>(offsets.data(), rows + 1),
                      HostSpan<const std::int32_t>(columns.data(), rows * in),
                      HostSpan<const float>(values.data(), rows * in), rows, in};
    const Tensor ty = Tensor::Matrix(HostSpan(y.data(), rows * out), rows, out);
    const Tensor w = Tensor::Matrix(HostSpan(weights.data(), in * out), in, out);
    const Tensor b = Tensor::Vector(HostSpan(bias.data(), out));
    for (int i = 0; i < kUpdates; ++i) {
      device.SparseForward(x, w, b, Activation::kSigmoid, ty, {});
      for (const float v : y) ASSERT_TRUE(v > 0 && v <= 1);
      device.Fill(ty, 1.0f / static_cast<float>(rows));
      device.SparseBackwardWeights(x, ty, 1, 1, w, b);
    }
  });
  ExpectWholeSums(weights, rows);
}

}  // namespace
}  // namespace hogbatch
