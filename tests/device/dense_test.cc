#include <limits>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

struct DenseShape {
  std::int64_t rows, in, out;
};

// One row, odd widths, the widths of real networks, one very long side.
constexpr DenseShape kDenseShapes[] = {
    {1, 1, 1},     {1, 54, 512},  {1, 512, 512},  {3, 7, 5},      {2, 512, 2},
    {16, 54, 33},  {17, 512, 2},  {16, 512, 512}, {5, 10000, 3},  {4, 3, 10000},
    {64, 129, 65}, {33, 70, 130}, {128, 64, 512}, {300, 100, 70}, {65, 513, 31}};

class Dense : public OnEveryDevice {};
HOGBATCH_ON_EVERY_DEVICE(Dense);

TEST_P(Dense, ForwardIsTheProductWithBiasAndActivation) {
  for (const auto& [rows, in, out] : kDenseShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out);
    const Matrix x = Random(rows, in), w = Random(in, out), bias = Random(1, out);
    const Matrix sum = (x * w).rowwise() + bias.row(0);
    const Matrix magnitude = (Abs(x) * Abs(w)).rowwise() + Abs(bias).row(0);
    const DeviceMatrix dx(device(), x), dw(device(), w), db(device(), bias);
    for (Activation f : kAllActivations) {
      DeviceMatrix y(device(), Random(rows, out)), pre(device(), Random(rows, out));
      device().DenseForward(dx.tensor(), dw.tensor(), db.tensor(), f, y.tensor(), pre.tensor());
      ExpectClose(pre.Get(), sum, magnitude);
      // No slope exceeds 1.13, so an error of the sum is hardly larger behind the activation.
      ExpectClose(y.Get(), Activated(f, sum), 1.2 * magnitude + Abs(Activated(f, sum)));
    }
  }
}

TEST_P(Dense, UpdateAndForwardIsTheUpdateAndThenTheForwardPass) {
  for (const auto& [rows, in, out] : kDenseShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out);
    const Matrix x = Random(rows, in), before_x = Random(rows, in), before_dy = Random(rows, out);
    const Matrix w = Random(in, out), bias = Random(1, out);
    const Matrix product = before_x.transpose() * before_dy;
    const Matrix after = 0.9 * w - 0.125 * product;
    const Matrix after_bias = bias - 0.125 * before_dy.colwise().sum();
    const Matrix sizes = Abs(w) + Abs(before_x).transpose() * Abs(before_dy);
    const Matrix bias_sizes = Abs(bias) + Abs(before_dy).colwise().sum();
    const Matrix sum = (x * after).rowwise() + after_bias.row(0);
    const Matrix magnitude = (Abs(x) * sizes).rowwise() + bias_sizes.row(0);
    const DeviceMatrix dx(device(), x), before(device(), before_x, 1), dy(device(), before_dy, 2);
    for (const bool copies : {false, true}) {
      DeviceMatrix dw(device(), w), db(device(), bias), copy(device(), w, 3);
      DeviceMatrix y(device(), Random(rows, out)), pre(device(), Random(rows, out));
      device().UpdateAndForward(
          {.x = before.tensor(), .dy = dy.tensor(), .scale = -0.125f, .keep = 0.9f}, dx.tensor(),
          dw.tensor(), db.tensor(), Activation::kTanh, y.tensor(), pre.tensor(),
          copies ? copy.tensor() : Tensor{});
      ExpectClose(dw.Get(), after, sizes);
      ExpectClose(db.Get(), after_bias, bias_sizes);
      ExpectClose(y.Get(), Activated(Activation::kTanh, sum), 1.2 * magnitude);
      if (copies) {
        EXPECT_EQ(copy.Get(), dw.Get());
      }
    }
  }
}

