#include "gpu/gpu_device.h"

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "device/lanes.h"
#include "gpu/gpu_memory.h"
#include "gpu/launch.h"

namespace hogbatch::gpu {
namespace {

// Enough groups to fill any GPU. Kernels loop over the elements that are left.
constexpr std::int64_t kMostGroups = 4096;
// Rows of at least this many columns use the library's log softmax, if there is one, and a second
// pass over the gradient. The best limit is not known: bench_device prints both sides.
constexpr std::int64_t kLongRow = 1024;

std::int64_t GroupsFor(std::int64_t items) {
  return std::clamp<std::int64_t>((items + kItems - 1) / kItems, 1, kMostGroups);
}

std::int64_t GroupsForEach(const Tensor& t) { return GroupsFor(t.rows * t.cols); }

// A row of a loss uses as many work items as it has columns, up to a whole group.
std::int64_t GroupsForRows(std::int64_t rows, std::int64_t cols) {
  const auto items = std::bit_ceil(static_cast<std::uint64_t>(cols));
  return GroupsFor(rows * static_cast<std::int64_t>(std::min<std::uint64_t>(items, kItems)));
}

bool HasNothing(const Tensor& t) { return t.rows == 0 || t.cols == 0; }

struct Shape {
  std::int64_t rows, cols;
};
// Its rows are contiguous, so it can be treated as a single row. Kernels then need no division by
// the row length.
bool IsWhole(const Tensor& t) { return t.rows == 1 || t.stride == t.cols; }
Shape AsOneRow(const Tensor& t) { return {1, t.rows * t.cols}; }

bool SameShape(const Tensor& a, const Tensor& b) { return a.rows == b.rows && a.cols == b.cols; }

// The outputs of a loss, one row of a lane after the other, as arguments of its kernel.
struct LossRows {
  LossLanes lanes;
  std::int64_t rows;
  std::int64_t weights_apart;  // the class weights of two lanes
  std::int64_t groups;
};

LossRows CheckLoss(const Tensor& outputs, const Tensor& class_weights, const Tensor& losses,
                   const Tensor& gradient) {
  const LossLanes lanes = LanesOfLoss(outputs, losses);
  const bool has_weights = !class_weights.empty(), each = class_weights.rows > 1;
  Check(!has_weights || class_weights.cols >= lanes.outputs, "every output has its weight");
  Check(!each || class_weights.rows == lanes.count, "every lane has its class weights");
  Check(gradient.empty() || SameShape(gradient, outputs), "outputs and gradient have one shape");
  const std::int64_t rows = outputs.rows * lanes.count;
  return {lanes, rows, each ? class_weights.stride : 0, GroupsForRows(rows, lanes.outputs)};
}

class GpuDevice final : public Device {
 public:
  explicit GpuDevice(std::unique_ptr<Driver> driver)
      : driver_(std::move(driver)), memory_(*driver_) {}

  const DeviceInfo& info() const override { return driver_->info(); }

  void* Allocate(std::size_t bytes) override { return memory_.Allocate(bytes); }
  void Free(void* base) noexcept override { memory_.Free(base); }
  void Upload(std::span<const std::byte> from, void* base, std::size_t offset) override {
    memory_.Upload(from, base, offset);
  }
  void Download(const void* base, std::size_t offset, std::span<std::byte> to) override {
    memory_.Download(base, offset, to);
  }
  void Wait() override { memory_.Wait(); }
  void* AllocateHost(std::size_t bytes) override { return memory_.AllocateHost(bytes); }
  void FreeHost(void* memory) noexcept override { memory_.FreeHost(memory); }
  std::int64_t SetMark() override { return memory_.SetMark(); }
  void WaitFor(std::int64_t mark) override { memory_.WaitFor(mark); }

  void DenseForward(const Tensor& x, const Tensor& w, const Tensor& bias, Activation f,
                    const Tensor& y, const Tensor& pre) override {
    CheckLayer(x, w, y, "x · w = y in shape");
    CheckOutputs(bias, y, pre);
    if (HasNothing(y)) return;
    const std::int64_t lanes = LanesIn(w, y), in = w.rows / lanes, out = w.cols;
    const Product product{.rows = y.rows,
                          .cols = out,
                          .inner = in,
                          .a = x,
                          .b = w,
                          .c = y,
                          .lanes = lanes,
                          .a_apart = in,
                          .b_apart = in * w.stride,
                          .c_apart = out};
    if (pre.empty() && x.cols > 0 && lanes == 1) {
      Use({&x, &w, &bias, &y});
      if (driver_->MultiplyWithBias(product, bias, f)) return;
    }
    Multiply(product);
    Launch<Kernel::hb_activate>(GroupsForEach(y), y, bias.data, pre, static_cast<int>(f), y.rows,
                                y.cols);
  }

