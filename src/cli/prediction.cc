#include "cli/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "nn/metrics.h"

namespace hogbatch {
namespace {

// A name with a comma or quote in it as CSV wants it.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Which labels to name, the likeliest first.
std::vector<std::size_t> ChooseLabels(std::span<const float> probabilities, std::int64_t top) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  });
  std::size_t keep = static_cast<std::size_t>(top);
  if (top == 0) {
    const auto likely = std::ranges::count_if(probabilities, [](float p) { return p >= 0.5f; });
    keep = std::max<std::size_t>(1, static_cast<std::size_t>(likely));
  }
  order.resize(std::min(keep, order.size()));
  return order;
}

std::string LabelsOf(const Schema& schema, std::span<const float> probabilities, std::int64_t top) {
  if (schema.label_kind == LabelKind::kClass) {
    const auto best = std::ranges::max_element(probabilities) - probabilities.begin();
    return Field(schema.label_names[static_cast<std::size_t>(best)]);
  }
  std::string text;
  for (const std::size_t label : ChooseLabels(probabilities, top)) {
    if (!text.empty()) text += ' ';
    text += schema.label_names[label];
  }
  return Field(text);
}

}  // namespace

std::string PredictionHeader(const Schema& schema, const PredictionFormat& format) {
  if (!format.probabilities || schema.label_kind == LabelKind::kValue) return "";
  std::string line = schema.label_kind == LabelKind::kClass ? "label" : "labels";
  for (const std::string& name : schema.label_names) line += fmt::format(",{}", Field(name));
  return line + "\n";
}

std::string PredictionLines(const Schema& schema, Loss loss, std::span<const float> outputs,
                            const PredictionFormat& format) {
  std::string text;
  if (schema.label_kind == LabelKind::kValue) {
    for (const float output : outputs) {
      text += fmt::format("{:.7g}\n", output * schema.target_deviation + schema.target_mean);
    }
    return text;
  }
  const auto columns = static_cast<std::size_t>(schema.outputs());
  std::vector<float> probabilities(outputs.begin(), outputs.end());
  ToProbabilities(loss, probabilities, schema.outputs());
  for (std::size_t at = 0; at < probabilities.size(); at += columns) {
    const auto row = std::span<const float>(probabilities).subspan(at, columns);
    text += LabelsOf(schema, row, format.top);
    if (format.probabilities) {
      for (const float p : row) text += fmt::format(",{:.6g}", p);
    }
    text += '\n';
  }
  return text;
}

std::string RowOrder::Add(RowRange rows, std::string text) {
  waiting_.emplace(rows.begin, Piece{rows.end, std::move(text)});
  std::string ready;
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    next_ = waiting_.begin()->second.end;
    ready += waiting_.begin()->second.text;
    waiting_.erase(waiting_.begin());
  }
  return ready;
}

}  // namespace hogbatch
