#include "tests/device/reference.h"

#include <cmath>
#include <numbers>

namespace hogbatch {
namespace {

double GeluInner(double x) { return std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x); }

}  // namespace

double Activated(Activation f, double x) {
  switch (f) {
    case Activation::kIdentity:
      return x;
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return 0.5 * x * (1 + std::tanh(GeluInner(x)));
  }
  return 0;
}

double Slope(Activation f, double x) {
  const double y = Activated(f, x);
  switch (f) {
    case Activation::kIdentity:
      return 1;
    case Activation::kSigmoid:
      return y * (1 - y);
    case Activation::kTanh:
      return 1 - y * y;
    case Activation::kRelu:
      return x > 0 ? 1 : 0;
    case Activation::kGelu: {
      const double t = std::tanh(GeluInner(x));
      const double inner = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
    }
  }
  return 0;
}

}  // namespace hogbatch