// Not to the bit: without it a library may do all in one go, in an order of its own.
TEST_P(Dense, ForwardNeedsNoPlaceForTheSum) {
  for (const auto& [rows, in, out] : {DenseShape{1, 1, 1}, {9, 21, 13}, {33, 70, 130}}) {
    const Matrix x = Random(rows, in), w = Random(in, out), bias = Random(1, out);
    const Matrix sum = (x * w).rowwise() + bias.row(0);
    const Matrix magnitude = (Abs(x) * Abs(w)).rowwise() + Abs(bias).row(0);
    const DeviceMatrix dx(device(), x, 2), dw(device(), w, 1), db(device(), bias);
    for (Activation f : kAllActivations) {
      DeviceMatrix y(device(), Random(rows, out), 3);
      device().DenseForward(dx.tensor(), dw.tensor(), db.tensor(), f, y.tensor(), {});
      ExpectClose(y.Get(), Activated(f, sum), 1.2 * magnitude + Abs(Activated(f, sum)));
    }
  }
}

TEST_P(Dense, ForwardRespectsStridesAndShortBatches) {
  const Matrix x = Random(12, 10), w = Random(10, 6), bias = Random(1, 6), before = Random(12, 6);
  const DeviceMatrix dx(device(), x, 3), dw(device(), w, 5), db(device(), bias, 4);
  DeviceMatrix y(device(), before, 2), pre(device(), before, 7);
  device().DenseForward(dx.tensor().Rows(5), dw.tensor(), db.tensor(), Activation::kGelu,
                        y.tensor().Rows(5), pre.tensor().Rows(5));
  const Matrix sum = (x.topRows(5) * w).rowwise() + bias.row(0);
  Matrix expected = before;
  expected.topRows(5) = Activated(Activation::kGelu, sum);
  ExpectClose(y.Get(), expected, Matrix::Constant(12, 6, 10));
  EXPECT_EQ(y.Get().bottomRows(7), before.bottomRows(7));
  EXPECT_EQ(pre.Get().bottomRows(7), before.bottomRows(7));
}

TEST_P(Dense, BackwardToDataIsTheTransposedProductTimesTheSlope) {
  for (const auto& [rows, in, out] : kDenseShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out);
    const Matrix dy = Random(rows, out), w = Random(in, out), pre = Random(rows, in, -3, 3);
    const Matrix product = dy * w.transpose(), magnitude = Abs(dy) * Abs(w).transpose();
    const DeviceMatrix ddy(device(), dy), dw(device(), w), dpre(device(), pre);
    for (Activation f : kAllActivations) {
      const DeviceMatrix x(device(), Activated(f, pre));
      DeviceMatrix dx(device(), Random(rows, in));
      device().DenseBackwardData(ddy.tensor(), dw.tensor(), f, x.tensor(),
                                 f == Activation::kGelu ? dpre.tensor() : Tensor{}, dx.tensor());
      ExpectClose(dx.Get(), product.cwiseProduct(Slope(f, pre)), 1.2 * magnitude);
    }
  }
}

TEST_P(Dense, BackwardToDataRespectsStridesAndShortBatches) {
  const Matrix dy = Random(9, 6), w = Random(10, 6), x = Random(9, 10, 0, 1),
               before = Random(9, 10);
  const DeviceMatrix ddy(device(), dy, 1), dw(device(), w, 2), dx_of(device(), x, 3);
  DeviceMatrix dx(device(), before, 4);
  device().DenseBackwardData(ddy.tensor().Rows(4), dw.tensor(), Activation::kSigmoid,
                             dx_of.tensor().Rows(4), {}, dx.tensor().Rows(4));
  Matrix expected = before;
  expected.topRows(4) =
      (dy * w.transpose()).cwiseProduct(x.cwiseProduct(Matrix::Ones(9, 10) - x)).topRows(4);
  ExpectClose(dx.Get(), expected, Matrix::Constant(9, 10, 6));
}

