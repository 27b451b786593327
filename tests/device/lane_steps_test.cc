// Steps of lanes: each lane is stepped as if it were alone.
#include <limits>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

// How lanes lie in the weights.
enum class Order : std::uint8_t { kSideBySide, kOneBelowTheOther };

class StepsOfLanes : public OnEveryDevice {
 protected:
  struct Numbers {
    Matrix gradient, w, first, second;  // and the state: velocity, or mean and square
  };

  static MomentumStep MomentumOf(std::int64_t lane) {
    const auto l = static_cast<float>(lane);
    return {.learning_rate = 0.1f / (1 + l), .momentum = 0.9f - 0.1f * l, .keep = 1 - 0.01f * l};
  }
  static AdamStep AdamOf(std::int64_t lane) {
    const auto l = static_cast<float>(lane);
    return {.learning_rate = 0.01f * (1 + l),
            .beta1 = 0.9f - 0.05f * l,
            .beta2 = 0.999f - 0.01f * l,
            .epsilon = 1e-8f * (1 + l),
            .keep = 1 - 0.002f * l};
  }

  Numbers MakeNumbers(std::int64_t rows, std::int64_t cols) {
    return {Random(rows, cols), Random(rows, cols), Random(rows, cols),
            Random(rows, cols, 0.1f, 1)};
  }
  static Matrix LaneOf(const Matrix& m, Order order, std::int64_t lane, std::int64_t lanes) {
    const std::int64_t height = m.rows() / lanes, width = m.cols() / lanes;
    if (order == Order::kSideBySide) return m.middleCols(lane * width, width);
    return m.middleRows(lane * height, height);
  }
  static Numbers LaneOf(const Numbers& n, Order order, std::int64_t lane, std::int64_t lanes) {
    return {LaneOf(n.gradient, order, lane, lanes), LaneOf(n.w, order, lane, lanes),
            LaneOf(n.first, order, lane, lanes), LaneOf(n.second, order, lane, lanes)};
  }
  static void ExpectSame(const Numbers& actual, const Numbers& expected) {
    ExpectClose(actual.w, expected.w, Abs(expected.w).array() + 1);
    ExpectClose(actual.first, expected.first, Abs(expected.first).array() + 1);
    ExpectClose(actual.second, expected.second, Abs(expected.second).array() + 1);
  }

  // call(gradient, first, second, w) steps in place.
  template <typename F>
  Numbers Run(const Numbers& before, F call) {
    const DeviceMatrix g(device(), before.gradient, 1);
    DeviceMatrix first(device(), before.first, 2), second(device(), before.second, 3),
        w(device(), before.w, 4);
    call(g.tensor(), first.tensor(), second.tensor(), w.tensor());
    return {before.gradient, w.Get(), first.Get(), second.Get()};
  }

  // A lane has `rows` × `cols`.
  template <typename Step>
  LaneSteps<Step> StepsFor(const DeviceArray<Step>& steps, std::int64_t rows, std::int64_t cols) {
    return {.steps = steps.view(), .rows = rows, .cols = cols};
  }
};
HOGBATCH_ON_EVERY_DEVICE(StepsOfLanes);

struct LaneStepShape {
  std::int64_t lanes, rows, cols;  // of a lane
};
constexpr LaneStepShape kLaneStepShapes[] = {
    {1, 3, 5}, {4, 1, 2}, {3, 7, 33}, {5, 20, 64}, {2, 1, 700}};

TEST_P(StepsOfLanes, AreThoseOfEachLaneAlone) {
  for (const auto& [lanes, rows, cols] : kLaneStepShapes) {
    for (const Order order : {Order::kSideBySide, Order::kOneBelowTheOther}) {
      SCOPED_TRACE(testing::Message() << lanes << " of " << rows << " x " << cols);
      std::vector<MomentumStep> momentum;
      std::vector<AdamStep> adam;
      for (std::int64_t i = 0; i < lanes; ++i) {
        momentum.push_back(MomentumOf(i));
        adam.push_back(AdamOf(i));
      }
      const DeviceArray<MomentumStep> momentum_on_device(device(), momentum, 2);
      const DeviceArray<AdamStep> adam_on_device(device(), adam, 1);
      const bool beside = order == Order::kSideBySide;
      const Numbers before =
          MakeNumbers(beside ? rows : lanes * rows, beside ? lanes * cols : cols);
      const Numbers moved =
          Run(before, [&](const auto& g, const auto& v, const auto&, const auto& w) {
            device().MomentumOfLanes(g, StepsFor(momentum_on_device, rows, cols), nullptr, v, w);
          });
      const Numbers adapted =
          Run(before, [&](const auto& g, const auto& m, const auto& s, const auto& w) {
            device().AdamOfLanes(g, StepsFor(adam_on_device, rows, cols), nullptr, m, s, w);
          });
      for (std::int64_t i = 0; i < lanes; ++i) {
        const Numbers own = LaneOf(before, order, i, lanes);
        ExpectSame(LaneOf(moved, order, i, lanes),
                   Run(own, [&](const auto& g, const auto& v, const auto&, const auto& w) {
                     device().Momentum(g, momentum[i], nullptr, v, w);
                   }));
        ExpectSame(LaneOf(adapted, order, i, lanes),
                   Run(own, [&](const auto& g, const auto& m, const auto& s, const auto& w) {
                     device().Adam(g, adam[i], nullptr, m, s, w);
                   }));
      }
    }
  }
}

