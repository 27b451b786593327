#include "nn/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kMaxScratch = std::int64_t{1} << 42;  // of scratch; more is a mistake

// Matrices of `rows` rows that share one block of memory, each at a 64-byte boundary.
class Scratch {
 public:
  explicit Scratch(std::int64_t rows) : rows_(rows) {}

  // Where a matrix will begin, in floats.
  std::int64_t Reserve(std::int64_t cols) {
    const std::int64_t at = floats_;
    const std::int64_t stride = Stride(cols);
    if (stride > (kMaxScratch - floats_) / rows_) {
      throw UserError(fmt::format(
          "a batch of {} rows needs too much memory in a layer {} wide: choose fewer rows", rows_,
          cols));
    }
    floats_ += AlignUp(rows_ * stride);
    return at;
  }
  std::int64_t bytes() const { return floats_ * static_cast<std::int64_t>(sizeof(float)); }
  Tensor View(const Buffer& memory, std::int64_t at, std::int64_t cols) const {
    const std::int64_t stride = Stride(cols);
    return {memory.span<float>().Sub(at, rows_ * stride), rows_, cols, stride};
  }

 private:
  // Rows that lie a multiple of 1 KB apart compete for a few sets of a processor's caches. They
  // are moved apart by a cache line.
  static std::int64_t Stride(std::int64_t cols) {
    return cols % 256 == 0 ? cols + kAlignment : cols;
  }

  std::int64_t rows_;
  std::int64_t floats_ = 0;
};

// The widest of every second layer from `first` on: the width of one of two blocks that the layers
// use in turn.
std::int64_t WidestOfEverySecond(const ParameterLayout& layout, std::size_t first) {
  std::int64_t widest = 1;
  for (std::size_t i = first; i < layout.layers.size(); i += 2) {
    widest = std::max(widest, layout.layers[i].width);
  }
  return widest;
}

// Where everything lies in a model's scratch; -1: nowhere.
struct ScratchPlan {
  ScratchPlan(const ParameterLayout& layout, std::int64_t rows, Use use)
      : scratch(rows),
        outputs_at(layout.layers.size()),
        pre_at(layout.layers.size(), -1),
        shared_at{scratch.Reserve(WidestOfEverySecond(layout, 0)),
                  scratch.Reserve(WidestOfEverySecond(layout, 1))} {
    // Training keeps every output and shares the gradients; inference shares the outputs.
    for (std::size_t i = 0; i < layout.layers.size(); ++i) {
      const LayerShape& shape = layout.layers[i];
      const bool trains = use != Use::kInference;
      outputs_at[i] = trains ? scratch.Reserve(shape.width) : shared_at[i % 2];
      if (trains && shape.activation == Activation::kGelu) pre_at[i] = scratch.Reserve(shape.width);
      gradients_at.push_back(use == Use::kDeferredUpdates ? scratch.Reserve(shape.width)
                                                          : shared_at[i % 2]);
    }
    if (use != Use::kInference) losses_at = scratch.Reserve(layout.lanes);
  }

  Scratch scratch;
  std::vector<std::int64_t> outputs_at;
  std::vector<std::int64_t> pre_at;
  std::vector<std::int64_t> gradients_at;
  std::array<std::int64_t, 2> shared_at;
  std::int64_t losses_at = -1;
};

}  // namespace

std::vector<LayerView> ViewLayers(const ParameterLayout& layout, DeviceSpan<float> flat) {
  std::vector<LayerView> views;
  for (const LayerShape& shape : layout.layers) {
    const auto weights = flat.Sub(shape.weights_at, shape.in * shape.out);
    views.push_back({.weights = Tensor::Matrix(weights, shape.in, shape.out),
                     .bias = Tensor::Vector(flat.Sub(shape.bias_at, shape.width))});
  }
  return views;
}

std::int64_t ScratchBytes(const ParameterLayout& layout, std::int64_t max_rows, Use use) {
  return ScratchPlan(layout, max_rows, use).scratch.bytes();
}

Model::Model(const ModelSpec& spec, Device& device, std::int64_t max_rows, Use use)
    : spec_(spec), layout_(Layout(spec)), device_(device), max_rows_(max_rows) {
  Check(max_rows >= 1, "a model needs scratch for at least one row");
  const ScratchPlan plan(layout_, max_rows, use);
  memory_ = Buffer(device, plan.scratch.bytes());

  const std::size_t layers = layout_.layers.size();
  pre_.resize(layers);
  for (std::size_t i = 0; i < layers; ++i) {
    const auto view = [&](std::int64_t at) {
      return plan.scratch.View(memory_, at, layout_.layers[i].width);
    };
    outputs_.push_back(view(plan.outputs_at[i]));
    if (plan.pre_at[i] >= 0) pre_[i] = view(plan.pre_at[i]);
    if (use != Use::kInference) gradients_.push_back(view(plan.gradients_at[i]));
  }
  if (plan.losses_at >= 0) losses_ = plan.scratch.View(memory_, plan.losses_at, layout_.lanes);
}

template <typename Dense>
Tensor Model::ForwardLayers(const BatchInput& input, std::span<const LayerView> layers,
                            const Dense& dense) {
  Check(layers.size() == outputs_.size(), "a model was given another number of layers");
  Check(input.rows() >= 1 && input.rows() <= max_rows_, "a batch does not fit a model's scratch");
  rows_ = input.rows();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Activation f = layout_.layers[i].activation;
    const Tensor y = outputs_[i].Rows(rows_);
    if (i == 0 && input.is_sparse) {
      device_.SparseForward(input.sparse, layers[i].weights, layers[i].bias, f, y, PreOf(i));
    } else {
      dense(i, InputOf(i, input), f, y);
    }
  }
  return outputs_.back().Rows(rows_);
}

