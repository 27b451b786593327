#include "algorithms/batch_range.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kFixedCpuRows = 16;
constexpr std::int64_t kFixedGpuRows = 512;
constexpr std::int64_t kMaxRows = 1 << 20;
constexpr std::string_view kAuto = "auto:";

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

std::int64_t FixedBatchSize(const BatchRange& range, DeviceKind kind) {
  return std::clamp(kind == DeviceKind::kCpu ? kFixedCpuRows : kFixedGpuRows, range.min, range.max);
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
  if (text == "auto") return {.range = kDefaultGpuBatch, .calibrate_min = true};
  if (text.ends_with(":auto")) {
    throw UserError(fmt::format(
        "{} measures its minimum, not its maximum: write auto:MAX, not '{}'", what, text));
  }
  if (!text.starts_with(kAuto)) return {.range = ReadBatchRange(what, kForms, text)};
  std::int64_t max = 0;
  if (!ReadRows(text.substr(kAuto.size()), max)) ThrowNoRows(what, kForms, text);
  return {.range = {.min = std::min(kDefaultGpuBatch.min, max), .max = max}, .calibrate_min = true};
}

std::string Text(const BatchRange& range) { return fmt::format("{}:{}", range.min, range.max); }

std::string Text(const GpuBatch& batch) {
  return batch.calibrate_min ? fmt::format("{}{}", kAuto, batch.range.max) : Text(batch.range);
}

void BatchOptions::Visit(OptionVisitor& visitor) {
  visitor.Text("cpu-batch", cpu_batch, "ROWS|MIN:MAX",
               fmt::format("Batch size of a CPU thread: rows per update. Algorithms that adapt it "
                           "stay within the range; others use {}, or the nearest size in the range",
                           kFixedCpuRows));
  visitor.Text(
      "gpu-batch", gpu_batch, "ROWS|MIN:MAX|auto:MAX",
      fmt::format(
          "Batch size of a GPU: rows per update. Algorithms that adapt it stay within the "
          "range; others use {}, or the nearest size in the range. With auto, the minimum is "
          "the smallest size at which the GPU reaches --min-utilization of its best "
          "throughput, measured before training. A maximum that does not fit into the "
          "GPU's memory becomes the largest that does",
          kFixedGpuRows));
}

}  // namespace hogbatch