  void SparseForward(const CsrTensor& x, const Tensor& w, const Tensor& bias, Activation f,
                     const Tensor& y, const Tensor& pre) override {
    Check(x.cols <= w.rows && x.rows == y.rows && y.cols == w.cols, "sparse x · w = y in shape");
    CheckOutputs(bias, y, pre);
    if (HasNothing(y)) return;
    Launch<Kernel::hb_csr_forward>(GroupsForEach(y), x.offsets, x.columns, x.values, w, bias.data,
                                   y, pre, static_cast<int>(f), y.rows, y.cols);
  }

  void DenseBackwardData(const Tensor& dy, const Tensor& w, Activation f, const Tensor& x,
                         const Tensor& pre, const Tensor& dx) override {
    CheckLayer(dx, w, dy, "dy · wᵀ = dx in shape");
    const Tensor& from = f == Activation::kGelu ? pre : x;
    Check(f == Activation::kIdentity || SameShape(from, dx), "a slope has the shape of its inputs");
    if (HasNothing(dx)) return;
    const std::int64_t lanes = LanesIn(w, dy), in = w.rows / lanes, out = w.cols;
    Multiply({.form = Product::Form::kTransposeB,
              .rows = dx.rows,
              .cols = in,
              .inner = out,
              .a = dy,
              .b = w,
              .c = dx,
              .lanes = lanes,
              .a_apart = out,
              .b_apart = in * w.stride,
              .c_apart = in});
    if (f == Activation::kIdentity) return;
    Launch<Kernel::hb_slope>(GroupsForEach(dx), dx, from, static_cast<int>(f), dx.rows, dx.cols);
  }

  void DenseBackwardWeights(const Tensor& x, const Tensor& dy, float scale, float keep,
                            const Tensor& dw, const Tensor& dbias) override {
    CheckLayer(x, dw, dy, "xᵀ · dy = dw in shape");
    const std::int64_t lanes = LanesIn(dw, dy), in = dw.rows / lanes, out = dw.cols;
    Multiply({.form = Product::Form::kTransposeA,
              .rows = in,
              .cols = out,
              .inner = x.rows,
              .alpha = scale,
              .a = x,
              .b = dy,
              .beta = keep,
              .c = dw,
              .lanes = lanes,
              .a_apart = in,
              .b_apart = out,
              .c_apart = in * dw.stride});
    AddColumnSums(dy, scale, keep, dbias);
  }

  void SparseBackwardWeights(const CsrTensor& x, const Tensor& dy, float scale, float keep,
                             const Tensor& dw, const Tensor& dbias) override {
    Check(x.cols <= dw.rows && x.rows == dy.rows && dy.cols == dw.cols, "xᵀ · dy = dw in shape");
    if (keep == 0) Fill(dw, 0);
    if (!HasNothing(dy)) {
      const std::int64_t groups = std::min(x.rows, kMostGroups);
      Launch<Kernel::hb_csr_scatter>(groups, x.offsets, x.columns, x.values, dy, scale, dw, dy.rows,
                                     dy.cols);
    }
    AddColumnSums(dy, scale, keep, dbias);
  }

  void SoftmaxLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    const LossRows all = CheckLoss(outputs, class_weights, losses, gradient);
    const LossLanes& lanes = all.lanes;
    Check(targets.classes.size >= outputs.rows, "every row has its class");
    if (HasNothing(outputs)) return;
    const int has_weights = class_weights.empty() ? 0 : 1;
    if (outputs.cols > kLongRow && !gradient.empty() && lanes.count == 1) {
      Use({&outputs, &gradient});
      if (driver_->LogSoftmax(outputs, gradient)) {
        Launch<Kernel::hb_softmax_finish>(all.groups, targets.classes, class_weights.data,
                                          has_weights, scale, losses.data, lanes.stride, gradient,
                                          outputs.rows, outputs.cols);
        return;
      }
    }
    Launch<Kernel::hb_softmax_loss>(all.groups, outputs, targets.classes, class_weights.data,
                                    has_weights, all.weights_apart, scale, losses.data,
                                    lanes.stride, gradient, lanes.count, all.rows, lanes.outputs);
  }

  void SigmoidLoss(const Tensor& outputs, const Targets& targets, const Tensor& class_weights,
                   float scale, const Tensor& losses, const Tensor& gradient) override {
    const LossRows all = CheckLoss(outputs, class_weights, losses, gradient);
    const LossLanes& lanes = all.lanes;
    Check(targets.label_offsets.size > outputs.rows, "every row has its labels");
    if (HasNothing(outputs)) return;
    Launch<Kernel::hb_sigmoid_loss>(all.groups, outputs, targets.label_offsets, targets.labels,
                                    class_weights.data, class_weights.empty() ? 0 : 1,
                                    all.weights_apart, scale, losses.data, lanes.stride, gradient,
                                    lanes.count, all.rows, lanes.outputs);
  }

