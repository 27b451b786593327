#include "training/model/schema_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "training/model/json_numbers.h"
#include "training/model/table_json.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

std::vector<float> Floats(const Json& array, std::string_view what) {
  Require(array.is_array(), fmt::format("{} is not a list", what));
  std::vector<float> values;
  for (const Json& value : array) values.push_back(Float(value, what));
  return values;
}

std::vector<std::int64_t> Integers(const Json& array, std::int64_t min, std::string_view what) {
  Require(array.is_array(), fmt::format("{} is not a list", what));
  std::vector<std::int64_t> values;
  for (const Json& value : array) values.push_back(Integer(value, min, what));
  return values;
}

// LIBSVM and IDX: features are the file's columns, or those of them that are used. Readers trust
// these fields. If they did not agree, readers would write past the end of a row.
void CheckColumns(const Schema& schema) {
  Require(schema.file_columns <= std::int64_t{1} << 31,
          "file_columns is more than a file can have");
  Require(schema.format == FileFormat::kLibsvm || schema.used_columns.empty(),
          "IDX rows leave columns out");
  std::int64_t previous = -1;
  for (const std::int64_t column : schema.used_columns) {
    Require(column > previous && column < schema.file_columns,
            "the columns used do not ascend within the file's");
    previous = column;
  }
  const std::int64_t features =
      schema.used_columns.empty() ? schema.file_columns : std::ssize(schema.used_columns);
  Require(schema.features == features, "features and columns do not add up");
}

void ReadTable(const Json& json, Schema& schema) {
  Require(schema.used_columns.empty(), "a CSV file leaves columns out");
  if (json.contains("table")) {
    schema.table = TableFromJson(json["table"], schema.features);
  } else {
    schema.table = TableFromFormat1(json, schema.file_columns);
    CheckTable(schema.table, schema.features);
  }
  Require(std::ssize(schema.table) == schema.file_columns, "table and file_columns differ");
}

void CheckScaling(const Schema& schema) {
  const std::size_t wanted = schema.scaling == ScalingKind::kNone ? 0 : schema.features;
  Require(schema.shift.size() == wanted && schema.scale.size() == wanted,
          "scaling and features differ in number");
}

void CheckLabels(const Schema& schema) {
  const std::set<std::string> names(schema.label_names.begin(), schema.label_names.end());
  Require(names.size() == schema.label_names.size(), "a label stands twice");
  Require(schema.positive.empty() || (schema.label_kind == LabelKind::kClass && names.size() == 2),
          "a positive label stands beside other than two classes");
  switch (schema.label_kind) {
    case LabelKind::kClass:
      Require(names.size() >= 2, "there are fewer than two classes");
      break;
    case LabelKind::kMultiLabel:
      Require(!names.empty(), "there is no label");
      break;
    case LabelKind::kValue:
      Require(schema.target_deviation > 0, "the labels' deviation is not above 0");
  }
}

// Empty: labels are plain numbers, or words.
std::string DecimalOf(std::optional<NumberStyle> style) {
  if (!style) return "";
  return *style == NumberStyle::kComma ? "," : ".";
}

std::string Dump(const Json& object) { return JsonText(object); }

Schema ReadSchema(const Json& json) {
  Schema schema;
  schema.format = ParseFileFormat(json.at("format").get<std::string>());
  schema.file_columns = Integer(json.at("file_columns"), 0, "file_columns");
  schema.features = Integer(json.at("features"), 1, "features");
  schema.used_columns = Integers(json.at("used_columns"), 0, "used_columns");
  schema.label_column = json.at("label_column").get<std::string>();
  schema.label_name = json.value("label_name", std::string());  // older models do not have it
  const std::string decimal = json.value("label_decimal", std::string());  // nor this
  Require(decimal.empty() || decimal == "." || decimal == ",", "label_decimal is neither . nor ,");
  if (!decimal.empty()) {
    schema.label_style = decimal == "," ? NumberStyle::kComma : NumberStyle::kPoint;
  }
  schema.scaling = ParseScaling(json.at("scaling").get<std::string>());
  schema.shift = Floats(json.at("shift"), "shift");
  schema.scale = Floats(json.at("scale"), "scale");
  schema.label_kind = ParseLabelKind(json.at("label_kind").get<std::string>());
  schema.label_names = json.at("label_names").get<std::vector<std::string>>();
  schema.positive = json.at("positive").get<std::string>();
  schema.target_mean = Real(json.at("target_mean"), kLargestTarget, "target_mean");
  schema.target_deviation = Real(json.at("target_deviation"), kLargestTarget, "target_deviation");
  if (schema.format == FileFormat::kCsv) {
    ReadTable(json, schema);
  } else {
    const Json none = Json::array();
    Require(json.value("table", none).empty() && json.value("categorical", none).empty(),
            fmt::format("{} rows have a table", Title(schema.format)));
    CheckColumns(schema);
  }
  CheckScaling(schema);
  CheckLabels(schema);
  return schema;
}

ModelSpec ReadSpec(const Json& json) {
  ModelSpec spec;
  spec.inputs = Integer(json.at("inputs"), 1, "inputs");
  spec.hidden = Integers(json.at("hidden"), 1, "hidden");
  spec.outputs = Integer(json.at("outputs"), 1, "outputs");
  spec.activation = ParseActivation(json.at("activation").get<std::string>());
  spec.loss = ParseLoss(json.at("loss").get<std::string>());
  spec.sparse_input = json.at("sparse_input").get<bool>();
  if (json.contains("members")) spec.lanes = Integer(json["members"], 2, "members");
  Require(spec.lanes <= kMostMembers, "an ensemble has too many members");
  return spec;
}

// Runs `read` on the parsed text. Exceptions of the JSON library become UserErrors.
template <typename Read>
auto FromJson(std::string_view text, Read read) {
  const auto json = ParseJson<Json>(text);
  Require(!json.is_discarded(),
          "its metadata is not valid JSON, nested too deeply, or has too many keys");
  try {
    return read(json);
  } catch (const Json::exception& error) {
    // "[json.exception.out_of_range.403] key 'inputs' not found"
    const std::string_view what = error.what();
    throw UserError(fmt::format("its metadata is wrong: {}", what.substr(what.find("] ") + 2)));
  }
}

}  // namespace

std::string SpecToJson(const ModelSpec& spec) {
  Json json = {{"inputs", spec.inputs},   {"hidden", spec.hidden},
               {"outputs", spec.outputs}, {"activation", Name(spec.activation)},
               {"loss", Name(spec.loss)}, {"sparse_input", spec.sparse_input}};
  if (spec.lanes > 1) json["members"] = spec.lanes;
  return Dump(json);
}

std::string SchemaToJson(const Schema& schema) {
  return Dump({{"format", Name(schema.format)},
               {"file_columns", schema.file_columns},
               {"features", schema.features},
               {"used_columns", schema.used_columns},
               {"table", TableToJson(schema.table)},
               {"label_column", schema.label_column},
               {"label_name", schema.label_name},
               {"label_decimal", DecimalOf(schema.label_style)},
               {"scaling", Name(schema.scaling)},
               {"shift", schema.shift},
               {"scale", schema.scale},
               {"label_kind", Name(schema.label_kind)},
               {"label_names", schema.label_names},
               {"positive", schema.positive},
               {"target_mean", schema.target_mean},
               {"target_deviation", schema.target_deviation}});
}

ModelSpec SpecFromJson(std::string_view text) { return FromJson(text, ReadSpec); }

Schema SchemaFromJson(std::string_view text) { return FromJson(text, ReadSchema); }

}  // namespace hogbatch
