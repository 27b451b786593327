#include <cmath>
#include <limits>
#include <utility>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

class Steps : public OnEveryDevice {};
HOGBATCH_ON_EVERY_DEVICE(Steps);

struct StepShape {
  std::int64_t rows, cols;
};
constexpr StepShape kStepShapes[] = {{1, 1}, {1, 10000}, {3, 7}, {64, 129}, {5, 512}};

TEST_P(Steps, AddScaledKeepsAndAdds) {
  for (const auto& [rows, cols] : kStepShapes) {
    const Matrix x = Random(rows, cols), y = Random(rows, cols);
    const DeviceMatrix dx(device(), x, 2);
    for (const float keep : {0.0f, 1.0f, 0.9f}) {
      DeviceMatrix dy(device(), y, 5);
      device().AddScaled(dx.tensor(), -0.3f, keep, dy.tensor());
      ExpectClose(dy.Get(), double{keep} * y + double{-0.3f} * x, Abs(x) + Abs(y));
    }
  }
}

// Places among nine rows. Row i of x goes to places[i].
TEST_P(Steps, AddRowsAddsEachRowInItsPlace) {
  const std::vector<std::int32_t> all_places[] = {
      {0}, {8}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 4, 5}, {-1, 2, -1, -1, 7, -1}, {-1, -1}};
  for (const std::int64_t cols : {1, 7, 129, 10000}) {
    const Matrix before = Random(9, cols);
    for (const std::vector<std::int32_t>& places : all_places) {
      SCOPED_TRACE(testing::PrintToString(places));
      const Matrix x = Random(static_cast<std::int64_t>(places.size()), cols);
      const DeviceMatrix dx(device(), x, 2);
      const DeviceArray<std::int32_t> rows(device(), places, 3);
      DeviceMatrix y(device(), before, 5);
      device().AddRows(dx.tensor(), rows.view(), -0.3f, y.tensor());
      Matrix after = before;
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] >= 0) after.row(places[i]) += double{-0.3f} * x.row(i);
      }
      ExpectClose(y.Get(), after, Abs(before) + Abs(after));
    }
  }
}

TEST_P(Steps, AddRowsLeavesOtherRowsAlone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Matrix x = Random(3, 33), before = Random(6, 33);
  x.row(1).setConstant(nan);
  before.row(0).setConstant(nan);
  const DeviceMatrix dx(device(), x);
  const DeviceArray<std::int32_t> rows(device(), {1, -1, 4});
  DeviceMatrix y(device(), before);
  device().AddRows(dx.tensor(), rows.view(), 1, y.tensor());
  const Matrix after = y.Get();
  EXPECT_TRUE(after.row(0).array().isNaN().all());
  EXPECT_FALSE(after.bottomRows(5).array().isNaN().any());
  for (const int r : {2, 3, 5}) EXPECT_EQ(after.row(r), before.row(r));
}

TEST_P(Steps, AddRowsOfNoRowsChangesNothing) {
  const Matrix before = Random(4, 9);
  DeviceMatrix y(device(), before);
  const DeviceMatrix x(device(), Random(1, 9));
  const DeviceArray<std::int32_t> rows(device(), {2});
  device().AddRows(x.tensor().Rows(0), rows.view().Sub(0, 0), 1, y.tensor());
  EXPECT_EQ(y.Get(), before);
}

TEST_P(Steps, ScaleRowsMultipliesEachRowByItsFactor) {
  for (const auto& [rows, cols] : kStepShapes) {
    const Matrix before = Random(rows, cols), factors = Random(rows, 1);
    std::vector<float> given(static_cast<std::size_t>(rows));
    for (std::int64_t r = 0; r < rows; ++r) given[r] = static_cast<float>(factors(r, 0));
    given.front() = 0;
    const DeviceArray<float> array(device(), given, 3);
    DeviceMatrix y(device(), before, 5);
    device().ScaleRows(array.view(), y.tensor());
    Matrix after = before;
    for (std::int64_t r = 0; r < rows; ++r) after.row(r) *= double{given[r]};
    ExpectClose(y.Get(), after, Abs(before));
  }
}

