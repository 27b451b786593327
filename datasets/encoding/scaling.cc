#include "datasets/encoding/scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "datasets/encoding/storage.h"

namespace hogbatch {
namespace {

// Statistics of one feature, including zeros that are not stored.
struct FeatureStatistics {
  std::int64_t stored = 0;
  std::int64_t nonzeros = 0;
  double min = 0;
  double max = 0;
  double sum = 0;
  double squares = 0;  // of differences from the mean, in the second pass
};

// Calls body(feature, value) for the stored values of rows [0, rows).
template <typename Body>
void ForEachValue(const Dataset& data, std::int64_t rows, const Body& body) {
  if (data.is_sparse) {
    for (std::int64_t i = 0; i < data.offsets[rows]; ++i) body(data.columns[i], data.values[i]);
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const values = data.dense.data() + row * data.features;
    for (std::int64_t i = 0; i < data.features; ++i) body(i, values[i]);
  }
}

std::vector<FeatureStatistics> Measure(const Dataset& data, std::int64_t rows) {
  std::vector<FeatureStatistics> all(data.features);
  ForEachValue(data, rows, [&](std::int64_t feature, float value) {
    FeatureStatistics& one = all[feature];
    one.min = one.stored == 0 ? value : std::min<double>(one.min, value);
    one.max = one.stored == 0 ? value : std::max<double>(one.max, value);
    one.sum += value;
    ++one.stored;
    if (value != 0) ++one.nonzeros;
  });
  for (FeatureStatistics& one : all) {
    if (one.stored == rows) continue;
    one.min = std::min(one.min, 0.0);
    one.max = std::max(one.max, 0.0);
  }
  return all;
}

// Two passes, because a single one loses the digits of a small spread around a large mean.
void MeasureSpread(const Dataset& data, std::int64_t rows, std::vector<FeatureStatistics>& all) {
  ForEachValue(data, rows, [&](std::int64_t feature, float value) {
    const double difference = value - all[feature].sum / static_cast<double>(rows);
    all[feature].squares += difference * difference;
  });
  for (FeatureStatistics& one : all) {
    const double mean = one.sum / static_cast<double>(rows);
    one.squares += static_cast<double>(rows - one.stored) * mean * mean;
  }
}

// Standardising a feature that is mostly 0 would store all of its zeros, and turn the few other
// values of a rare one into outliers of dozens of deviations.
bool IsMostlyZero(const FeatureStatistics& one, std::int64_t rows) {
  return 2 * one.nonzeros < rows;
}

// What kAuto means for each feature.
std::vector<ScalingKind> Choose(std::span<const FeatureStatistics> all, std::int64_t rows) {
  const bool small = std::all_of(all.begin(), all.end(), [&](const FeatureStatistics& one) {
    return !IsMostlyZero(one, rows) || (one.min >= -1 && one.max <= 1);
  });
  std::vector<ScalingKind> kinds;
  for (const FeatureStatistics& one : all) {
    kinds.push_back(!IsMostlyZero(one, rows) ? ScalingKind::kStandard
                    : small                  ? ScalingKind::kNone
                                             : ScalingKind::kMaxAbs);
  }
  return kinds;
}

// The kind that all features have, or kAuto where they differ.
ScalingKind OneForAll(const std::vector<ScalingKind>& kinds) {
  if (kinds.empty()) return ScalingKind::kNone;
  const bool alike = std::all_of(kinds.begin(), kinds.end(),
                                 [&](ScalingKind kind) { return kind == kinds.front(); });
  return alike ? kinds.front() : ScalingKind::kAuto;
}

struct ShiftAndScale {
  float shift = 0;
  float scale = 1;
};

ShiftAndScale ScaleOf(const FeatureStatistics& one, ScalingKind kind, std::int64_t rows) {
  if (kind == ScalingKind::kNone) return {};
  // A feature that never changes has nothing to tell and becomes 0.
  const ShiftAndScale constant{static_cast<float>(one.min), 0};
  if (one.min == one.max) return constant;
  double shift = 0;
  double width = 1;
  if (kind == ScalingKind::kMinMax) {
    shift = one.min;
    width = one.max - one.min;
  } else if (kind == ScalingKind::kStandard) {
    shift = one.sum / static_cast<double>(rows);
    width = std::sqrt(one.squares / static_cast<double>(rows));
  } else {
    width = std::max(-one.min, one.max);
  }
  const ShiftAndScale result{static_cast<float>(shift), static_cast<float>(1 / width)};
  return std::isfinite(result.scale) ? result : constant;
}

// One feature's (x - shift) · scale, clamped to a finite float for values far outside the training
// rows.
float Scaled(const Schema& schema, std::int64_t feature, float value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const double scaled =
      (static_cast<double>(value) - schema.shift[feature]) * schema.scale[feature];
  return static_cast<float>(std::clamp(scaled, -kLargest, kLargest));
}

// What a zero that is not stored becomes, for each feature.
std::vector<float> ScaledZeros(const Schema& schema) {
  std::vector<float> zeros(schema.shift.size());
  for (std::int64_t i = 0; i < std::ssize(zeros); ++i) zeros[i] = Scaled(schema, i, 0) + 0.0F;
  return zeros;
}

void ScaleStored(const Schema& schema, Dataset& data) {
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    data.values[i] = Scaled(schema, data.columns[i], data.values[i]);
  }
}

std::int64_t CountNonzerosAfter(const Dataset& data, const std::vector<float>& zeros) {
  const auto filled = std::count_if(zeros.begin(), zeros.end(), [](float x) { return x != 0; });
  std::int64_t nonzeros = data.rows * filled;
  for (const std::int32_t column : data.columns) {
    if (zeros[column] == 0) ++nonzeros;
  }
  return nonzeros;
}

// Writes a sparse row, scaled, over `out`, which already holds the scaled zeros.
void ScaleRow(const Schema& schema, const Dataset& data, std::int64_t row, std::span<float> out) {
  for (std::int64_t i = data.offsets[row]; i < data.offsets[row + 1]; ++i) {
    out[data.columns[i]] = Scaled(schema, data.columns[i], data.values[i]);
  }
}

void ScaleToDense(const Schema& schema, const std::vector<float>& zeros, Dataset& data) {
  std::vector<float> dense(data.rows * data.features);
  for (std::int64_t row = 0; row < data.rows; ++row) {
    const std::span<float> out = std::span(dense).subspan(row * data.features, data.features);
    std::copy(zeros.begin(), zeros.end(), out.begin());
    ScaleRow(schema, data, row, out);
  }
  data.dense = std::move(dense);
  Release(data.offsets);
  Release(data.columns);
  Release(data.values);
  data.is_sparse = false;
}

// Merges each row with the features whose zeros are no longer 0 when scaled.
void ScaleToSparse(const Schema& schema, const std::vector<float>& zeros, std::int64_t nonzeros,
                   Dataset& data) {
  std::vector<std::int32_t> filled;
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    if (zeros[i] != 0) filled.push_back(static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  columns.reserve(nonzeros);
  values.reserve(nonzeros);
  std::int64_t stored = 0;
  for (std::int64_t row = 0; row < data.rows; ++row) {
    const std::int64_t end = data.offsets[row + 1];
    data.offsets[row] = std::ssize(values);
    std::size_t fill = 0;
    while (stored < end || fill < filled.size()) {
      const bool is_stored =
          stored < end && (fill == filled.size() || data.columns[stored] <= filled[fill]);
      const std::int32_t column = is_stored ? data.columns[stored] : filled[fill];
      if (fill < filled.size() && filled[fill] == column) ++fill;
      const float value = is_stored ? Scaled(schema, column, data.values[stored++]) : zeros[column];
      if (value == 0) continue;
      columns.push_back(column);
      values.push_back(value);
    }
  }
  data.offsets.back() = std::ssize(values);
  data.columns = std::move(columns);
  data.values = std::move(values);
}

}  // namespace

void LearnScaling(const Dataset& data, std::int64_t train_rows, ScalingKind kind, Schema& schema) {
  schema.shift.clear();
  schema.scale.clear();
  schema.scaling = kind;
  if (kind == ScalingKind::kNone) return;
  std::vector<FeatureStatistics> all = Measure(data, train_rows);
  const std::vector<bool> without = FeaturesWithoutScale(schema.table, data.features);
  std::vector<FeatureStatistics> scaled;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!without[i]) scaled.push_back(all[i]);
  }
  std::vector<ScalingKind> kinds(scaled.size(), kind);
  if (kind == ScalingKind::kAuto) {
    kinds = Choose(scaled, train_rows);
    schema.scaling = OneForAll(kinds);
  }
  if (schema.scaling == ScalingKind::kNone) return;
  if (std::ranges::count(kinds, ScalingKind::kStandard) > 0) MeasureSpread(data, train_rows, all);
  auto next = kinds.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ShiftAndScale one =
        ScaleOf(all[i], without[i] ? ScalingKind::kNone : *next++, train_rows);
    schema.shift.push_back(one.shift);
    schema.scale.push_back(one.scale);
  }
}

