// Turns gradients into steps. Its state is private to a worker; the weights it steps may be shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"
#include "device/device.h"
#include "nn/model.h"
#include "nn/model_spec.h"

namespace hogbatch {

enum class OptimizerKind : std::uint8_t { kSgd, kAdam };

// An optimiser by its name, and the learning rates that suit it.
struct OptimizerInfo {
  std::string_view name;
  OptimizerKind kind;
  double rate;                        // without --lr
  double squared_rate;                // likewise, with squared loss
  std::array<double, 4> tuned_rates;  // that `compare` tries
};
std::span<const OptimizerInfo> Optimizers();  // the default first
const OptimizerInfo& InfoOf(OptimizerKind kind);

struct OptimizerOptions {
  std::string optimizer = "sgd";
  double momentum = 0;
  bool no_momentum_correction = false;
  double weight_decay = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-8;

  void Visit(OptionVisitor& visitor);
  void VisitKind(OptionVisitor& visitor, std::string_view help);      // --optimizer
  void VisitMomentum(OptionVisitor& visitor, std::string_view help);  // --momentum
  OptimizerKind kind() const;  // UserError for an unknown word
  void Validate() const;       // UserError for options that contradict each other
};

// A gradient of one layer in private memory. For a sparse first layer `weights` has one row for
// each of `touched`, and the gradient of all other rows is 0; else `touched` is empty (size 0).
// Both the device and the host have the list of touched rows, so that neither must ask the other.
struct LayerGradient {
  Tensor weights;
  Tensor bias;
  DeviceSpan<const std::int32_t> touched;
  std::span<const std::int32_t> touched_on_host;
  bool is_sparse = false;
};

// What an optimiser keeps between updates, in host memory.
struct OptimizerState {
  // The layers of each array that has the shape of the parameters, one array after the other. A
  // layer is as LayerBlocks copies it.
  std::vector<std::vector<float>> layers;
  std::vector<std::int64_t> last_touched;  // by row of a sparse first layer; see LazyRows
};

// What decay leaves of a weight in one update: 1 - learning_rate · decay, never below 0.
float Keep(double decay, float learning_rate);

// Adam's step of this update, counted from 1, with the correction for young moments.
AdamStep AdamStepAt(const OptimizerOptions& options, float learning_rate, float keep,
                    std::int64_t update);

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Gradients may be added to the weights as they are made, with scale -learning_rate and keep 1 -
  // learning_rate · decay: there is no state between a gradient and its step. Never so for decay
  // with sparse input, which reaches a row only when it is touched. Step is there for direct
  // optimisers, too.
  virtual bool direct() const = 0;

  // One step of `layer` with a private gradient. Layers of one update share `update`, which counts
  // this worker's updates from 1; an update is complete before the next but one begins. An empty
  // bias is left alone, and so are weights without rows. With a sparse gradient `weights` may hold
  // the touched rows alone.
  virtual void Step(int layer, const LayerGradient& gradient, float learning_rate,
                    std::int64_t update, const LayerView& weights) = 0;

  // Waits for the device. Load takes what Save made of an optimiser with the same options and
  // layout; another shape is an Error.
  virtual OptimizerState Save() = 0;
  virtual void Load(const OptimizerState& state) = 0;
};

// `momentum` is the explicit part (see ExplicitMomentum). State lies on `device` in the shape of
// `layout`; the first layer is stepped row by row if `sparse_rows`, its height, is not 0.
std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options, double momentum,
                                         const ParameterLayout& layout, std::int64_t sparse_rows,
                                         Device& device);

// Arrays in the shape of the parameters that such an optimiser keeps.
std::size_t StateArrays(OptimizerKind kind, double momentum);
// Whether that optimiser would be direct().
bool IsDirect(const OptimizerOptions& options, double momentum, std::int64_t sparse_rows);
// Bytes of device memory that its state takes.
std::int64_t OptimizerBytes(const OptimizerOptions& options, double momentum,
                            const ParameterLayout& layout, std::int64_t sparse_rows);

// For a whole network.
inline std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions& options, double momentum,
                                                const ModelSpec& spec, Device& device) {
  return MakeOptimizer(options, momentum, Layout(spec), spec.sparse_input ? spec.inputs : 0,
                       device);
}

}  // namespace hogbatch
