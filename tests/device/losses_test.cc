#include <cmath>
#include <limits>

#include "tests/device/reference.h"

namespace hogbatch {
namespace {

class Losses : public OnEveryDevice {
 protected:
  struct Result {
    Matrix losses;
    Matrix gradient;
  };

  // Row r's labels, r % 4 of them, spread over the outputs; with few outputs some come twice.
  static std::vector<std::int32_t> LabelsOf(std::int64_t row, std::int64_t outputs) {
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < row % 4; ++i) {
      labels.push_back(static_cast<std::int32_t>((row * 3001 + i * 4177) % outputs));
    }
    return labels;
  }

  // Runs call(outputs, losses, gradient) with strides, and checks that the losses do not depend on
  // whether a gradient is wanted.
  template <typename F>
  Result Run(const Matrix& outputs, F call) {
    const DeviceMatrix o(device(), outputs, 1);
    DeviceMatrix losses(device(), Matrix::Zero(1, outputs.rows()));
    DeviceMatrix again(device(), Matrix::Zero(outputs.rows(), 1), 2);
    DeviceMatrix gradient(device(), Matrix::Constant(outputs.rows(), outputs.cols(), 77), 3);
    call(o.tensor(), losses.tensor(), gradient.tensor());
    call(o.tensor(), again.tensor(), Tensor{});
    ExpectClose(again.Get().transpose(), losses.Get());
    return {losses.Get(), gradient.Get()};
  }
};
HOGBATCH_ON_EVERY_DEVICE(Losses);

struct LossShape {
  std::int64_t rows, outputs;
};
constexpr LossShape kLossShapes[] = {{1, 1}, {1, 2}, {16, 2}, {33, 7}, {5, 983}, {3, 10000}};

TEST_P(Losses, SoftmaxIsTheNegativeLogProbabilityOfTheClass) {
  for (const auto& [rows, outputs] : kLossShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << outputs);
    const Matrix o = Random(rows, outputs, -4, 4), weights = Random(1, outputs, 0.5f, 2);
    std::vector<std::int32_t> classes(rows);
    for (std::int64_t r = 0; r < rows; ++r) classes[r] = static_cast<std::int32_t>(r % outputs);
    const DeviceArray<std::int32_t> dc(device(), classes, 3);
    const DeviceMatrix dw(device(), weights, 2);
    for (const bool weighted : {false, true}) {
      const Result got = Run(o, [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
        device().SoftmaxLoss(out, {.classes = dc.view()}, weighted ? dw.tensor() : Tensor{}, 0.25f,
                             losses, g);
      });
      Matrix losses(1, rows), gradient(rows, outputs);
      for (std::int64_t r = 0; r < rows; ++r) {
        const double weight = weighted ? weights(0, classes[r]) : 1;
        const Matrix p = o.row(r).array().exp() / o.row(r).array().exp().sum();
        losses(0, r) = -weight * std::log(p(0, classes[r]));
        gradient.row(r) = 0.25 * weight * p;
        gradient(r, classes[r]) -= 0.25 * weight;
      }
      ExpectClose(got.losses, losses, Abs(losses).array() + 1);
      ExpectClose(got.gradient, gradient, Abs(gradient).array() + 1e-3);
    }
  }
}

TEST_P(Losses, SigmoidIsTheMeanCrossEntropyOverTheOutputs) {
  for (const auto& [rows, outputs] : kLossShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << outputs);
    const Matrix o = Random(rows, outputs, -6, 6), weights = Random(1, outputs, 0, 2);
    // Two labels that belong to rows before these, as in a batch of a data set.
    std::vector<std::int64_t> offsets = {2};
    std::vector<std::int32_t> labels = {0, 0};
    Matrix is_label = Matrix::Zero(rows, outputs);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (const std::int32_t label : LabelsOf(r, outputs)) {
        labels.push_back(label);
        is_label(r, label) = 1;
      }
      offsets.push_back(static_cast<std::int64_t>(labels.size()));
    }
    const DeviceArray<std::int64_t> doff(device(), offsets, 1);
    const DeviceArray<std::int32_t> dl(device(), labels, 4);
    const DeviceMatrix dw(device(), weights, 2);
    for (const bool weighted : {false, true}) {
      const Result got = Run(o, [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
        device().SigmoidLoss(out, {.label_offsets = doff.view(), .labels = dl.view()},
                             weighted ? dw.tensor() : Tensor{}, 0.5f, losses, g);
      });
      const double n = static_cast<double>(outputs);
      Matrix losses = Matrix::Zero(1, rows), gradient(rows, outputs);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < outputs; ++c) {
          const double p = 1 / (1 + std::exp(-o(r, c))), w = weighted ? weights(0, c) : 1;
          losses(0, r) += (is_label(r, c) ? -w * std::log(p) : -std::log(1 - p)) / n;
          gradient(r, c) = 0.5 / n * (is_label(r, c) ? w * (p - 1) : p);
        }
      }
      ExpectClose(got.losses, losses);
      ExpectClose(got.gradient, gradient);
    }
  }
}

