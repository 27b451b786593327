#include "cli/reports/prediction.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

// The keys of `added` behind those of `row`, which is an object in one line, or nothing.
std::string Behind(std::string_view row, std::string added) {
  const std::size_t end = row.rfind('}');
  if (end == std::string_view::npos) return added;
  const std::size_t last = row.find_last_not_of(" \t", end - 1);
  const bool is_empty = row[last] == '{';
  return fmt::format("{}{}{}", row.substr(0, last + 1), is_empty ? "" : ",", added.substr(1));
}

// {"prediction": …, "probabilities": {…}}, behind the keys of the input's own object.
std::string JsonLine(const Schema& schema, std::span<const float> values,
                     const PredictionFormat& format, std::string_view row) {
  Json object = Json::object();
  const auto text = [&] { return Behind(row, JsonText(object)); };
  if (schema.label_kind == LabelKind::kValue) {
    object["prediction"] = values.front();
    return text();
  }
  const std::vector<std::string> labels = ChosenLabels(schema, values, format.labels);
  const bool is_one = schema.label_kind == LabelKind::kClass && format.labels.top == 0;
  object["prediction"] = is_one ? Json(labels.front()) : Json(labels);
  if (format.probabilities) {
    Json& probabilities = object["probabilities"] = Json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
      probabilities[schema.label_names[i]] = values[i];
    }
  }
  return text();
}

std::string CsvLine(const Schema& schema, std::span<const float> values,
                    const PredictionFormat& format, std::string_view row) {
  std::string line(row);
  if (!row.empty()) line += format.delimiter;
  line += CsvText(LabelText(schema, values, format.labels));
  if (format.probabilities) {
    for (const float p : values) line += fmt::format("{}{:.6g}", format.delimiter, p);
  }
  return line;
}

}  // namespace

void CheckFormat(const Schema& schema, const PredictionFormat& format) {
  const auto refuse = [](std::string_view option, std::string_view why) {
    throw UserError(fmt::format("--{}: {}; leave it out", option, why));
  };
  const bool is_number = schema.label_kind == LabelKind::kValue;
  constexpr std::string_view kNumbers = "the model predicts numbers, which have no probabilities";
  if (is_number && format.probabilities) refuse("probabilities", kNumbers);
  if (is_number && format.labels.top > 0) refuse("top", kNumbers);
  if (is_number && format.labels.threshold > 0) refuse("threshold", kNumbers);
  if (format.labels.threshold == 0) return;
  if (format.labels.top > 0) refuse("threshold", "--top says how many labels are printed");
  if (schema.label_kind == LabelKind::kClass && schema.label_names.size() != 2) {
    refuse("threshold", fmt::format("the model has {} classes, of which one is chosen",
                                    schema.label_names.size()));
  }
}

std::string PredictionHeader(const Schema& schema, const PredictionFormat& format,
                             std::string_view input_header) {
  while (input_header.ends_with('\n') || input_header.ends_with('\r')) {
    input_header.remove_suffix(1);
  }
  if (format.json || (!format.probabilities && input_header.empty())) return "";
  std::string line(input_header);
  if (!line.empty()) line += fmt::format("{}prediction", format.delimiter);
  if (line.empty()) line = schema.label_kind == LabelKind::kClass ? "label" : "labels";
  if (format.probabilities) {
    for (const std::string& name : schema.label_names) {
      line += fmt::format("{}{}", format.delimiter, CsvText(name));
    }
  }
  return line + "\n";
}

std::string PredictionLines(const Schema& schema, Loss loss, std::span<const float> outputs,
                            const PredictionFormat& format, std::span<const std::string> rows) {
  std::string text;
  const std::vector<float> values = OutputValues(schema, loss, outputs);
  const auto columns = static_cast<std::size_t>(schema.outputs());
  for (std::size_t row = 0; row * columns < values.size(); ++row) {
    const auto one = std::span<const float>(values).subspan(row * columns, columns);
    const std::string_view written = rows.empty() ? std::string_view() : rows[row];
    text += format.json ? JsonLine(schema, one, format, written)
                        : CsvLine(schema, one, format, written);
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