TEST_P(Dense, BackwardToWeightsAddsTheScaledOuterProduct) {
  for (const auto& [rows, in, out] : kDenseShapes) {
    const Matrix x = Random(rows, in), dy = Random(rows, out);
    const Matrix before = Random(in, out), bias = Random(1, out);
    const DeviceMatrix dx(device(), x), ddy(device(), dy);
    for (const float keep : {0.0f, 1.0f, 0.9f}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out << " keep " << keep);
      const float scale = -0.01f;
      DeviceMatrix w(device(), before), b(device(), bias);
      device().DenseBackwardWeights(dx.tensor(), ddy.tensor(), scale, keep, w.tensor(), b.tensor());
      ExpectClose(w.Get(), double{keep} * before + double{scale} * x.transpose() * dy,
                  Abs(before) + 0.01 * Abs(x).transpose() * Abs(dy));
      ExpectClose(b.Get(), (keep == 0 ? 0.0 : 1.0) * bias + double{scale} * dy.colwise().sum(),
                  Abs(bias) + 0.01 * Abs(dy).colwise().sum());
    }
  }
}

// The weights that dx comes through are the ones that are updated.
TEST_P(Dense, BackwardUpdatesWeightsAfterTheirUse) {
  for (const auto& [rows, in, out] : kDenseShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out);
    const Matrix dy = Random(rows, out), before = Random(in, out), bias = Random(1, out);
    const Matrix x = Random(rows, in, 0, 1);
    const DeviceMatrix ddy(device(), dy, 1), x_of(device(), x, 2);
    DeviceMatrix w(device(), before, 3), b(device(), bias), dx(device(), Random(rows, in), 4);
    device().DenseBackward(ddy.tensor(), w.tensor(), Activation::kTanh, x_of.tensor(), {},
                           dx.tensor(), -0.5f, 0.9f, w.tensor(), b.tensor());
    const Matrix slope = Matrix::Ones(rows, in) - x.cwiseProduct(x);
    ExpectClose(dx.Get(), (dy * before.transpose()).cwiseProduct(slope),
                1.2 * Abs(dy) * Abs(before).transpose());
    ExpectClose(w.Get(), double{0.9f} * before - 0.5 * x.transpose() * dy,
                Abs(before) + Abs(x).transpose() * Abs(dy));
    ExpectClose(b.Get(), bias - 0.5 * dy.colwise().sum(), Abs(bias) + Abs(dy).colwise().sum());
  }
}

TEST_P(Dense, BackwardToWeightsWithKeepZeroForgetsEvenNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t rows : {1, 16, 128}) {
    const Matrix x = Random(rows, 70), dy = Random(rows, 33);
    const DeviceMatrix dx(device(), x), ddy(device(), dy);
    DeviceMatrix w(device(), Matrix::Constant(70, 33, nan));
    DeviceMatrix b(device(), Matrix::Constant(1, 33, nan));
    device().DenseBackwardWeights(dx.tensor(), ddy.tensor(), 1, 0, w.tensor(), b.tensor());
    ExpectClose(w.Get(), x.transpose() * dy, Abs(x).transpose() * Abs(dy));
    ExpectClose(b.Get(), dy.colwise().sum(), Abs(dy).colwise().sum());
  }
}

TEST_P(Dense, BackwardToWeightsRespectsStridesAndShortBatches) {
  for (const std::int64_t rows : {1, 5, 16, 70}) {
    const Matrix x = Random(80, 41), dy = Random(80, 27), before = Random(41, 27);
    const DeviceMatrix dx(device(), x, 3), ddy(device(), dy, 2);
    DeviceMatrix w(device(), before, 6), b(device(), Matrix::Zero(1, 27), 1);
    device().DenseBackwardWeights(dx.tensor().Rows(rows), ddy.tensor().Rows(rows), 0.5f, 1,
                                  w.tensor(), b.tensor());
    const Matrix few_x = x.topRows(rows), few_dy = dy.topRows(rows);
    ExpectClose(w.Get(), before + 0.5 * few_x.transpose() * few_dy,
                Abs(before) + Abs(few_x).transpose() * Abs(few_dy));
    ExpectClose(b.Get(), 0.5 * few_dy.colwise().sum(), Abs(few_dy).colwise().sum());
  }
}