void LearnSharedScaling(const Dataset& data, std::int64_t train_rows, Schema& schema) {
  double largest = 0;
  ForEachValue(data, train_rows, [&](std::size_t, float value) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  });
  const auto scale = static_cast<float>(1 / largest);
  const auto features = static_cast<std::size_t>(data.features);
  schema.scaling = ScalingKind::kMaxAbs;
  schema.shift.assign(features, 0);
  schema.scale.assign(features, std::isfinite(scale) ? scale : 0);
}

void ApplyScaling(const Schema& schema, std::int64_t memory_bytes, Dataset& data) {
  if (schema.shift.empty()) return;
  if (!data.is_sparse) {
    const std::size_t features = schema.shift.size();
    for (std::size_t i = 0; i < data.dense.size(); ++i) {
      data.dense[i] = Scaled(schema, i % features, data.dense[i]);
    }
    const auto nonzeros =
        std::count_if(data.dense.begin(), data.dense.end(), [](float x) { return x != 0; });
    ConvertStorage(data, SmallerStorage(data.rows, data.features, nonzeros), memory_bytes);
    return;
  }
  const std::vector<float> zeros = ScaledZeros(schema);
  if (std::all_of(zeros.begin(), zeros.end(), [](float x) { return x == 0; })) {
    ScaleStored(schema, data);
    return;
  }
  const std::int64_t nonzeros = CountNonzerosAfter(data, zeros);
  const Storage storage = SmallerStorage(data.rows, data.features, nonzeros);
  CheckFits(storage == Storage::kDense ? DenseBytes(data.rows, data.features)
                                       : SparseBytes(data.rows, nonzeros),
            memory_bytes, data.source,
            "this scaling stores all zeros; use --scale maxabs, which keeps them out");
  if (storage == Storage::kDense) {
    ScaleToDense(schema, zeros, data);
  } else {
    ScaleToSparse(schema, zeros, nonzeros, data);
  }
}

}  // namespace hogbatch
