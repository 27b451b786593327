#include "training/model/schema_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/guard/json_text.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

void Require(bool holds, const std::string& what) {
  if (!holds) throw UserError(what);
}

std::int64_t Integer(const Json& value, std::int64_t min, std::string_view what) {
  Require(value.is_number_integer(), fmt::format("{} is not a whole number", what));
  // No real file has larger numbers, and sums of smaller ones do not overflow.
  constexpr auto kMax = std::int64_t{1} << 53;
  const auto number = value.get<std::int64_t>();
  Require(number >= min && number <= kMax, fmt::format("{} is {}", what, number));
  return number;
}

double Real(const Json& value, double largest, std::string_view what) {
  Require(value.is_number(), fmt::format("{} is not a number", what));
  const auto number = value.get<double>();
  Require(std::abs(number) <= largest, fmt::format("{} is {}, beyond {:g}", what, number, largest));
  return number;
}

std::vector<float> Floats(const Json& array, std::string_view what) {
  Require(array.is_array(), fmt::format("{} is not a list", what));
  std::vector<float> values;
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (const Json& value : array) {
    values.push_back(static_cast<float>(Real(value, kLargest, what)));
  }
  return values;
}

std::vector<std::int64_t> Integers(const Json& array, std::int64_t min, std::string_view what) {
  Require(array.is_array(), fmt::format("{} is not a list", what));
  std::vector<std::int64_t> values;
  for (const Json& value : array) values.push_back(Integer(value, min, what));
  return values;
}

// LIBSVM and IDX: features are the file's columns, or those of them that are used.
std::int64_t FeaturesOfNumbers(const Schema& schema) {
  Require(schema.categorical.empty(),
          fmt::format("{} rows have categorical columns", Title(schema.format)));
  Require(schema.format == FileFormat::kLibsvm || schema.used_columns.empty(),
          "IDX rows leave columns out");
  std::int64_t previous = -1;
  for (const std::int64_t column : schema.used_columns) {
    Require(column > previous && column < schema.file_columns,
            "the columns used do not ascend within the file's");
    previous = column;
  }
  return schema.used_columns.empty() ? schema.file_columns
                                     : static_cast<std::int64_t>(schema.used_columns.size());
}

// CSV: every column is a number or, if categorical, as many features as it has values.
std::int64_t FeaturesOfCsv(const Schema& schema) {
  Require(schema.used_columns.empty(), "a CSV file leaves columns out");
  std::int64_t features = schema.file_columns;
  std::set<std::int64_t> seen;
  for (const CategoricalColumn& column : schema.categorical) {
    Require(column.column < schema.file_columns && seen.insert(column.column).second,
            "a categorical column lies outside the file or stands twice");
    Require(!column.values.empty(), "a categorical column has no category");
    Require(std::set(column.values.begin(), column.values.end()).size() == column.values.size(),
            "a category stands twice");
    features += static_cast<std::int64_t>(column.values.size()) - 1;
  }
  return features;
}

// Readers trust these fields. If they did not agree, readers would write past the end of a row.
void CheckColumns(const Schema& schema) {
  Require(schema.file_columns <= std::int64_t{1} << 31,
          "file_columns is more than a file can have");
  const std::int64_t features =
      schema.format == FileFormat::kCsv ? FeaturesOfCsv(schema) : FeaturesOfNumbers(schema);
  Require(schema.features == features, "features and columns do not add up");
  Require(schema.column_names.empty() ||
              static_cast<std::int64_t>(schema.column_names.size()) == schema.file_columns,
          "names and columns differ in number");
}

void CheckScaling(const Schema& schema) {
  const auto features = static_cast<std::size_t>(schema.features);
  const std::size_t wanted = schema.scaling == ScalingKind::kNone ? 0 : features;
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

Json CategoricalToJson(const std::vector<CategoricalColumn>& columns) {
  Json array = Json::array();
  for (const CategoricalColumn& column : columns) {
    array.push_back({{"column", column.column}, {"values", column.values}});
  }
  return array;
}

std::string Dump(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Schema ReadSchema(const Json& json) {
  Schema schema;
  schema.format = ParseFileFormat(json.at("format").get<std::string>());
  schema.file_columns = Integer(json.at("file_columns"), 0, "file_columns");
  schema.features = Integer(json.at("features"), 1, "features");
  schema.used_columns = Integers(json.at("used_columns"), 0, "used_columns");
  for (const Json& column : json.at("categorical")) {
    schema.categorical.push_back(
        {.column = Integer(column.at("column"), 0, "a categorical column"),
         .values = Integers(column.at("values"), std::numeric_limits<std::int64_t>::min(),
                            "a category")});
  }
  schema.label_column = json.at("label_column").get<std::string>();
  // Older models do not have these fields.
  schema.column_names = json.value("column_names", std::vector<std::string>());
  schema.label_name = json.value("label_name", std::string());
  schema.scaling = ParseScaling(json.at("scaling").get<std::string>());
  schema.shift = Floats(json.at("shift"), "shift");
  schema.scale = Floats(json.at("scale"), "scale");
  schema.label_kind = ParseLabelKind(json.at("label_kind").get<std::string>());
  schema.label_names = json.at("label_names").get<std::vector<std::string>>();
  schema.positive = json.at("positive").get<std::string>();
  schema.target_mean = Real(json.at("target_mean"), kLargestTarget, "target_mean");
  schema.target_deviation = Real(json.at("target_deviation"), kLargestTarget, "target_deviation");
  CheckColumns(schema);
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
  return spec;
}

// Runs `read` on the parsed text. Exceptions of the JSON library become UserErrors.
template <typename Read>
auto FromJson(std::string_view text, Read read) {
  const auto json = ParseJson<Json>(text);
  Require(!json.is_discarded(), "its metadata is not valid JSON, or nested too deeply");
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
  return Dump({{"inputs", spec.inputs},
               {"hidden", spec.hidden},
               {"outputs", spec.outputs},
               {"activation", Name(spec.activation)},
               {"loss", Name(spec.loss)},
               {"sparse_input", spec.sparse_input}});
}

std::string SchemaToJson(const Schema& schema) {
  return Dump({{"format", Name(schema.format)},
               {"file_columns", schema.file_columns},
               {"features", schema.features},
               {"used_columns", schema.used_columns},
               {"categorical", CategoricalToJson(schema.categorical)},
               {"label_column", schema.label_column},
               {"column_names", schema.column_names},
               {"label_name", schema.label_name},
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