TEST_P(Dense, BatchesWithoutRowsKeepOrClearWeightsAndDoNothingElse) {
  const Matrix before = Random(6, 5), bias = Random(1, 5);
  const DeviceMatrix x(device(), Random(2, 6)), y(device(), Random(2, 5));
  const Tensor no_x = x.tensor().Rows(0), no_y = y.tensor().Rows(0);
  const Matrix x_before = x.Get(), y_before = y.Get();
  for (const float keep : {0.0f, 1.0f, 0.5f}) {
    DeviceMatrix w(device(), before, 2), b(device(), bias);
    device().DenseForward(no_x, w.tensor(), b.tensor(), Activation::kRelu, no_y, {});
    device().DenseBackwardData(no_y, w.tensor(), Activation::kRelu, no_x, {}, no_x);
    EXPECT_EQ(x.Get(), x_before);
    EXPECT_EQ(y.Get(), y_before);
    device().DenseBackwardWeights(no_x, no_y, 1, keep, w.tensor(), b.tensor());
    EXPECT_EQ(w.Get(), double{keep} * before);
    EXPECT_EQ(b.Get(), (keep == 0 ? 0.0 : 1.0) * bias);
  }
}

TEST_P(Dense, NanInAWeightReachesItsOutputsThroughEveryActivation) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t rows : {1, 16, 70}) {
    Matrix w = Random(19, 35);
    w(4, 20) = nan;
    const Matrix x = Random(rows, 19, 0.1f, 1);
    const DeviceMatrix dx(device(), x), dw(device(), w), bias(device(), Matrix::Zero(1, 35));
    for (Activation f : kAllActivations) {
      DeviceMatrix y(device(), Random(rows, 35)), pre(device(), Random(rows, 35));
      device().DenseForward(dx.tensor(), dw.tensor(), bias.tensor(), f, y.tensor(), pre.tensor());
      const Matrix got = y.Get();
      EXPECT_TRUE(got.col(20).array().isNaN().all());
      EXPECT_FALSE(got.leftCols(20).array().isNaN().any());
      EXPECT_FALSE(got.rightCols(14).array().isNaN().any());
    }
  }
}

TEST_P(Dense, NanInAGradientReachesTheWeightsAndTheInputs) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t rows : {1, 16, 70}) {
    Matrix dy = Random(rows, 35);
    dy(rows / 2, 9) = nan;
    const DeviceMatrix ddy(device(), dy), x(device(), Random(rows, 19, 0.1f, 1));
    DeviceMatrix w(device(), Random(19, 35)), b(device(), Random(1, 35));
    DeviceMatrix dx(device(), Random(rows, 19));
    device().DenseBackwardData(ddy.tensor(), w.tensor(), Activation::kSigmoid, x.tensor(), {},
                               dx.tensor());
    device().DenseBackwardWeights(x.tensor(), ddy.tensor(), 1, 1, w.tensor(), b.tensor());
    EXPECT_TRUE(dx.Get().row(rows / 2).array().isNaN().all());
    EXPECT_TRUE(w.Get().col(9).array().isNaN().all());
    EXPECT_TRUE(std::isnan(b.Get()(0, 9)));
    EXPECT_FALSE(w.Get().leftCols(9).array().isNaN().any());
  }
}

TEST_P(Dense, ActivationsSaturateInsteadOfOverflowing) {
  const double inf = std::numeric_limits<double>::infinity();
  Matrix x(1, 8);
  x << -inf, -1000, -90, -1e-6, 1e-6, 90, 1000, inf;
  const DeviceMatrix dx(device(), x.transpose()), w(device(), Matrix::Ones(1, 1));
  const DeviceMatrix bias(device(), Matrix::Zero(1, 1));
  for (Activation f : {Activation::kSigmoid, Activation::kTanh, Activation::kRelu}) {
    DeviceMatrix y(device(), Matrix::Zero(8, 1));
    device().DenseForward(dx.tensor(), w.tensor(), bias.tensor(), f, y.tensor(), {});
    const Matrix expected = Activated(f, x.transpose());
    ExpectClose(y.Get(), expected, Abs(expected).array() + 1e-30);
  }
}

}  // namespace
}  // namespace hogbatch
