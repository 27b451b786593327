// Lanes: what a call makes of several models is what it makes of each of them alone.
#include <limits>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

struct LaneShape {
  std::int64_t lanes, rows, in, out;
};

// One lane and many, odd widths, thin and wide layers, the widths of real networks.
constexpr LaneShape kLaneShapes[] = {{1, 5, 7, 3},     {2, 1, 1, 1},     {3, 3, 7, 5},
                                     {5, 16, 64, 64},  {33, 16, 64, 2},  {8, 17, 20, 10},
                                     {64, 1, 9, 3},    {3, 70, 65, 130}, {4, 130, 20, 4},
                                     {2, 16, 100, 33}, {7, 15, 5, 17},   {2, 4, 1030, 6}};

class Lanes : public OnEveryDevice {
 protected:
  static Matrix Columns(const Matrix& m, std::int64_t lane, std::int64_t lanes) {
    const std::int64_t width = m.cols() / lanes;
    return m.middleCols(lane * width, width);
  }
  static Matrix Rows(const Matrix& m, std::int64_t lane, std::int64_t lanes) {
    const std::int64_t height = m.rows() / lanes;
    return m.middleRows(lane * height, height);
  }
  // The matrices of a layer and what a pass makes of them.
  struct Layer {
    Matrix x, w, bias, dy;
  };
  struct Results {
    Matrix y, pre, dx, dw, dbias, w, b;
  };
  Layer MakeLayer(const LaneShape& s) {
    return {.x = Random(s.rows, s.lanes * s.in),
            .w = Random(s.lanes * s.in, s.out),
            .bias = Random(1, s.lanes * s.out),
            .dy = Random(s.rows, s.lanes * s.out)};
  }
  static Layer LaneOf(const Layer& all, std::int64_t lane, std::int64_t lanes) {
    return {.x = Columns(all.x, lane, lanes),
            .w = Rows(all.w, lane, lanes),
            .bias = Columns(all.bias, lane, lanes),
            .dy = Columns(all.dy, lane, lanes)};
  }
  static Results LaneOf(const Results& all, std::int64_t lane, std::int64_t lanes) {
    return {.y = Columns(all.y, lane, lanes),
            .pre = Columns(all.pre, lane, lanes),
            .dx = Columns(all.dx, lane, lanes),
            .dw = Rows(all.dw, lane, lanes),
            .dbias = Columns(all.dbias, lane, lanes),
            .w = Rows(all.w, lane, lanes),
            .b = Columns(all.b, lane, lanes)};
  }

  // All calls of a layer, on matrices with some padding. `keep` is of the gradient.
  Results Run(const Layer& layer, Activation f, float keep) {
    const DeviceMatrix x(device(), layer.x, 3), w(device(), layer.w, 1), bias(device(), layer.bias),
        dy(device(), layer.dy, 2);
    const Matrix before = Matrix::Constant(layer.w.rows(), layer.w.cols(), 0.5);
    DeviceMatrix y(device(), layer.dy, 5), pre(device(), layer.dy, 4), dx(device(), layer.x, 1);
    DeviceMatrix dw(device(), before, 7), dbias(device(), layer.bias);
    device().DenseForward(x.tensor(), w.tensor(), bias.tensor(), f, y.tensor(), pre.tensor());
    device().DenseBackwardData(dy.tensor(), w.tensor(), f, x.tensor(), x.tensor(), dx.tensor());
    device().DenseBackwardWeights(x.tensor(), dy.tensor(), 0.25f, keep, dw.tensor(),
                                  dbias.tensor());
    DeviceMatrix direct(device(), layer.w, 2), direct_bias(device(), layer.bias),
        again(device(), layer.x);
    device().DenseBackward(dy.tensor(), direct.tensor(), f, x.tensor(), x.tensor(), again.tensor(),
                           -0.125f, 0.9f, direct.tensor(), direct_bias.tensor());
    ExpectClose(again.Get(), dx.Get(), Abs(dx.Get()).array() + 1);
    return {y.Get(), pre.Get(), dx.Get(), dw.Get(), dbias.Get(), direct.Get(), direct_bias.Get()};
  }

  static void ExpectSame(const Results& actual, const Results& expected, double size) {
    const auto compare = [&](const Matrix& a, const Matrix& b) {
      ExpectClose(a, b, Matrix::Constant(b.rows(), b.cols(), size));
    };
    compare(actual.y, expected.y);
    compare(actual.pre, expected.pre);
    compare(actual.dx, expected.dx);
    compare(actual.dw, expected.dw);
    compare(actual.dbias, expected.dbias);
    compare(actual.w, expected.w);
    compare(actual.b, expected.b);
  }
  static void ExpectEqual(const Results& actual, const Results& expected) {
    EXPECT_EQ(actual.y, expected.y);
    EXPECT_EQ(actual.pre, expected.pre);
    EXPECT_EQ(actual.dx, expected.dx);
    EXPECT_EQ(actual.dw, expected.dw);
    EXPECT_EQ(actual.dbias, expected.dbias);
    EXPECT_EQ(actual.w, expected.w);
    EXPECT_EQ(actual.b, expected.b);
  }
};
HOGBATCH_ON_EVERY_DEVICE(Lanes);

