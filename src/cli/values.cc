#include "cli/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/spelling.h"
#include "core/error.h"

namespace hogbatch {
namespace {

// What a whole string holds, read by from_chars; false when any of it is left over.
template <typename T>
bool ReadAll(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

constexpr std::int64_t kMaxRows = 1 << 20;

bool ReadRows(std::string_view text, std::int64_t& rows) {
  return ReadAll(text, rows) && rows >= 1 && rows <= kMaxRows;
}

[[noreturn]] void ThrowNoRows(std::string_view what, std::string_view forms,
                              std::string_view text) {
  throw UserError(
      fmt::format("{} needs rows between 1 and {}, as {}, not '{}'", what, kMaxRows, forms, text));
}

BatchRange ReadBatchRange(std::string_view what, std::string_view forms, std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool one = colon == std::string_view::npos;
  BatchRange range;
  if (!ReadRows(text.substr(0, colon), range.min) ||
      !ReadRows(one ? text : text.substr(colon + 1), range.max)) {
    ThrowNoRows(what, forms, text);
  }
  if (range.max < range.min) {
    throw UserError(fmt::format("{} {}: the minimum comes first; did you mean {}:{}?", what, text,
                                range.max, range.min));
  }
  return range;
}

constexpr double kMaxPositiveWeight = 100;  // a label seen once must not outweigh all others

std::vector<std::int64_t> CountLabels(const Schema& schema, const Dataset& data,
                                      std::int64_t train_rows) {
  std::vector<std::int64_t> counts(schema.label_names.size());
  const bool several = schema.label_kind == LabelKind::kMultiLabel;
  const auto end = several ? data.label_offsets[static_cast<std::size_t>(train_rows)] : train_rows;
  const std::vector<std::int32_t>& labels = several ? data.labels : data.classes;
  for (std::int64_t i = 0; i < end; ++i) {
    ++counts[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])];
  }
  return counts;
}

std::vector<float> BalancedWeights(const Schema& schema, const Dataset& data,
                                   std::int64_t train_rows) {
  const std::vector<std::int64_t> counts = CountLabels(schema, data, train_rows);
  const auto rows = static_cast<double>(train_rows);
  std::vector<float> weights;
  for (const std::int64_t count : counts) {
    const auto with = static_cast<double>(count);
    double weight = 1;  // a label the training rows do not have
    if (count > 0 && schema.label_kind == LabelKind::kMultiLabel) {
      weight = std::clamp((rows - with) / with, 1 / kMaxPositiveWeight, kMaxPositiveWeight);
    } else if (count > 0) {
      weight = rows / (static_cast<double>(counts.size()) * with);
    }
    weights.push_back(static_cast<float>(weight));
  }
  return weights;
}

}  // namespace

double ParseReal(std::string_view what, std::string_view text) {
  double value = 0;
  if (!ReadAll(text, value) || !std::isfinite(value)) {
    throw UserError(fmt::format("{} needs a number, not '{}'", what, text));
  }
  return value;
}

std::int64_t ParseInteger(std::string_view what, std::string_view text) {
  std::int64_t value = 0;
  if (!ReadAll(text, value)) {
    throw UserError(fmt::format("{} needs a whole number, not '{}'", what, text));
  }
  return value;
}

double ParseDuration(std::string_view what, std::string_view text) {
  double unit = 1;
  std::string_view number = text;
  if (!text.empty()) {
    const char last = text.back();
    if (last == 's' || last == 'm' || last == 'h') number.remove_suffix(1);
    if (last == 'm') unit = 60;
    if (last == 'h') unit = 3600;
  }
  double value = 0;
  if (!ReadAll(number, value) || !std::isfinite(value) || value <= 0) {
    throw UserError(fmt::format(
        "{} needs a time above 0 such as 90 (seconds), 90s, 5m or 2h, not '{}'", what, text));
  }
  return value * unit;
}

BatchRange ParseBatchRange(std::string_view what, std::string_view text) {
  if (text.find("auto") != std::string_view::npos) {
    throw UserError(fmt::format(
        "{} takes ROWS or MIN:MAX, not '{}': only a GPU's minimum is measured", what, text));
  }
  return ReadBatchRange(what, "ROWS or MIN:MAX", text);
}

GpuBatch ParseGpuBatch(std::string_view what, std::string_view text) {
  constexpr std::string_view kForms = "ROWS, MIN:MAX or auto:MAX";
  constexpr std::string_view kAuto = "auto:";
  constexpr std::int64_t kUncalibratedRows = 64;
  if (text == "auto") text = "auto:8192";
  if (text.ends_with(":auto")) {
    throw UserError(fmt::format(
        "{} measures its minimum, not its maximum: write auto:MAX, not '{}'", what, text));
  }
  if (!text.starts_with(kAuto)) return {.range = ReadBatchRange(what, kForms, text)};
  std::int64_t max = 0;
  if (!ReadRows(text.substr(kAuto.size()), max)) ThrowNoRows(what, kForms, text);
  return {.range = {.min = std::min(kUncalibratedRows, max), .max = max}, .calibrate_min = true};
}

std::vector<float> ParseClassWeights(std::string_view text, const Schema& schema,
                                     const Dataset& data, std::int64_t train_rows) {
  if (text == "none" || text.empty()) return {};
  if (schema.label_kind == LabelKind::kValue) {
    throw UserError("--class-weights has no meaning here: the labels are numbers, not classes");
  }
  if (text == "balanced") return BalancedWeights(schema, data, train_rows);

  const std::vector<std::string>& names = schema.label_names;
  std::vector<float> weights(names.size(), 1.0f);
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.rfind('=');
    if (equals == std::string_view::npos) {
      throw UserError(fmt::format(
          "--class-weights takes none, balanced or LABEL=WEIGHT,…; '{}' is none of them", item));
    }
    const std::string_view label = item.substr(0, equals);
    const auto found = std::find(names.begin(), names.end(), label);
    if (found == names.end()) {
      throw UserError(fmt::format("--class-weights: the data has no label '{}'{}", label,
                                  DidYouMean(label, names)));
    }
    const double weight = ParseReal("--class-weights", item.substr(equals + 1));
    if (weight < 0 || weight > 1e6) {
      throw UserError(
          fmt::format("--class-weights: the weight of {} must be between 0 and 1e+06, "
                      "not {}",
                      label, weight));
    }
    weights[static_cast<std::size_t>(found - names.begin())] = static_cast<float>(weight);
  }
  return weights;
}

}  // namespace hogbatch
