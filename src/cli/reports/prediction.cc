#include "cli/reports/prediction.h"

#include <fmt/format.h>

#include <vector>

#include "training/model/labels.h"

namespace hogbatch {
namespace {

// Quotes a name that contains a comma or a quote, for CSV.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
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
  const std::vector<float> values = OutputValues(schema, loss, outputs);
  const auto columns = static_cast<std::size_t>(schema.outputs());
  for (std::size_t at = 0; at < values.size(); at += columns) {
    const auto row = std::span<const float>(values).subspan(at, columns);
    text += Field(LabelText(schema, row, format.top));
    if (format.probabilities && schema.label_kind != LabelKind::kValue) {
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
