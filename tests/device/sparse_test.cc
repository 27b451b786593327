#include <limits>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

struct SparseShape {
  std::int64_t rows, in, out;
  double density;
};
constexpr SparseShape kSparseShapes[] = {
    {1, 1, 1, 1},      {1, 50, 512, 1},      {6, 30, 7, 0.3},     {16, 900, 512, 0.1},
    {16, 20, 65, 0.8}, {11, 10000, 5, 0.01}, {7, 12, 10000, 0.5}, {64, 400, 33, 0.05}};

class Sparse : public OnEveryDevice {};
HOGBATCH_ON_EVERY_DEVICE(Sparse);

TEST_P(Sparse, ForwardEqualsTheDenseProduct) {
  for (const auto& [rows, in, out, density] : kSparseShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out);
    const Matrix w = Random(in, out), bias = Random(1, out);
    const DeviceCsr x(device(), Random(rows, in), density);
    const DeviceMatrix dw(device(), w), db(device(), bias);
    const Matrix sum = (x.dense() * w).rowwise() + bias.row(0);
    const Matrix magnitude = (Abs(x.dense()) * Abs(w)).rowwise() + Abs(bias).row(0);
    for (Activation f : kAllActivations) {
      DeviceMatrix y(device(), Random(rows, out)), pre(device(), Random(rows, out));
      device().SparseForward(x.tensor(), dw.tensor(), db.tensor(), f, y.tensor(), pre.tensor());
      ExpectClose(pre.Get(), sum, magnitude);
      ExpectClose(y.Get(), Activated(f, sum), 1.2 * magnitude + Abs(Activated(f, sum)));
    }
  }
}

TEST_P(Sparse, ForwardRespectsStrides) {
  const Matrix w = Random(40, 19), bias = Random(1, 19);
  const DeviceCsr x(device(), Random(8, 40), 0.4);
  const DeviceMatrix dw(device(), w, 3), db(device(), bias, 2);
  DeviceMatrix y(device(), Random(8, 19), 1), pre(device(), Random(8, 19), 4);
  device().SparseForward(x.tensor(), dw.tensor(), db.tensor(), Activation::kGelu, y.tensor(),
                         pre.tensor());
  const Matrix sum = (x.dense() * w).rowwise() + bias.row(0);
  const Matrix magnitude = (Abs(x.dense()) * Abs(w)).rowwise() + Abs(bias).row(0);
  ExpectClose(pre.Get(), sum, magnitude);
  ExpectClose(y.Get(), Activated(Activation::kGelu, sum), 1.2 * magnitude);
}

TEST_P(Sparse, ForwardOfEmptyRowsIsTheBias) {
  const Matrix bias = Random(1, 37);
  const DeviceCsr x(device(), Random(4, 20), 0);
  const DeviceMatrix w(device(), Random(20, 37)), db(device(), bias);
  DeviceMatrix y(device(), Random(4, 37), 3);
  device().SparseForward(x.tensor(), w.tensor(), db.tensor(), Activation::kIdentity, y.tensor(),
                         {});
  EXPECT_EQ(y.Get(), bias.replicate(4, 1));
}

TEST_P(Sparse, BackwardToWeightsEqualsTheDenseProduct) {
  for (const auto& [rows, in, out, density] : kSparseShapes) {
    const Matrix dy = Random(rows, out), before = Random(in, out), bias = Random(1, out);
    const DeviceCsr x(device(), Random(rows, in), density);
    const DeviceMatrix ddy(device(), dy, 2);
    for (const float keep : {0.0f, 1.0f}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << in << " x " << out << " keep " << keep);
      DeviceMatrix w(device(), before, 1), b(device(), bias, 3);
      device().SparseBackwardWeights(x.tensor(), ddy.tensor(), -0.1f, keep, w.tensor(), b.tensor());
      const double scale = -0.1f;
      ExpectClose(w.Get(), double{keep} * before + scale * x.dense().transpose() * dy,
                  Abs(before) + 0.1 * Abs(x.dense()).transpose() * Abs(dy));
      ExpectClose(b.Get(), double{keep} * bias + scale * dy.colwise().sum(),
                  Abs(bias) + 0.1 * Abs(dy).colwise().sum());
    }
  }
}

TEST_P(Sparse, BackwardToWeightsLeavesUnnamedRowsAlone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DeviceCsr x(device(), Random(1, 3), 1);  // names rows 0, 1 and 2 of nine
  Matrix before = Random(9, 40);
  before.bottomRows(6).setConstant(nan);
  DeviceMatrix w(device(), before), b(device(), Matrix::Zero(1, 40));
  const DeviceMatrix dy(device(), Random(1, 40));
  CsrTensor wide = x.tensor();
  wide.cols = 9;
  device().SparseBackwardWeights(wide, dy.tensor(), 1, 1, w.tensor(), b.tensor());
  EXPECT_TRUE(w.Get().bottomRows(6).array().isNaN().all());
  EXPECT_FALSE(w.Get().topRows(3).array().isNaN().any());
}

TEST_P(Sparse, BackwardToWeightsNeedsNoBias) {
  const Matrix dy = Random(9, 21), before = Random(30, 21);
  const DeviceCsr x(device(), Random(9, 30), 0.3);
  const DeviceMatrix ddy(device(), dy, 2);
  for (const float keep : {0.0f, 1.0f}) {
    DeviceMatrix w(device(), before, 1);
    device().SparseBackwardWeights(x.tensor(), ddy.tensor(), -2, keep, w.tensor(), {});
    ExpectClose(w.Get(), double{keep} * before - 2 * x.dense().transpose() * dy,
                Abs(before) + 2 * Abs(x.dense()).transpose() * Abs(dy));
  }
}

TEST_P(Sparse, NanInAWeightReachesTheRowsThatNameIt) {
  Matrix w = Random(10, 21);
  w(3, 20) = std::numeric_limits<double>::quiet_NaN();
  const DeviceCsr x(device(), Random(1, 10, 0.1f, 1), 1);
  const DeviceMatrix dw(device(), w), bias(device(), Matrix::Zero(1, 21));
  DeviceMatrix y(device(), Random(1, 21));
  device().SparseForward(x.tensor(), dw.tensor(), bias.tensor(), Activation::kRelu, y.tensor(), {});
  EXPECT_TRUE(std::isnan(y.Get()(0, 20)));
  EXPECT_FALSE(y.Get().leftCols(20).array().isNaN().any());
}

}  // namespace
}  // namespace hogbatch
