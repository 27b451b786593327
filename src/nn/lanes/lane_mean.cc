#include "nn/lanes/lane_mean.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "nn/metrics.h"

namespace hogbatch {
namespace {

double Log(double probability) {
  return std::log(std::max<double>(probability, std::numeric_limits<float>::min()));
}

double MeanLogit(std::span<const double> xs) {
  double yes = 0, no = 0;  // 1 - p has no digits left where p is close to 1
  for (const double x : xs) {
    yes += 1 / (1 + std::exp(-x));
    no += 1 / (1 + std::exp(x));
  }
  const auto count = static_cast<double>(xs.size());
  return Log(yes / count) - Log(no / count);
}

double Mean(std::span<const double> xs) {
  return std::reduce(xs.begin(), xs.end()) / static_cast<double>(xs.size());
}

}  // namespace

std::vector<float> MeanOfLanes(Loss loss, std::span<const float> outputs, std::int64_t lanes,
                               std::int64_t columns) {
  const std::size_t width = columns, count = lanes;
  Check(outputs.size() % (width * count) == 0, "outputs of lanes are whole rows");
  std::vector<float> members(outputs.begin(), outputs.end());
  if (loss == Loss::kSoftmax) ToProbabilities(loss, members, columns);
  std::vector<float> mean(members.size() / count);
  std::vector<double> of_lanes(count);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const std::size_t first = i / width * width * count + i % width;
    for (std::size_t lane = 0; lane < count; ++lane) {
      of_lanes[lane] = members[first + lane * width];
    }
    const double x = loss == Loss::kSigmoid ? MeanLogit(of_lanes) : Mean(of_lanes);
    mean[i] = static_cast<float>(loss == Loss::kSoftmax ? Log(x) : x);
  }
  return mean;
}

}  // namespace hogbatch