TEST_P(Losses, SquaredIsTheMeanOverTheOutputs) {
  for (const auto& [rows, outputs] : kLossShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << outputs);
    const Matrix o = Random(rows, outputs, -4, 4), values = Random(rows, outputs, -4, 4);
    const DeviceArray<float> dv(device(), {values.data(), values.data() + values.size()}, 6);
    const Result got = Run(o, [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
      device().SquaredLoss(out, {.values = dv.view()}, 0.125f, losses, g);
    });
    const Matrix difference = o - values;
    const double n = static_cast<double>(outputs);
    ExpectClose(got.losses, difference.rowwise().squaredNorm().transpose() / n);
    ExpectClose(got.gradient, 2 * 0.125 / n * difference);
  }
}

TEST_P(Losses, HugeOutputsGiveFiniteLosses) {
  Matrix o(2, 3);
  o << 900, -900, 0, -900, 900, 5;
  const DeviceArray<std::int32_t> classes(device(), {0, 0}), labels(device(), {0, 0});
  const DeviceArray<std::int64_t> offsets(device(), {0, 1, 2});
  const Result softmax = Run(o, [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
    device().SoftmaxLoss(out, {.classes = classes.view()}, {}, 1, losses, g);
  });
  ExpectClose(softmax.losses, Matrix{{0, 1800}}, Matrix{{1e-25, 1800}});
  const Result sigmoid = Run(o, [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
    device().SigmoidLoss(out, {.label_offsets = offsets.view(), .labels = labels.view()}, {}, 1,
                         losses, g);
  });
  ExpectClose(sigmoid.losses,
              Matrix{{std::log(2.0) / 3, (900 + 900 + std::log1p(std::exp(5.0))) / 3}});
}

TEST_P(Losses, NanInAnOutputMakesLossAndGradientNan) {
  for (const std::int64_t where : {0, 4, 20}) {
    Matrix o = Random(2, 21);
    o(1, where) = std::numeric_limits<double>::quiet_NaN();
    const DeviceArray<std::int32_t> classes(device(), {3, 3}), labels(device(), {3, 3});
    const DeviceArray<std::int64_t> offsets(device(), {0, 1, 2});
    const DeviceMatrix values(device(), Random(2, 21));
    const DeviceSpan<float> span = values.tensor().data;
    const Result results[] = {
        Run(o,
            [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
              device().SoftmaxLoss(out, {.classes = classes.view()}, {}, 1, losses, g);
            }),
        Run(o,
            [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
              device().SigmoidLoss(out, {.label_offsets = offsets.view(), .labels = labels.view()},
                                   {}, 1, losses, g);
            }),
        Run(o, [&](const Tensor& out, const Tensor& losses, const Tensor& g) {
          device().SquaredLoss(out, {.values = {span.base, span.offset, span.size}}, 1, losses, g);
        })};
    for (const Result& got : results) {
      EXPECT_FALSE(std::isnan(got.losses(0, 0)));
      EXPECT_TRUE(std::isnan(got.losses(0, 1)));
      EXPECT_TRUE(std::isnan(got.gradient(1, where)));
      EXPECT_FALSE(got.gradient.row(0).array().isNaN().any());
    }
  }
}

// A device that cannot stop in the middle says NaN; neither reads or writes beyond the outputs.
TEST_P(Losses, AClassThatIsNoOutputDoesNotPassUnnoticed) {
  for (const std::int32_t outputs : {5, 3000}) {
    const DeviceMatrix o(device(), Random(3, outputs)), weights(device(), Random(1, outputs, 1, 2));
    const DeviceMatrix losses(device(), Matrix::Zero(1, 3));
    const DeviceMatrix gradient(device(), Random(3, outputs), 2);
    const DeviceArray<std::int64_t> offsets(device(), {0, 1, 2, 3});
    const auto expect_noticed = [&](const auto& call) {
      try {
        call();
        const Matrix got = losses.Get(), slopes = gradient.Get();
        EXPECT_TRUE(std::isnan(got(0, 1)));
        EXPECT_FALSE(std::isnan(got(0, 0)) || std::isnan(got(0, 2)));
        EXPECT_FALSE(slopes.row(0).array().isNaN().any());
        EXPECT_FALSE(slopes.row(2).array().isNaN().any());
      } catch (const Error&) {
      }
    };
    for (const std::int32_t wrong : {-1, outputs, 1 << 30, -(1 << 30)}) {
      SCOPED_TRACE(testing::Message() << wrong << " of " << outputs);
      const DeviceArray<std::int32_t> indices(device(), {0, wrong, 4});
      expect_noticed([&] {
        device().SoftmaxLoss(o.tensor(), {.classes = indices.view()}, weights.tensor(), 1,
                             losses.tensor(), gradient.tensor());
      });
      expect_noticed([&] {
        device().SigmoidLoss(o.tensor(),
                             {.label_offsets = offsets.view(), .labels = indices.view()},
                             weights.tensor(), 1, losses.tensor(), gradient.tensor());
      });
    }
  }
}

}  // namespace
}  // namespace hogbatch
