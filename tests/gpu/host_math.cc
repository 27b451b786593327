#include "tests/gpu/host_math.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "gpu/kernels/kernels.h"
#include "tests/device/reference.h"

namespace hogbatch::gpu {
namespace {

template <typename T>
T ValueOf(const KernelArgument& argument) {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<T>(argument.address);
  } else if constexpr (std::is_same_v<T, float>) {
    return argument.number;
  } else if constexpr (std::is_same_v<T, long>) {
    return argument.integer;
  } else {
    return argument.word;
  }
}

template <typename... Parameters>
void Call(void (*kernel)(Parameters...), const std::vector<KernelArgument>& arguments) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    kernel(ValueOf<Parameters>(arguments.at(kIndex))...);
  }(std::index_sequence_for<Parameters...>{});
}

void CallByName(Kernel kernel, const std::vector<KernelArgument>& arguments) {
  switch (kernel) {
#define HOGBATCH_CASE(name) \
  case Kernel::name:        \
    return Call(&::name, arguments);
    HOGBATCH_KERNELS(HOGBATCH_CASE)
#undef HOGBATCH_CASE
  }
}

float At(const Tensor& t, std::int64_t row, std::int64_t col) {
  return t.host()[row * t.stride + col];
}

}  // namespace

void RunKernel(Kernel kernel, std::int64_t groups, int order,
               const std::vector<KernelArgument>& arguments) {
  hb_host_groups = groups;
  hb_host_order = order;
  for (hb_host_group = 0; hb_host_group < groups; ++hb_host_group) CallByName(kernel, arguments);
}

void RunProduct(const Product& p) {
  if (p.lanes > 1) {
    Product one = p;
    one.lanes = 1;
    for (std::int64_t i = 0; i < p.lanes; ++i) {
      RunProduct(one);
      one.a.data.offset += p.a_apart;
      one.b.data.offset += p.b_apart;
      one.c.data.offset += p.c_apart;
    }
    return;
  }
  std::vector<double> sums(static_cast<std::size_t>(p.cols));
  for (std::int64_t r = 0; r < p.rows; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t k = 0; k < p.inner; ++k) {
      const double a = p.form == Product::Form::kTransposeA ? At(p.a, k, r) : At(p.a, r, k);
      for (std::int64_t c = 0; c < p.cols; ++c) {
        const double b = p.form == Product::Form::kTransposeB ? At(p.b, c, k) : At(p.b, k, c);
        sums[static_cast<std::size_t>(c)] += a * b;
      }
    }
    for (std::int64_t c = 0; c < p.cols; ++c) {
      float& to = p.c.host()[r * p.c.stride + c];
      to = static_cast<float>(double{p.alpha} * sums[static_cast<std::size_t>(c)] +
                              (p.beta == 0 ? 0.0 : double{p.beta} * to));
    }
  }
}

void RunProductWithBias(const Product& p, const Tensor& bias, Activation f) {
  RunProduct(p);
  for (std::int64_t r = 0; r < p.rows; ++r) {
    for (std::int64_t c = 0; c < p.cols; ++c) {
      float& to = p.c.host()[r * p.c.stride + c];
      to = static_cast<float>(Activated(f, double{to} + bias.host()[c]));
    }
  }
}

void RunLogSoftmax(const Tensor& x, const Tensor& y) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double top = At(x, r, 0), sum = 0;
    for (std::int64_t c = 0; c < x.cols; ++c) top = std::max<double>(top, At(x, r, c));
    for (std::int64_t c = 0; c < x.cols; ++c) sum += std::exp(At(x, r, c) - top);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      y.host()[r * y.stride + c] = static_cast<float>(At(x, r, c) - top - std::log(sum));
    }
  }
}

}  // namespace hogbatch::gpu