Tensor Model::Forward(const BatchInput& input, std::span<const LayerView> layers) {
  return ForwardLayers(input, layers,
                       [&](std::size_t i, const Tensor& x, Activation f, const Tensor& y) {
                         device_.DenseForward(x, layers[i].weights, layers[i].bias, f, y, PreOf(i));
                       });
}

Tensor Model::ComputeLoss(const Targets& targets, const Tensor& class_weights,
                          const DeviceSpan<const float>& lane_factors) {
  Check(!gradients_.empty(), "a model made for inference cannot train");
  Check(rows_ >= 1, "a loss needs outputs: Forward comes first");
  const Tensor outputs = outputs_.back().Rows(rows_);
  const Tensor gradient = gradients_.back().Rows(rows_);
  const std::int64_t lanes = layout_.lanes;
  const Tensor losses =
      lanes == 1 ? Tensor::Vector(losses_.data.Sub(0, rows_)) : losses_.Rows(rows_);
  const float scale = 1.0f / static_cast<float>(rows_);
  // A sigmoid loss is reported as the mean over the labels, but updates use the gradient of the
  // sum: the mean over a thousand labels would need a thousand times the learning rate of other
  // losses.
  const float labels_scale = scale * static_cast<float>(spec_.outputs);
  switch (spec_.loss) {
    case Loss::kSoftmax:
      device_.SoftmaxLoss(outputs, targets, class_weights, scale, losses, gradient);
      break;
    case Loss::kSigmoid:
      device_.SigmoidLoss(outputs, targets, class_weights, labels_scale, losses, gradient);
      break;
    case Loss::kSquared:
      device_.SquaredLoss(outputs, targets, scale, losses, gradient);
      break;
  }
  if (targets.weights.size > 0) {
    device_.ScaleRows(targets.weights, lanes == 1 ? Tensor::Matrix(losses.data, rows_, 1) : losses);
    device_.ScaleRows(targets.weights, gradient);
  }
  if (lane_factors.size > 0) device_.ScaleLanes(lane_factors, gradient);
  return losses;
}

void Model::Backward(const BatchInput& input, const BatchInput& first,
                     std::span<const LayerView> layers, std::span<const GradientTarget> targets,
                     const OnLayer& on_layer) {
  Check(!gradients_.empty(), "a model made for inference cannot train");
  Check(layers.size() == outputs_.size() && targets.size() == outputs_.size(),
        "a model was given another number of layers");
  Check(input.rows() == rows_, "backward must see the batch that went forward");
  for (std::size_t i = layers.size(); i-- > 0;) {
    if (i > 0) {
      const Tensor pre = PreOf(i - 1);
      const GradientTarget& target = targets[i];
      device_.DenseBackward(gradients_[i].Rows(rows_), layers[i].weights,
                            layout_.layers[i - 1].activation, outputs_[i - 1].Rows(rows_), pre,
                            gradients_[i - 1].Rows(rows_), target.scale, target.keep,
                            target.weights, target.bias);
    } else {
      AddGradient(i, first, targets[i]);
    }
    if (on_layer) on_layer(i);
  }
}

void Model::BackwardToOutputs(std::span<const Tensor> weights) {
  Check(!gradients_.empty(), "a model made for inference cannot train");
  for (std::size_t i = outputs_.size(); i-- > 1;) {
    const Tensor pre = PreOf(i - 1);
    device_.DenseBackwardData(gradients_[i].Rows(rows_), weights[i],
                              layout_.layers[i - 1].activation, outputs_[i - 1].Rows(rows_), pre,
                              gradients_[i - 1].Rows(rows_));
  }
}

Tensor Model::ForwardAfter(const Deferred& deferred, const BatchInput& input,
                           std::span<const LayerView> layers, std::span<const Tensor> copies) {
  if (input.is_sparse) deferred.before.AddGradient(0, deferred.input, deferred.targets[0]);
  return ForwardLayers(
      input, layers, [&](std::size_t i, const Tensor& x, Activation f, const Tensor& y) {
        device_.UpdateAndForward({.x = deferred.before.InputOf(i, deferred.input),
                                  .dy = deferred.before.gradients_[i].Rows(deferred.before.rows_),
                                  .scale = deferred.targets[i].scale,
                                  .keep = deferred.targets[i].keep},
                                 x, layers[i].weights, layers[i].bias, f, y, PreOf(i), copies[i]);
      });
}

Tensor Model::PreOf(std::size_t layer) const {
  return pre_[layer].empty() ? Tensor{} : pre_[layer].Rows(rows_);
}

Tensor Model::InputOf(std::size_t layer, const BatchInput& input) const {
  return layer == 0 ? input.dense : outputs_[layer - 1].Rows(rows_);
}

void Model::AddGradient(std::size_t layer, const BatchInput& first, const GradientTarget& target) {
  const Tensor dy = gradients_[layer].Rows(rows_);
  if (layer == 0 && first.is_sparse) {
    device_.SparseBackwardWeights(first.sparse, dy, target.scale, target.keep, target.weights,
                                  target.bias);
  } else {
    device_.DenseBackwardWeights(InputOf(layer, first), dy, target.scale, target.keep,
                                 target.weights, target.bias);
  }
}

Model::LastLayer Model::last_layer(const BatchInput& input) const {
  const std::size_t layers = outputs_.size();
  const Tensor x = layers == 1 ? input.dense : outputs_[layers - 2].Rows(rows_);
  return {.x = x, .dy = gradients_.back().Rows(rows_)};
}

}  // namespace hogbatch