  void SquaredLoss(const Tensor& outputs, const Targets& targets, float scale, const Tensor& losses,
                   const Tensor& gradient) override {
    const LossRows all = CheckLoss(outputs, {}, losses, gradient);
    const LossLanes& lanes = all.lanes;
    Check(targets.values.size >= outputs.rows * lanes.outputs, "every output has its value");
    if (HasNothing(outputs)) return;
    Launch<Kernel::hb_squared_loss>(all.groups, outputs, targets.values, scale, losses.data,
                                    lanes.stride, gradient, lanes.count, all.rows, lanes.outputs);
  }

  void AddScaled(const Tensor& x, float scale, float keep, const Tensor& y) override {
    Check(SameShape(x, y), "tensors added to each other have one shape");
    if (HasNothing(y)) return;
    const Shape shape = IsWhole(x) && IsWhole(y) ? AsOneRow(y) : Shape{y.rows, y.cols};
    Launch<Kernel::hb_add_scaled>(GroupsForEach(y), x, scale, keep, y, shape.rows, shape.cols);
  }

  void AddRows(const Tensor& x, const DeviceSpan<const std::int32_t>& rows, float scale,
               const Tensor& y) override {
    Check(x.cols == y.cols, "rows added to others are as wide as those");
    Check(rows.size >= x.rows, "every row to add has a place");
    if (HasNothing(x)) return;
    Launch<Kernel::hb_add_rows>(GroupsForEach(x), x, rows, scale, y, x.rows, x.cols);
  }

  void ScaleRows(const DeviceSpan<const float>& factors, const Tensor& y) override {
    Check(factors.size >= y.rows, "every row has its factor");
    if (HasNothing(y)) return;
    Launch<Kernel::hb_scale_rows>(GroupsForEach(y), factors, y, y.rows, y.cols);
  }

  void ScaleLanes(const DeviceSpan<const float>& factors, const Tensor& y) override {
    Check(factors.size > 0 && y.cols % factors.size == 0, "lanes have equally many columns");
    if (HasNothing(y)) return;
    Launch<Kernel::hb_scale_lanes>(GroupsForEach(y), factors, y.cols / factors.size, y, y.rows,
                                   y.cols);
  }

  void Fill(const Tensor& y, float value) override {
    if (HasNothing(y)) return;
    const Shape shape = IsWhole(y) ? AsOneRow(y) : Shape{y.rows, y.cols};
    Launch<Kernel::hb_fill>(GroupsForEach(y), y, value, shape.rows, shape.cols);
  }

  void Momentum(const Tensor& gradient, const MomentumStep& step, const TouchedRows* touched,
                const Tensor& velocity, const Tensor& w) override {
    Check(!velocity.empty() || step.momentum == 0, "momentum needs a velocity");
    Move(gradient, step, {}, touched, velocity, w);
  }
  void Adam(const Tensor& gradient, const AdamStep& step, const TouchedRows* touched,
            const Tensor& mean, const Tensor& square, const Tensor& w) override {
    Move(gradient, step, {}, touched, mean, square, w);
  }
  void MomentumOfLanes(const Tensor& gradient, const LaneSteps<MomentumStep>& lanes,
                       const TouchedRows* touched, const Tensor& velocity,
                       const Tensor& w) override {
    Move(gradient, {}, Steps(lanes, w), touched, velocity, w);
  }
  void AdamOfLanes(const Tensor& gradient, const LaneSteps<AdamStep>& lanes,
                   const TouchedRows* touched, const Tensor& mean, const Tensor& square,
                   const Tensor& w) override {
    Move(gradient, {}, Steps(lanes, w), touched, mean, square, w);
  }

 private:
  // The steps of lanes as arguments of a kernel. By default one step is for all.
  struct Steps {
    Steps() = default;
    template <typename Step>
    Steps(const LaneSteps<Step>& lanes, const Tensor& w)
        : numbers{lanes.steps.base, lanes.steps.offset * kNumbers<Step>,
                  lanes.steps.size * kNumbers<Step>},
          are_there(1),
          rows(lanes.rows),
          cols(lanes.cols) {
      Check(rows > 0 && cols > 0 && w.cols <= lanes.steps.size * cols &&
                (w.cols <= cols || w.cols % cols == 0),
            "every lane has its step");
    }
    template <typename Step>
    static constexpr std::int64_t kNumbers = sizeof(Step) / sizeof(float);

    DeviceSpan<const float> numbers = {};
    int are_there = 0;
    std::int64_t rows = 1;
    std::int64_t cols = 1;
  };

