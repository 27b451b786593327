// The contract of device.h once more, as plainly as it can be written and in double.
#pragma once

#include "device/device.h"
#include "tests/device/on_device.h"

namespace hogbatch {

inline constexpr Activation kAllActivations[] = {Activation::kIdentity, Activation::kSigmoid,
                                                 Activation::kTanh, Activation::kRelu,
                                                 Activation::kGelu};

double Activated(Activation f, double x);
// Its derivative, at the x it was applied to.
double Slope(Activation f, double x);

inline Matrix Activated(Activation f, const Matrix& m) {
  return m.unaryExpr([f](double x) { return Activated(f, x); });
}
inline Matrix Slope(Activation f, const Matrix& m) {
  return m.unaryExpr([f](double x) { return Slope(f, x); });
}
inline Matrix Abs(const Matrix& m) { return m.cwiseAbs(); }

}  // namespace hogbatch
