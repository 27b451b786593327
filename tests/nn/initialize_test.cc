#include "nn/initialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"

namespace hogbatch {
namespace {

const ModelSpec kSpec{.inputs = 211, .hidden = {307, 307}, .outputs = 3};

std::vector<float> Start(Initialization how, std::uint64_t seed) {
  const ParameterLayout layout = Layout(kSpec);
  std::vector<float> flat(layout.floats, 7.0f);
  Initialize(layout, how, seed, flat);
  return flat;
}

struct Statistics {
  double mean = 0;
  double deviation = 0;
  double largest = 0;
};

Statistics Measure(const std::vector<float>& flat, const LayerShape& shape) {
  const auto begin = flat.begin() + shape.weights_at;
  const auto end = begin + shape.in * shape.out;
  const double count = static_cast<double>(shape.in * shape.out);
  Statistics s;
  for (auto w = begin; w != end; ++w) s.mean += *w / count;
  for (auto w = begin; w != end; ++w) {
    s.deviation += (*w - s.mean) * (*w - s.mean) / count;
    s.largest = std::max(s.largest, static_cast<double>(std::abs(*w)));
  }
  s.deviation = std::sqrt(s.deviation);
  return s;
}

void ExpectDeviation(Initialization how, double (*expected)(double in, double out)) {
  const std::vector<float> flat = Start(how, 5);
  for (const LayerShape& shape : Layout(kSpec).layers) {
    const double deviation =
        expected(static_cast<double>(shape.in), static_cast<double>(shape.out));
    const double samples = static_cast<double>(shape.in * shape.out);
    const Statistics s = Measure(flat, shape);
    EXPECT_NEAR(s.deviation, deviation, 5 * deviation / std::sqrt(2 * samples));
    EXPECT_NEAR(s.mean, 0, 5 * deviation / std::sqrt(samples));
  }
}

TEST(Initialize, XavierIsUniformWithGlorotsDeviation) {
  ExpectDeviation(Initialization::kXavier,
                  [](double in, double out) { return std::sqrt(2 / (in + out)); });
  const LayerShape shape = Layout(kSpec).layers[1];
  const double bound = std::sqrt(6.0 / static_cast<double>(shape.in + shape.out));
  const double largest = Measure(Start(Initialization::kXavier, 5), shape).largest;
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.99 * bound);
}

TEST(Initialize, HeFollowsTheInputsAlone) {
  ExpectDeviation(Initialization::kHe, [](double in, double) { return std::sqrt(2 / in); });
}

TEST(Initialize, PaperStartsFromMuchLargerWeights) {
  ExpectDeviation(Initialization::kPaper, [](double in, double out) {
    return std::sqrt(2 * (std::floor(std::sqrt(in + out)) + 1) / (in + out));
  });
}

TEST(Initialize, LeavesBiasesAndGapsZero) {
  const ParameterLayout layout = Layout(kSpec);
  std::vector<float> flat = Start(Initialization::kHe, 5);
  for (const LayerShape& shape : layout.layers) {
    std::fill_n(flat.begin() + shape.weights_at, shape.in * shape.out, 0.0f);
  }
  EXPECT_TRUE(std::all_of(flat.begin(), flat.end(), [](float x) { return x == 0; }));
}

TEST(Initialize, DependsOnSeedAndLayerOnly) {
  const ParameterLayout layout = Layout(kSpec);
  EXPECT_EQ(Start(Initialization::kHe, 5), Start(Initialization::kHe, 5));
  EXPECT_NE(Start(Initialization::kHe, 5), Start(Initialization::kHe, 6));
  // Layers of one shape draw from streams of their own, whatever stands before them.
  const ModelSpec other{.inputs = 5, .hidden = {307, 307}, .outputs = 3};
  const ParameterLayout other_layout = Layout(other);
  std::vector<float> flat(other_layout.floats);
  Initialize(other_layout, Initialization::kHe, 5, flat);
  const std::vector<float> first = Start(Initialization::kHe, 5);
  const LayerShape &a = layout.layers[1], &b = other_layout.layers[1];
  EXPECT_TRUE(std::equal(first.begin() + a.weights_at, first.begin() + a.weights_at + 307 * 307,
                         flat.begin() + b.weights_at));
}

TEST(Initialize, ParsesItsNames) {
  EXPECT_EQ(InitializationWords().words, (std::vector<std::string>{"xavier", "he", "paper"}));
  EXPECT_EQ(ParseInitialization("xavier"), Initialization::kXavier);
  EXPECT_EQ(ParseInitialization("he"), Initialization::kHe);
  EXPECT_EQ(ParseInitialization("paper"), Initialization::kPaper);
  EXPECT_THROW(ParseInitialization("zero"), UserError);
}

}  // namespace
}  // namespace hogbatch
