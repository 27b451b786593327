#include "training/batch_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace hogbatch {
namespace {

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

}  // namespace

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

}  // namespace hogbatch
