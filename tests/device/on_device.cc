#include "tests/device/on_device.h"

#include <cmath>

namespace hogbatch {
namespace {

constexpr float kPadding = 1234.5f;
constexpr std::int64_t kUnusedEntries = 3;  // before the first entry of a DeviceCsr

std::vector<float> Padded(const Matrix& values, std::int64_t stride) {
  std::vector<float> padded(values.rows() * stride, kPadding);
  for (std::int64_t r = 0; r < values.rows(); ++r) {
    for (std::int64_t c = 0; c < values.cols(); ++c) {
      padded[r * stride + c] = static_cast<float>(values(r, c));
    }
  }
  return padded;
}

}  // namespace

Matrix OnEveryDevice::Random(std::int64_t rows, std::int64_t cols, float low, float high) {
  std::uniform_real_distribution<float> uniform(low, high);
  Matrix m(rows, cols);
  for (double& v : m.reshaped()) v = uniform(random_);
  return m;
}

DeviceMatrix::DeviceMatrix(Device& device, const Matrix& values, std::int64_t padding)
    : rows_(values.rows()),
      cols_(values.cols()),
      stride_(cols_ + padding),
      array_(device, Padded(values, stride_), padding == 0 ? 0 : 16 + padding) {}

Tensor DeviceMatrix::tensor() const { return {array_.span(), rows_, cols_, stride_}; }

Matrix DeviceMatrix::Get() const {
  const std::vector<float> values = array_.Get();
  Matrix m(rows_, cols_);
  for (std::int64_t r = 0; r < rows_; ++r) {
    for (std::int64_t c = 0; c < cols_; ++c) m(r, c) = values[r * stride_ + c];
    for (std::int64_t c = cols_; c < stride_; ++c) {
      EXPECT_EQ(values[r * stride_ + c], kPadding) << "written after the end of row " << r;
    }
  }
  return m;
}

struct DeviceCsr::Parts {
  Matrix dense;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<float> values;
};

DeviceCsr::Parts DeviceCsr::Split(const Matrix& values, double density) {
  Parts parts{Matrix::Zero(values.rows(), values.cols()), {kUnusedEntries}, {}, {}};
  parts.columns.assign(kUnusedEntries, 0);
  parts.values.assign(kUnusedEntries, kPadding);
  std::mt19937 random(11);
  std::bernoulli_distribution present(density);
  for (std::int64_t r = 0; r < values.rows(); ++r) {
    const bool is_empty = density < 1 && r % 5 == 0;
    for (std::int64_t c = 0; c < values.cols() && !is_empty; ++c) {
      if (!present(random)) continue;
      parts.dense(r, c) = values(r, c);
      parts.columns.push_back(static_cast<std::int32_t>(c));
      parts.values.push_back(static_cast<float>(values(r, c)));
    }
    parts.offsets.push_back(static_cast<std::int64_t>(parts.columns.size()));
  }
  return parts;
}

DeviceCsr::DeviceCsr(Device& device, const Matrix& values, double density)
    : DeviceCsr(device, Split(values, density)) {}

DeviceCsr::DeviceCsr(Device& device, Parts parts)
    : dense_(std::move(parts.dense)),
      offsets_(device, parts.offsets, 2),
      columns_(device, parts.columns, 5),
      values_(device, parts.values, 9) {}

CsrTensor DeviceCsr::tensor() const {
  return {offsets_.view(), columns_.view(), values_.view(), dense_.rows(), dense_.cols()};
}

void ExpectClose(const Matrix& actual, const Matrix& expected, const Matrix& magnitude) {
  ASSERT_EQ(actual.rows(), expected.rows());
  ASSERT_EQ(actual.cols(), expected.cols());
  for (std::int64_t r = 0; r < actual.rows(); ++r) {
    for (std::int64_t c = 0; c < actual.cols(); ++c) {
      if (std::isnan(actual(r, c)) && std::isnan(expected(r, c))) continue;
      if (actual(r, c) == expected(r, c)) continue;  // also two infinities
      ASSERT_NEAR(actual(r, c), expected(r, c), 1e-5 * magnitude(r, c) + 1e-30)
          << "at row " << r << ", column " << c;
    }
  }
}

void ExpectClose(const Matrix& actual, const Matrix& expected) {
  ExpectClose(actual, expected, expected.cwiseAbs());
}

}  // namespace hogbatch