// Decay with plain SGD: each lane has its own learning rate and keep. Rate 0 freezes a lane.
TEST_P(StepsOfLanes, WithoutMomentumNeedNoVelocity) {
  const std::vector<MomentumStep> steps = {{.learning_rate = 0.1f, .momentum = 0, .keep = 0.9f},
                                           {.learning_rate = 0, .momentum = 0, .keep = 1},
                                           {.learning_rate = 0.5f, .momentum = 0, .keep = 0}};
  const DeviceArray<MomentumStep> on_device(device(), steps, 3);
  const Numbers before = MakeNumbers(4, 15);
  const Numbers after = Run(before, [&](const auto& g, const auto&, const auto&, const auto& w) {
    device().MomentumOfLanes(g, StepsFor(on_device, 4, 5), nullptr, {}, w);
  });
  for (std::int64_t i = 0; i < 3; ++i) {
    const Matrix w = before.w.middleCols(5 * i, 5), g = before.gradient.middleCols(5 * i, 5);
    ExpectClose(after.w.middleCols(5 * i, 5),
                double{steps[i].keep} * w - double{steps[i].learning_rate} * g, Abs(w) + Abs(g));
  }
  EXPECT_EQ(after.w.middleCols(5, 5), before.w.middleCols(5, 5));
  EXPECT_EQ(after.first, before.first);
}

// Sparse layers: rows 1, 4 and 5 of seven, which 0, 3 and 200 updates skipped.
TEST_P(StepsOfLanes, MakeUpForSkippedUpdatesLaneByLane) {
  const std::vector<std::int32_t> rows = {1, 4, 5}, skipped = {0, 3, 200};
  const DeviceArray<std::int32_t> rows_on_device(device(), rows, 3),
      skipped_on_device(device(), skipped, 5);
  const TouchedRows touched{rows_on_device.view(), skipped_on_device.view()};
  const std::vector<MomentumStep> momentum = {MomentumOf(0), MomentumOf(1), MomentumOf(2)};
  const std::vector<AdamStep> adam = {AdamOf(0), AdamOf(1), AdamOf(2)};
  const DeviceArray<MomentumStep> momentum_on_device(device(), momentum);
  const DeviceArray<AdamStep> adam_on_device(device(), adam);
  for (const std::int64_t cols : {1, 5, 300}) {
    Numbers before = MakeNumbers(7, 3 * cols);
    before.gradient = Random(3, 3 * cols);
    const Numbers moved =
        Run(before, [&](const auto& g, const auto& v, const auto&, const auto& w) {
          device().MomentumOfLanes(g, StepsFor(momentum_on_device, 7, cols), &touched, v, w);
        });
    const Numbers adapted =
        Run(before, [&](const auto& g, const auto& m, const auto& s, const auto& w) {
          device().AdamOfLanes(g, StepsFor(adam_on_device, 7, cols), &touched, m, s, w);
        });
    for (std::int64_t i = 0; i < 3; ++i) {
      const Numbers own = LaneOf(before, Order::kSideBySide, i, 3);
      ExpectSame(LaneOf(moved, Order::kSideBySide, i, 3),
                 Run(own, [&](const auto& g, const auto& v, const auto&, const auto& w) {
                   device().Momentum(g, momentum[i], &touched, v, w);
                 }));
      ExpectSame(LaneOf(adapted, Order::kSideBySide, i, 3),
                 Run(own, [&](const auto& g, const auto& m, const auto& s, const auto& w) {
                   device().Adam(g, adam[i], &touched, m, s, w);
                 }));
    }
  }
}

TEST_P(StepsOfLanes, ThatAreNanLeaveTheOthersAlone) {
  const std::vector<AdamStep> steps = {AdamOf(0), AdamOf(1), AdamOf(2)};
  const DeviceArray<AdamStep> on_device(device(), steps);
  const Numbers sound = MakeNumbers(6, 21);
  Numbers broken = sound;
  broken.gradient.middleCols(7, 7).setConstant(std::numeric_limits<double>::quiet_NaN());
  const auto step = [&](const auto& g, const auto& m, const auto& s, const auto& w) {
    device().AdamOfLanes(g, StepsFor(on_device, 6, 7), nullptr, m, s, w);
  };
  const Numbers expected = Run(sound, step), got = Run(broken, step);
  EXPECT_EQ(got.w.leftCols(7), expected.w.leftCols(7));
  EXPECT_EQ(got.w.rightCols(7), expected.w.rightCols(7));
  EXPECT_TRUE(got.w.middleCols(7, 7).array().isNaN().all());
}

}  // namespace
}  // namespace hogbatch