TEST_P(Steps, ScaleRowsLeavesOtherRowsAlone) {
  const Matrix before = Random(5, 33);
  DeviceMatrix y(device(), before);
  const DeviceArray<float> factors(device(), {2, 3});
  device().ScaleRows(factors.view(), y.tensor().Slice(1, 2));
  Matrix after = before;
  after.row(1) *= 2;
  after.row(2) *= 3;
  ExpectClose(y.Get(), after, Abs(before));
  EXPECT_EQ(y.Get().bottomRows(2), before.bottomRows(2));
}

TEST_P(Steps, FillWritesEveryElementAndNothingElse) {
  DeviceMatrix y(device(), Random(9, 13), 3);
  device().Fill(y.tensor().Rows(8), 2.5f);
  EXPECT_EQ(y.Get().topRows(8), Matrix::Constant(8, 13, 2.5));
  EXPECT_NE(y.Get()(8, 0), 2.5);
}

TEST_P(Steps, MomentumAccumulatesVelocityAndMovesAgainstIt) {
  const MomentumStep step{.learning_rate = 0.1f, .momentum = 0.9f, .keep = 0.99f};
  for (const auto& [rows, cols] : kStepShapes) {
    const Matrix g = Random(rows, cols), v = Random(rows, cols), w = Random(rows, cols);
    const DeviceMatrix dg(device(), g, 1);
    DeviceMatrix dv(device(), v, 2), dw(device(), w, 3);
    device().Momentum(dg.tensor(), step, nullptr, dv.tensor(), dw.tensor());
    const Matrix after = double{step.momentum} * v + g;
    ExpectClose(dv.Get(), after, Abs(v) + Abs(g));
    ExpectClose(dw.Get(), double{step.keep} * w - double{step.learning_rate} * after,
                Abs(w) + Abs(v) + Abs(g));
  }
}

TEST_P(Steps, AdamScalesTheMeanByTheRootOfTheSquare) {
  const AdamStep step{
      .learning_rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .keep = 0.99f};
  for (const auto& [rows, cols] : kStepShapes) {
    const Matrix g = Random(rows, cols), w = Random(rows, cols);
    const Matrix mean = Random(rows, cols), square = Random(rows, cols, 0, 1);
    const DeviceMatrix dg(device(), g, 4);
    DeviceMatrix dm(device(), mean, 3), ds(device(), square, 2), dw(device(), w, 1);
    device().Adam(dg.tensor(), step, nullptr, dm.tensor(), ds.tensor(), dw.tensor());
    const double b1 = step.beta1, b2 = step.beta2;
    const Matrix m = b1 * mean + (1 - b1) * g;
    const Matrix s = b2 * square + (1 - b2) * g.cwiseAbs2();
    const Matrix move = double{step.learning_rate} * m.array() / (s.array().sqrt() + step.epsilon);
    ExpectClose(dm.Get(), m, Abs(mean) + Abs(g));
    ExpectClose(ds.Get(), s, Abs(s));
    ExpectClose(dw.Get(), double{step.keep} * w - move, Abs(w) + Abs(move));
  }
}

TEST_P(Steps, WithoutMomentumNeedNoVelocity) {
  const Matrix g = Random(5, 33), w = Random(5, 33);
  const DeviceMatrix dg(device(), g, 1);
  for (const float keep : {1.0f, 0.9f}) {
    DeviceMatrix dw(device(), w, 2);
    device().Momentum(dg.tensor(), {.learning_rate = 0.1f, .momentum = 0, .keep = keep}, nullptr,
                      {}, dw.tensor());
    ExpectClose(dw.Get(), double{keep} * w - double{0.1f} * g, Abs(w) + Abs(g));
  }
}