  void Move(const Tensor& gradient, const MomentumStep& step, const Steps& steps,
            const TouchedRows* touched, const Tensor& velocity, const Tensor& w) {
    const Rows rows = CheckRows(gradient, touched, w, steps);
    Check(velocity.empty() || velocity.cols == w.cols, "a velocity is as wide as its weights");
    if (HasNothing(gradient)) return;
    Launch<Kernel::hb_momentum>(rows.groups, gradient, step.learning_rate, step.momentum, step.keep,
                                steps.numbers, steps.are_there, steps.rows, steps.cols,
                                rows.touched, rows.skipped, rows.has_touched, rows.w_is_whole,
                                velocity, w, gradient.rows, gradient.cols);
  }
  void Move(const Tensor& gradient, const AdamStep& step, const Steps& steps,
            const TouchedRows* touched, const Tensor& mean, const Tensor& square, const Tensor& w) {
    const Rows rows = CheckRows(gradient, touched, w, steps);
    Check(mean.cols == w.cols && square.cols == w.cols, "moments are as wide as their weights");
    if (HasNothing(gradient)) return;
    Launch<Kernel::hb_adam>(rows.groups, gradient, step.learning_rate, step.beta1, step.beta2,
                            step.epsilon, step.keep, steps.numbers, steps.are_there, steps.rows,
                            steps.cols, rows.touched, rows.skipped, rows.has_touched,
                            rows.w_is_whole, mean, square, w, gradient.rows, gradient.cols);
  }

  // Which rows of state and weights a step changes, as arguments of its kernel.
  struct Rows {
    std::int64_t groups = 0;
    DeviceSpan<const std::int32_t> touched = {};
    DeviceSpan<const std::int32_t> skipped = {};
    int has_touched = 0;
    int w_is_whole = 1;
  };

  static Rows CheckRows(const Tensor& gradient, const TouchedRows* touched, const Tensor& w,
                        const Steps& steps) {
    Check(gradient.cols == w.cols, "a gradient is as wide as its weights");
    Check(gradient.rows <= w.rows, "a gradient's row is among the weights");
    if (!touched) return {.groups = GroupsForEach(gradient)};
    Check(touched->rows.size >= gradient.rows && touched->skipped.size >= gradient.rows,
          "every row of a gradient is a touched one");
    const std::int64_t lanes = steps.are_there ? w.cols / steps.cols : 1;
    return {.groups = std::min(gradient.rows * lanes, kMostGroups),
            .touched = touched->rows,
            .skipped = touched->skipped,
            .has_touched = 1,
            .w_is_whole = w.rows == gradient.rows ? 0 : 1};
  }

  static void CheckOutputs(const Tensor& bias, const Tensor& y, const Tensor& pre) {
    Check(bias.data.size >= y.cols, "every output has its bias");
    Check(pre.empty() || SameShape(pre, y), "outputs and what they are made from have one shape");
  }

  void Use(std::initializer_list<const Tensor*> tensors) {
    for (const Tensor* tensor : tensors) memory_.UseToCompute(tensor->data.base);
  }

  template <Kernel kernel, typename... Given>
  void Launch(std::int64_t groups, const Given&... given) {
    const auto arguments = MakeArguments<kernel>(given...);
    for (std::size_t i = 0; i < arguments.values.size(); ++i) {
      if (arguments.kTypes[i] == ArgumentType::kAddress) {
        memory_.UseToCompute(arguments.values[i].address);
      }
    }
    driver_->Launch({.kernel = kernel,
                     .groups = groups,
                     .arguments = arguments.values,
                     .types = arguments.kTypes});
  }

  void Multiply(const Product& product) {
    const Tensor& c = product.c;
    if (HasNothing(c)) return;
    if (product.inner == 0) {  // libraries refuse it, but c must still be kept or cleared
      if (product.beta == 0) return Fill(c, 0);
      return AddScaled(c, product.beta, 0, c);
    }
    Use({&product.a, &product.b, &c});
    driver_->Multiply(product);
  }

  void AddColumnSums(const Tensor& dy, float scale, float keep, const Tensor& y) {
    if (y.empty()) return;
    Check(y.data.size >= dy.cols, "every column has its sum");
    if (dy.cols == 0) return;
    const std::int64_t groups = std::min((dy.cols + HB_STRIP - 1) / HB_STRIP, kMostGroups);
    Launch<Kernel::hb_column_sums>(groups, dy, scale, keep, y.data, dy.rows, dy.cols);
  }

  std::unique_ptr<Driver> driver_;
  GpuMemory memory_;
};

}  // namespace

std::unique_ptr<Device> MakeGpuDevice(std::unique_ptr<Driver> driver) {
  return std::make_unique<GpuDevice>(std::move(driver));
}

}  // namespace hogbatch::gpu
