// Losses of lanes: each lane's are those of its outputs alone.
#include <functional>
#include <limits>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

struct LaneLossShape {
  std::int64_t lanes, rows, outputs;
};
constexpr LaneLossShape kLaneLossShapes[] = {{1, 1, 2},   {1, 4, 3},   {5, 1, 2},
                                             {2, 3, 1},   {16, 16, 2}, {33, 17, 2},
                                             {7, 16, 10}, {3, 5, 70},  {2, 3, 1200}};

class LaneLosses : public OnEveryDevice {
 protected:
  // A loss of some outputs, with class weights or without.
  using Call = std::function<void(const Tensor& outputs, const Tensor& class_weights,
                                  const Tensor& losses, const Tensor& gradient)>;
  struct Result {
    Matrix losses, gradient;
  };

  Result Run(const Call& call, const Matrix& outputs, const Matrix& weights, std::int64_t lanes) {
    const DeviceMatrix o(device(), outputs, 1), w(device(), weights, 2);
    DeviceMatrix losses(device(), Matrix::Zero(outputs.rows(), lanes), lanes == 1 ? 0 : 3);
    DeviceMatrix again(device(), Matrix::Zero(outputs.rows(), lanes));
    DeviceMatrix gradient(device(), Matrix::Constant(outputs.rows(), outputs.cols(), 77), 4);
    const Tensor class_weights = weights.size() == 0 ? Tensor{} : w.tensor();
    call(o.tensor(), class_weights, losses.tensor(), gradient.tensor());
    call(o.tensor(), class_weights, again.tensor(), {});
    ExpectClose(again.Get(), losses.Get());
    return {losses.Get(), gradient.Get()};
  }

  // No class weights, the same for all lanes, and others for each.
  void ExpectAloneAndTogether(const Call& call, const LaneLossShape& s) {
    SCOPED_TRACE(testing::Message() << s.lanes << " of " << s.rows << " x " << s.outputs);
    const Matrix outputs = Random(s.rows, s.lanes * s.outputs, -4, 4);
    for (const std::int64_t heights : {std::int64_t{0}, std::int64_t{1}, s.lanes}) {
      const Matrix weights = Random(heights, heights == 0 ? 0 : s.outputs, 0.5f, 2);
      const Result together = Run(call, outputs, weights, s.lanes);
      for (std::int64_t i = 0; i < s.lanes; ++i) {
        const Matrix own = heights > 1 ? Matrix(weights.row(i)) : weights;
        const Result alone = Run(call, outputs.middleCols(i * s.outputs, s.outputs), own, 1);
        ExpectClose(together.losses.col(i), alone.losses, Abs(alone.losses).array() + 1);
        ExpectClose(together.gradient.middleCols(i * s.outputs, s.outputs), alone.gradient,
                    Abs(alone.gradient).array() + 1e-3);
      }
    }
  }

  void ExpectNanToStay(const Call& call, const LaneLossShape& s) {
    const Matrix sound = Random(s.rows, s.lanes * s.outputs, -4, 4);
    Matrix broken = sound;
    const std::int64_t bad = s.lanes / 2;
    broken.middleCols(bad * s.outputs, s.outputs)
        .setConstant(std::numeric_limits<double>::quiet_NaN());
    const Result expected = Run(call, sound, {}, s.lanes), got = Run(call, broken, {}, s.lanes);
    for (std::int64_t i = 0; i < s.lanes; ++i) {
      if (i == bad) continue;
      EXPECT_EQ(got.losses.col(i), expected.losses.col(i));
      EXPECT_EQ(got.gradient.middleCols(i * s.outputs, s.outputs),
                expected.gradient.middleCols(i * s.outputs, s.outputs));
    }
    EXPECT_TRUE(got.losses.col(bad).array().isNaN().all());
    EXPECT_TRUE(got.gradient.col(bad * s.outputs).array().isNaN().all());
  }
};
HOGBATCH_ON_EVERY_DEVICE(LaneLosses);

TEST_P(LaneLosses, OfSoftmaxAreThoseOfEachLaneAlone) {
  for (const LaneLossShape& s : kLaneLossShapes) {
    std::vector<std::int32_t> classes;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      classes.push_back(static_cast<std::int32_t>((r * 7 + 1) % s.outputs));
    }
    const DeviceArray<std::int32_t> on_device(device(), classes, 2);
    const Call call = [&](const Tensor& o, const Tensor& w, const Tensor& l, const Tensor& g) {
      device().SoftmaxLoss(o, {.classes = on_device.view()}, w, 0.25f, l, g);
    };
    ExpectAloneAndTogether(call, s);
    if (s.lanes > 1) ExpectNanToStay(call, s);
  }
}

TEST_P(LaneLosses, OfSigmoidAreThoseOfEachLaneAlone) {
  for (const LaneLossShape& s : kLaneLossShapes) {
    std::vector<std::int64_t> offsets = {1};
    std::vector<std::int32_t> labels = {0};
    for (std::int64_t r = 0; r < s.rows; ++r) {
      for (std::int64_t i = 0; i < r % 3; ++i) {
        labels.push_back(static_cast<std::int32_t>((r * 11 + i * 5) % s.outputs));
      }
      offsets.push_back(static_cast<std::int64_t>(labels.size()));
    }
    const DeviceArray<std::int64_t> starts(device(), offsets, 1);
    const DeviceArray<std::int32_t> named(device(), labels, 4);
    const Call call = [&](const Tensor& o, const Tensor& w, const Tensor& l, const Tensor& g) {
      device().SigmoidLoss(o, {.label_offsets = starts.view(), .labels = named.view()}, w, 0.5f, l,
                           g);
    };
    ExpectAloneAndTogether(call, s);
    if (s.lanes > 1) ExpectNanToStay(call, s);
  }
}

TEST_P(LaneLosses, OfSquaresAreThoseOfEachLaneAlone) {
  for (const LaneLossShape& s : kLaneLossShapes) {
    const Matrix values = Random(s.rows, s.outputs, -4, 4);
    const DeviceArray<float> wanted(device(), {values.data(), values.data() + values.size()}, 6);
    const Call call = [&](const Tensor& o, const Tensor&, const Tensor& l, const Tensor& g) {
      device().SquaredLoss(o, {.values = wanted.view()}, 0.125f, l, g);
    };
    ExpectAloneAndTogether(call, s);
    if (s.lanes > 1) ExpectNanToStay(call, s);
  }
}

}  // namespace
}  // namespace hogbatch