// Rows 1, 4 and 5 of seven, passed by 0, 3 and 200 times.
class TouchedSteps : public OnEveryDevice {
 protected:
  static constexpr std::int64_t kCols = 37;
  const std::vector<std::int32_t> rows_ = {1, 4, 5}, skipped_ = {0, 3, 200};
  DeviceArray<std::int32_t> on_device_{device(), rows_, 3};
  DeviceArray<std::int32_t> skipped_on_device_{device(), skipped_, 5};
  TouchedRows touched_{on_device_.view(), skipped_on_device_.view()};

  // The touched rows alone.
  Matrix Touched(const Matrix& all) const {
    Matrix some(static_cast<std::int64_t>(rows_.size()), all.cols());
    for (std::size_t i = 0; i < rows_.size(); ++i) some.row(i) = all.row(rows_[i]);
    return some;
  }

  // One update after the other, with gradient 0 until the last.
  static void Replay(const MomentumStep& step, const Matrix& g, int skipped, Matrix& v, Matrix& w) {
    for (int update = 0; update <= skipped; ++update) {
      v *= step.momentum;
      if (update == skipped) v += g;
      w = step.keep * w - step.learning_rate * v;
    }
  }
};
HOGBATCH_ON_EVERY_DEVICE(TouchedSteps);

constexpr std::pair<float, float> kMomentumAndKeep[] = {
    {0.9f, 1.0f}, {0.9f, 0.995f}, {0.9f, 0.9f}, {0.9f, 0.89999998f}, {0.9f, 0.5f}, {0.0f, 0.99f}};

TEST_P(TouchedSteps, MomentumMakesUpForTheUpdatesThatPassedARowBy) {
  for (const auto& [momentum, keep] : kMomentumAndKeep) {
    const MomentumStep step{.learning_rate = 0.1f, .momentum = momentum, .keep = keep};
    const Matrix g = Random(3, kCols), v = Random(7, kCols), w = Random(7, kCols);
    const DeviceMatrix dg(device(), g, 1);
    DeviceMatrix dv(device(), v, 2), dw(device(), w, 3);
    device().Momentum(dg.tensor(), step, &touched_, dv.tensor(), dw.tensor());
    Matrix v_after = v, w_after = w;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Matrix v_row = v.row(rows_[i]), w_row = w.row(rows_[i]);
      Replay(step, g.row(i), skipped_[i], v_row, w_row);
      v_after.row(rows_[i]) = v_row;
      w_after.row(rows_[i]) = w_row;
    }
    ExpectClose(dv.Get(), v_after, Abs(v_after).array() + 1);
    ExpectClose(dw.Get(), w_after, Abs(w_after).array() + 1);
    EXPECT_EQ(dw.Get().row(6), w.row(6));
  }
}

TEST_P(TouchedSteps, MomentumMakesUpForVeryManyUpdates) {
  constexpr std::int32_t kMany = 100'000;
  const DeviceArray<std::int32_t> row(device(), {0}), skipped(device(), {kMany});
  const TouchedRows touched{row.view(), skipped.view()};
  for (const auto& [momentum, keep] : {std::pair{0.9f, 0.999999f}, {0.99999f, 1.0f}}) {
    const MomentumStep step{.learning_rate = 1e-5f, .momentum = momentum, .keep = keep};
    const Matrix g = Random(1, kCols);
    Matrix v = Random(1, kCols), w = Random(1, kCols);
    const DeviceMatrix dg(device(), g);
    DeviceMatrix dv(device(), v), dw(device(), w);
    device().Momentum(dg.tensor(), step, &touched, dv.tensor(), dw.tensor());
    Replay(step, g, kMany, v, w);
    ExpectClose(dv.Get(), v, Abs(v).array() + 1);
    ExpectClose(dw.Get(), w, Abs(w).array() + 1);
  }
}

