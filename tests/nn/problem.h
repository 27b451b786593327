// A small network with data, and its loss computed a second time: in double precision, with plain
// loops, and without anything of the code under test.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "device/device.h"
#include "nn/model.h"

namespace hogbatch {

class Problem {
 public:
  Problem(const ModelSpec& network, std::int64_t row_count, std::uint64_t seed = 1)
      : spec(network), layout(Layout(network)), rows(row_count) {
    Random random(seed);
    parameters.resize(layout.floats);
    for (float& p : parameters) p = static_cast<float>(0.5 * random.Normal());
    offsets.push_back(0);
    label_offsets.push_back(0);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < spec.inputs; ++c) {
        const bool there = random.Uniform() < 0.5;
        dense.push_back(there ? static_cast<float>(random.Normal()) : 0.0f);
        if (!there) continue;
        columns.push_back(static_cast<std::int32_t>(c));
        values.push_back(dense.back());
      }
      offsets.push_back(static_cast<std::int64_t>(columns.size()));
      classes.push_back(static_cast<std::int32_t>(random.Below(spec.outputs)));
      for (std::int64_t c = 0; c < spec.outputs; ++c) {
        if (random.Uniform() < 0.4) labels.push_back(static_cast<std::int32_t>(c));
        targets.push_back(static_cast<float>(random.Normal()));
      }
      label_offsets.push_back(static_cast<std::int64_t>(labels.size()));
    }
    for (std::int64_t c = 0; c < spec.outputs; ++c) {
      class_weights.push_back(static_cast<float>(0.5 + random.Uniform()));
    }
    FindTouched();
  }

  BatchInput Input() const { return spec.sparse_input ? Sparse(columns, spec.inputs) : Dense(); }

  BatchInput Dense() const {
    BatchInput input;
    auto* data = const_cast<float*>(dense.data());
    input.dense = Tensor::Matrix(HostSpan(data, Size(dense)), rows, spec.inputs);
    return input;
  }

  // With columns that count the touched rows of the first layer.
  BatchInput Compact() const { return Sparse(compact_columns, Size(touched)); }

  Targets Wanted() const {
    switch (spec.loss) {
      case Loss::kSoftmax:
        return {.classes = View(classes), .label_offsets = {}, .labels = {}, .values = {}};
      case Loss::kSigmoid:
        return {.classes = {},
                .label_offsets = View(label_offsets),
                .labels = View(labels),
                .values = {}};
      case Loss::kSquared:
        break;
    }
    return {.classes = {}, .label_offsets = {}, .labels = {}, .values = View(targets)};
  }

  Tensor ClassWeights() const {
    if (spec.loss == Loss::kSquared) return {};
    return Tensor::Vector(HostSpan(const_cast<float*>(class_weights.data()), Size(class_weights)));
  }

  // The mean loss over the rows, in double precision.
  double MeanLoss(const std::vector<double>& flat) const {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) sum += RowLoss(r, Outputs(r, flat));
    return sum / static_cast<double>(rows);
  }

  std::vector<double> Outputs(std::int64_t row, const std::vector<double>& flat) const {
    std::vector<double> x(dense.begin() + row * spec.inputs,
                          dense.begin() + (row + 1) * spec.inputs);
    for (const LayerShape& shape : layout.layers) {
      std::vector<double> y(shape.out);
      for (std::int64_t o = 0; o < shape.out; ++o) {
        double sum = At(flat, shape.bias_at + o);
        for (std::int64_t i = 0; i < shape.in; ++i) {
          sum += At(x, i) * At(flat, shape.weights_at + i * shape.out + o);
        }
        y[o] = Activated(shape.activation, sum);
      }
      x = y;
    }
    return x;
  }

  std::vector<double> DoubleParameters() const { return {parameters.begin(), parameters.end()}; }

  ModelSpec spec;
  ParameterLayout layout;
  std::int64_t rows;
  std::vector<float> parameters;
  std::vector<float> dense;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  std::vector<std::int32_t> touched;  // columns any row names, ascending
  std::vector<std::int32_t> compact_columns;
  std::vector<std::int32_t> classes;
  std::vector<std::int64_t> label_offsets;
  std::vector<std::int32_t> labels;
  std::vector<float> targets;
  std::vector<float> class_weights;

 private:
  template <typename T>
  static std::int64_t Size(const std::vector<T>& v) {
    return static_cast<std::int64_t>(v.size());
  }
  template <typename T>
  static DeviceSpan<const T> View(const std::vector<T>& v) {
    return HostSpan<const T>(v.data(), Size(v));
  }
  static double At(const std::vector<double>& v, std::int64_t i) { return v[i]; }

  BatchInput Sparse(const std::vector<std::int32_t>& named, std::int64_t cols) const {
    BatchInput input;
    input.is_sparse = true;
    input.sparse = {.offsets = View(offsets),
                    .columns = View(named),
                    .values = View(values),
                    .rows = rows,
                    .cols = cols};
    return input;
  }

  void FindTouched() {
    touched = columns;
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const std::int32_t c : columns) {
      const auto place = std::lower_bound(touched.begin(), touched.end(), c);
      compact_columns.push_back(static_cast<std::int32_t>(place - touched.begin()));
    }
  }

  static double Activated(Activation f, double x) {
    switch (f) {
      case Activation::kIdentity:
        return x;
      case Activation::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case Activation::kTanh:
        return std::tanh(x);
      case Activation::kRelu:
        return std::max(x, 0.0);
      case Activation::kGelu:
        break;
    }
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  }

  double RowLoss(std::int64_t row, const std::vector<double>& y) const {
    const auto r = static_cast<std::size_t>(row);
    const double outputs = static_cast<double>(spec.outputs);
    double sum = 0;
    if (spec.loss == Loss::kSoftmax) {
      const auto wanted = static_cast<std::size_t>(classes[r]);
      for (const double x : y) sum += std::exp(x);
      return class_weights[wanted] * (std::log(sum) - y[wanted]);
    }
    for (std::size_t c = 0; c < y.size(); ++c) {
      if (spec.loss == Loss::kSquared) {
        const double difference = y[c] - targets[r * y.size() + c];
        sum += difference * difference;
        continue;
      }
      const auto begin = labels.begin() + label_offsets[r],
                 end = labels.begin() + label_offsets[r + 1];
      const bool positive = std::find(begin, end, static_cast<std::int32_t>(c)) != end;
      sum += positive ? class_weights[c] * std::log1p(std::exp(-y[c])) : std::log1p(std::exp(y[c]));
    }
    return sum / outputs;
  }
};

}  // namespace hogbatch