TEST_P(Lanes, OfALayerAreLayersAlone) {
  for (const LaneShape& s : kLaneShapes) {
    SCOPED_TRACE(testing::Message()
                 << s.lanes << " of " << s.rows << " x " << s.in << " x " << s.out);
    const Layer all = MakeLayer(s);
    for (const float keep : {0.0f, 1.0f}) {
      const Activation f = keep == 0 ? Activation::kSigmoid : Activation::kGelu;
      const Results together = Run(all, f, keep);
      for (std::int64_t i = 0; i < s.lanes; ++i) {
        ExpectSame(LaneOf(together, i, s.lanes), Run(LaneOf(all, i, s.lanes), f, keep),
                   static_cast<double>(std::max({s.in, s.out, s.rows})));
      }
    }
  }
}

TEST_P(Lanes, OfALayerAreTheProductsInDouble) {
  for (const LaneShape& s : kLaneShapes) {
    const Layer all = MakeLayer(s);
    const Results together = Run(all, Activation::kIdentity, 0);
    for (std::int64_t i = 0; i < s.lanes; ++i) {
      const auto& [x, w, bias, dy] = LaneOf(all, i, s.lanes);
      const Results got = LaneOf(together, i, s.lanes);
      ExpectClose(got.y, (x * w).rowwise() + bias.row(0),
                  (Abs(x) * Abs(w)).rowwise() + Abs(bias).row(0));
      ExpectClose(got.dx, dy * w.transpose(), Abs(dy) * Abs(w).transpose());
      ExpectClose(got.dw, 0.25 * x.transpose() * dy, Abs(x).transpose() * Abs(dy));
      ExpectClose(got.w, double{0.9f} * w - 0.125 * x.transpose() * dy,
                  Abs(w) + Abs(x).transpose() * Abs(dy));
      ExpectClose(got.b, bias - 0.125 * dy.colwise().sum(), Abs(bias) + Abs(dy).colwise().sum());
    }
  }
}

TEST_P(Lanes, TakeADeferredUpdateAsTheyTakeTheTwoCalls) {
  for (const LaneShape& s : {LaneShape{4, 16, 12, 9}, {3, 5, 64, 2}}) {
    const Layer all = MakeLayer(s), before = MakeLayer(s);
    const DeviceMatrix x(device(), all.x, 1), old_x(device(), before.x, 2), dy(device(), before.dy);
    DeviceMatrix w(device(), all.w, 3), bias(device(), all.bias), y(device(), all.dy, 1);
    DeviceMatrix w2(device(), all.w), bias2(device(), all.bias), y2(device(), all.dy);
    DeviceMatrix copy(device(), before.w, 1);
    device().UpdateAndForward(
        {.x = old_x.tensor(), .dy = dy.tensor(), .scale = -0.5f, .keep = 0.75f}, x.tensor(),
        w.tensor(), bias.tensor(), Activation::kTanh, y.tensor(), {}, copy.tensor());
    device().DenseBackwardWeights(old_x.tensor(), dy.tensor(), -0.5f, 0.75f, w2.tensor(),
                                  bias2.tensor());
    device().DenseForward(x.tensor(), w2.tensor(), bias2.tensor(), Activation::kTanh, y2.tensor(),
                          {});
    ExpectClose(w.Get(), w2.Get(), Abs(w2.Get()).array() + 10);
    ExpectClose(bias.Get(), bias2.Get(), Abs(bias2.Get()).array() + 10);
    ExpectClose(y.Get(), y2.Get(), Matrix::Constant(s.rows, s.lanes * s.out, 100));
    EXPECT_EQ(copy.Get(), w.Get());
  }
}

// Neighbours do not change by a bit.
TEST_P(Lanes, ThatAreNanLeaveTheOthersAlone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const LaneShape& s : kLaneShapes) {
    if (s.lanes == 1) continue;
    SCOPED_TRACE(testing::Message()
                 << s.lanes << " of " << s.rows << " x " << s.in << " x " << s.out);
    const Layer sound = MakeLayer(s);
    Layer broken = sound;
    const std::int64_t bad = s.lanes / 2;
    broken.x.middleCols(bad * s.in, s.in).setConstant(nan);
    broken.w.middleRows(bad * s.in, s.in).setConstant(std::numeric_limits<double>::infinity());
    broken.dy.middleCols(bad * s.out, s.out).setConstant(nan);
    const Results expected = Run(sound, Activation::kRelu, 1);
    const Results got = Run(broken, Activation::kRelu, 1);
    for (std::int64_t i = 0; i < s.lanes; ++i) {
      if (i == bad) continue;
      ExpectEqual(LaneOf(got, i, s.lanes), LaneOf(expected, i, s.lanes));
    }
    EXPECT_TRUE(LaneOf(got, bad, s.lanes).dw.array().isNaN().all());
  }
}

TEST_P(Lanes, AreScaledEachAndClearedByZero) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DeviceArray<float> factors(device(), {0.5f, 0, -2, 0}, 3);
  for (const std::int64_t width : {1, 3, 40}) {
    Matrix before = Random(9, 4 * width);
    before.middleCols(width, width).setConstant(nan);
    before(2, 3 * width) = std::numeric_limits<double>::infinity();
    before(0, 0) = nan;
    DeviceMatrix y(device(), before, 2);
    device().ScaleLanes(factors.view(), y.tensor().Rows(8));
    Matrix after = Matrix::Zero(8, 4 * width);
    after.leftCols(width) = 0.5 * before.topLeftCorner(8, width);
    after.middleCols(2 * width, width) = -2 * before.block(0, 2 * width, 8, width);
    ExpectClose(y.Get().topRows(8), after);
    EXPECT_TRUE(std::isnan(y.Get()(0, 0)));
    ExpectClose(y.Get().bottomRows(1), before.bottomRows(1));
  }
}

}  // namespace
}  // namespace hogbatch