// Weights of a sparse layer travel to a device as the rows a batch touches; its state stays there.
TEST_P(TouchedSteps, TakeWeightsThatAreTheTouchedRowsAlone) {
  const Matrix g = Random(3, kCols), w = Random(7, kCols), mean = Random(7, kCols);
  const Matrix square = Random(7, kCols, 0.1f, 1);
  const DeviceMatrix dg(device(), g, 1);
  const MomentumStep momentum{.learning_rate = 0.1f, .momentum = 0.9f, .keep = 0.99f};
  const AdamStep adam{
      .learning_rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .keep = 0.999f};
  DeviceMatrix all(device(), w, 2), some(device(), Touched(w), 3);
  const auto expect_same = [&](const DeviceMatrix& with_all, const DeviceMatrix& with_some) {
    EXPECT_EQ(Touched(all.Get()), some.Get());
    EXPECT_EQ(with_all.Get(), with_some.Get());
    EXPECT_NE(Touched(w), some.Get());
  };
  DeviceMatrix v1(device(), mean, 1), v2(device(), mean);
  device().Momentum(dg.tensor(), momentum, &touched_, v1.tensor(), all.tensor());
  device().Momentum(dg.tensor(), momentum, &touched_, v2.tensor(), some.tensor());
  expect_same(v1, v2);
  device().Momentum(dg.tensor(), {.learning_rate = 0.1f, .momentum = 0}, &touched_, {},
                    all.tensor());
  device().Momentum(dg.tensor(), {.learning_rate = 0.1f, .momentum = 0}, &touched_, {},
                    some.tensor());
  expect_same(v1, v2);
  DeviceMatrix m1(device(), mean), s1(device(), square, 1), m2(device(), mean, 2),
      s2(device(), square);
  device().Adam(dg.tensor(), adam, &touched_, m1.tensor(), s1.tensor(), all.tensor());
  device().Adam(dg.tensor(), adam, &touched_, m2.tensor(), s2.tensor(), some.tensor());
  expect_same(m1, m2);
  EXPECT_EQ(s1.Get(), s2.Get());
}

TEST_P(TouchedSteps, WithoutMomentumNeedNoVelocity) {
  const MomentumStep step{.learning_rate = 0.1f, .momentum = 0, .keep = 0.99f};
  const Matrix g = Random(3, kCols), w = Random(7, kCols);
  const DeviceMatrix dg(device(), g);
  DeviceMatrix dw(device(), w);
  device().Momentum(dg.tensor(), step, &touched_, {}, dw.tensor());
  Matrix w_after = w;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double keep = std::pow(double{step.keep}, skipped_[i] + 1);
    w_after.row(rows_[i]) = keep * w.row(rows_[i]) - double{step.learning_rate} * g.row(i);
  }
  ExpectClose(dw.Get(), w_after, Abs(w).array() + 1);
}

TEST_P(TouchedSteps, AdamFadesMomentsAndDecaysWithoutReplayingSteps) {
  const AdamStep step{
      .learning_rate = 0.01f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f, .keep = 0.999f};
  const Matrix g = Random(3, kCols), w = Random(7, kCols);
  const Matrix mean = Random(7, kCols), square = Random(7, kCols, 0.1f, 1);
  const DeviceMatrix dg(device(), g, 4);
  DeviceMatrix dm(device(), mean, 3), ds(device(), square, 2), dw(device(), w, 1);
  device().Adam(dg.tensor(), step, &touched_, dm.tensor(), ds.tensor(), dw.tensor());
  Matrix m = mean, s = square, w_after = w;
  const double b1 = step.beta1, b2 = step.beta2;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const int r = rows_[i];
    m.row(r) = std::pow(b1, skipped_[i] + 1) * mean.row(r) + (1 - b1) * g.row(i);
    s.row(r) = std::pow(b2, skipped_[i] + 1) * square.row(r) + (1 - b2) * g.row(i).cwiseAbs2();
    w_after.row(r) *= std::pow(double{step.keep}, skipped_[i] + 1);
    w_after.row(r).array() -=
        double{step.learning_rate} * m.row(r).array() / (s.row(r).array().sqrt() + step.epsilon);
  }
  ExpectClose(dm.Get(), m, Abs(m).array() + 1);
  ExpectClose(ds.Get(), s);
  ExpectClose(dw.Get(), w_after, Abs(w_after).array() + 1);
  EXPECT_EQ(dw.Get().row(0), w.row(0));
}

}  // namespace
}  // namespace hogbatch
