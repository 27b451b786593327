#include "training/onnx/onnx.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "training/model/ensemble.h"
#include "training/onnx/graph.h"

namespace hogbatch {
namespace {

using onnx::Attribute;
using onnx::Graph;
using onnx::Type;

constexpr bool kMl = true;  // the domain ai.onnx.ml

// Pieces of the features of a row, beside each other in any order.
class Features {
 public:
  explicit Features(Graph& graph) : graph_(graph) {}

  // A tensor of rows × features.size(), and which feature each of its columns is.
  void Add(const std::string& tensor, const std::vector<std::int64_t>& features) {
    tensors_.push_back(tensor);
    features_.insert(features_.end(), features.begin(), features.end());
  }

  // All of them in order.
  std::string Ordered() {
    const std::string all =
        tensors_.size() == 1 ? tensors_.front()
                             : graph_.Add("Concat", tensors_, {Attribute("axis", std::int64_t{1})});
    std::vector<std::int64_t> place(features_.size());
    for (std::size_t i = 0; i < features_.size(); ++i) {
      place[features_[i]] = static_cast<std::int64_t>(i);
    }
    const auto count = std::ssize(place);
    return graph_.Add("Gather", {all, graph_.Integers(place, {count})},
                      {Attribute("axis", std::int64_t{1})});
  }

 private:
  Graph& graph_;
  std::vector<std::string> tensors_;
  std::vector<std::int64_t> features_;
};

// The columns of one kind.
std::vector<std::size_t> ColumnsOf(const Schema& schema, ColumnKind kind) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < schema.table.size(); ++i) {
    if (schema.table[i].kind == kind) columns.push_back(i);
  }
  return columns;
}

std::string Cast(Graph& graph, const std::string& tensor, Type to) {
  return graph.Add("Cast", {tensor}, {Attribute("to", static_cast<std::int64_t>(to))});
}

// The indicators of the columns that have one; `missing` is rows × columns.
void AddIndicators(Graph& graph, const Schema& schema, const std::vector<std::size_t>& columns,
                   const std::string& missing, Features& features) {
  std::vector<std::int64_t> places, indicators;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const TableColumn& column = schema.table[columns[i]];
    if (!column.has_indicator) continue;
    places.push_back(static_cast<std::int64_t>(i));
    indicators.push_back(column.feature + column.features() - 1);
  }
  if (places.empty()) return;
  const std::string chosen = graph.Add(
      "Gather", {Cast(graph, missing, Type::kFloat), graph.Integers(places, {std::ssize(places)})},
      {Attribute("axis", std::int64_t{1})});
  features.Add(chosen, indicators);
}

// An input with a matrix of columns, and the same with missing cells filled.
struct FilledColumns {
  std::string missing;  // which cells are
  std::string filled;
};
FilledColumns AddFilled(Graph& graph, const Schema& schema, const std::vector<std::size_t>& columns,
                        const std::string& input, Type type, Features& features) {
  const auto count = std::ssize(columns);
  graph.AddInput(input, type, count);
  std::vector<float> fills;
  std::vector<std::int64_t> places;
  for (const std::size_t column : columns) {
    fills.push_back(schema.table[column].fill);
    places.push_back(schema.table[column].feature);
  }
  const std::string fill = Cast(graph, graph.Floats(fills, {1, count}), type);
  const std::string missing = graph.Add("IsNaN", {input});
  const std::string filled = graph.Add("Where", {missing, fill, input});
  features.Add(Cast(graph, filled, Type::kFloat), places);
  AddIndicators(graph, schema, columns, missing, features);
  return {.missing = missing, .filled = filled};
}

void AddNumbers(Graph& graph, const Schema& schema, Features& features) {
  const auto columns = ColumnsOf(schema, ColumnKind::kNumber);
  if (!columns.empty()) AddFilled(graph, schema, columns, "numbers", Type::kFloat, features);
}

void AddDates(Graph& graph, const Schema& schema, Features& features) {
  const auto columns = ColumnsOf(schema, ColumnKind::kDate);
  if (columns.empty()) return;
  const auto [missing, days] = AddFilled(graph, schema, columns, "dates", Type::kDouble, features);
  // The year, the week and, in columns that have it, the time of day.
  constexpr std::array<double, 3> kPeriods = {365.2425, 7, 1};
  for (std::size_t cycle = 0; cycle < kPeriods.size(); ++cycle) {
    for (const std::int64_t phase : {0, 1}) {
      std::vector<std::int64_t> from, to;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const TableColumn& column = schema.table[columns[i]];
        if (cycle == 2 && !column.has_time_of_day) continue;
        from.push_back(static_cast<std::int64_t>(i));
        to.push_back(column.feature + 1 + 2 * static_cast<std::int64_t>(cycle) + phase);
      }
      if (from.empty()) continue;
      // A cosine is a sine a quarter later.
      const std::array<double, 1> speed = {2 * std::numbers::pi / kPeriods[cycle]};
      const std::array<double, 1> shift = {phase == 0 ? 0 : std::numbers::pi / 2};
      const std::string angle = graph.Add(
          "Add", {graph.Add("Mul", {days, graph.Doubles(speed, {1})}), graph.Doubles(shift, {1})});
      const std::string sine = Cast(graph, graph.Add("Sin", {angle}), Type::kFloat);
      const std::string known = graph.Add("Where", {missing, graph.Float(0), sine});
      features.Add(graph.Add("Gather", {known, graph.Integers(from, {std::ssize(from)})},
                             {Attribute("axis", std::int64_t{1})}),
                   to);
    }
  }
}

void AddWords(Graph& graph, const Schema& schema, std::size_t index, Features& features) {
  const TableColumn& column = schema.table[index];
  const std::string input = ColumnName(schema, index);
  graph.AddInput(input, Type::kString, 1);
  std::vector<std::string> keys = column.categories;
  std::vector<std::int64_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  keys.emplace_back("");
  numbers.push_back(column.fill_category);
  const std::int64_t others = std::ssize(column.categories);
  const std::int64_t depth = others + (column.has_other ? 1 : 0);
  // A number beyond the depth is 0 everywhere.
  const std::string number =
      graph.Add("LabelEncoder", {input},
                {Attribute("keys_strings", keys), Attribute("values_int64s", numbers),
                 Attribute("default_int64", others)},
                kMl);
  const std::array<float, 2> off_on = {0, 1};
  const std::array<std::int64_t, 1> depths = {depth}, axes = {1};
  const std::string cube =
      graph.Add("OneHot", {number, graph.Integers(depths, {1}), graph.Floats(off_on, {2})},
                {Attribute("axis", std::int64_t{-1})});
  std::vector<std::int64_t> places(depth);
  std::iota(places.begin(), places.end(), column.feature);
  features.Add(graph.Add("Squeeze", {cube, graph.Integers(axes, {1})}), places);
  if (!column.has_indicator) return;
  const std::string indicator = graph.Add(
      "LabelEncoder", {input},
      {Attribute("keys_strings", std::vector<std::string>{""}),
       Attribute("values_floats", std::vector<float>{1}), Attribute("default_float", 0.0f)},
      kMl);
  features.Add(indicator, {column.feature + column.features() - 1});
}

// The inputs of the network, from the inputs of the file.
std::string AddFeatures(Graph& graph, const Schema& schema) {
  if (schema.format != FileFormat::kCsv) {
    graph.AddInput("numbers", Type::kFloat, schema.features);
    return "numbers";
  }
  Features features(graph);
  AddNumbers(graph, schema, features);
  AddDates(graph, schema, features);
  for (std::size_t i = 0; i < schema.table.size(); ++i) {
    const TableColumn& column = schema.table[i];
    if (column.kind == ColumnKind::kCategory) AddWords(graph, schema, i, features);
    if (column.kind == ColumnKind::kHashed) {
      throw UserError(fmt::format(
          "column {} has hashed words, which ONNX cannot compute; train without it (--ignore)",
          ColumnName(schema, i)));
    }
  }
  return features.Ordered();
}

std::string AddActivation(Graph& graph, Activation activation, const std::string& x) {
  switch (activation) {
    case Activation::kRelu:
      return graph.Add("Relu", {x});
    case Activation::kSigmoid:
      return graph.Add("Sigmoid", {x});
    case Activation::kTanh:
      return graph.Add("Tanh", {x});
    case Activation::kIdentity:
      return x;
    case Activation::kGelu:
      break;
  }
  // x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
  const std::string cube = graph.Add("Mul", {graph.Add("Mul", {x, x}), x});
  const std::string inner = graph.Add("Add", {x, graph.Add("Mul", {cube, graph.Float(0.044715f)})});
  const auto root = static_cast<float>(std::sqrt(2 / std::numbers::pi));
  const std::string tanh = graph.Add("Tanh", {graph.Add("Mul", {inner, graph.Float(root)})});
  const std::string half = graph.Add("Mul", {x, graph.Float(0.5f)});
  return graph.Add("Mul", {half, graph.Add("Add", {tanh, graph.Float(1)})});
}

std::string AddLayers(Graph& graph, const SavedModel& model, std::string x) {
  const std::span parameters = model.parameters;
  for (const LayerShape& layer : Layout(model.spec).layers) {
    const auto part = [&](std::int64_t at, std::int64_t count) {
      return parameters.subspan(at, count);
    };
    const std::string weights =
        graph.Floats(part(layer.weights_at, layer.in * layer.out), {layer.in, layer.out});
    const std::string bias = graph.Floats(part(layer.bias_at, layer.out), {layer.out});
    x = AddActivation(graph, layer.activation, graph.Add("Gemm", {x, weights, bias}));
  }
  return x;
}

// What one network predicts: probabilities, or numbers as the network has learnt them.
std::string AddMember(Graph& graph, const SavedModel& model, const std::string& x) {
  std::string outputs = AddLayers(graph, model, x);
  switch (model.schema.label_kind) {
    case LabelKind::kClass:
      return graph.Add("Softmax", {outputs}, {Attribute("axis", std::int64_t{1})});
    case LabelKind::kMultiLabel:
      return graph.Add("Sigmoid", {outputs});
    case LabelKind::kValue:
      break;
  }
  return outputs;
}

// The mean of what the members predict.
std::string AddMembers(Graph& graph, const SavedModel& model, const std::string& x) {
  std::vector<std::string> members;
  for (std::int64_t i = 0; i < model.spec.lanes; ++i) {
    members.push_back(AddMember(graph, MemberOf(model, i), x));
  }
  return members.size() == 1 ? members.front() : graph.Add("Mean", members);
}

void AddOutputs(Graph& graph, const SavedModel& model, const std::string& predicted) {
  const Schema& schema = model.schema;
  const std::string outputs = std::to_string(model.spec.outputs);
  if (schema.label_kind == LabelKind::kValue) {
    const std::string scaled =
        graph.Add("Mul", {predicted, graph.Float(static_cast<float>(schema.target_deviation))});
    graph.AddNamed("value", "Add", {scaled, graph.Float(static_cast<float>(schema.target_mean))});
    graph.AddOutput("value", Type::kFloat, {"rows", outputs});
    return;
  }
  graph.AddNamed("probabilities", "Identity", {predicted});
  if (schema.label_kind == LabelKind::kClass) {
    const std::string best =
        graph.Add("ArgMax", {predicted},
                  {Attribute("axis", std::int64_t{1}), Attribute("keepdims", std::int64_t{0})});
    std::vector<std::int64_t> numbers(schema.label_names.size());
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    graph.AddNamed(
        "label", "LabelEncoder", {best},
        {Attribute("keys_int64s", numbers), Attribute("values_strings", schema.label_names)}, kMl);
    graph.AddOutput("label", Type::kString, {"rows"});
  }
  graph.AddOutput("probabilities", Type::kFloat, {"rows", outputs});
}

std::string NamesOf(const Schema& schema, ColumnKind kind) {
  auto names = nlohmann::ordered_json::array();
  for (const std::size_t column : ColumnsOf(schema, kind))
    names.push_back(ColumnName(schema, column));
  return JsonText(names);
}

}  // namespace

std::string ToOnnx(const SavedModel& model) {
  const Schema& schema = model.schema;
  Graph graph;
  std::string x = AddFeatures(graph, schema);
  if (!schema.shift.empty()) {
    const std::string moved =
        graph.Add("Sub", {x, graph.Floats(schema.shift, {1, schema.features})});
    x = graph.Add("Mul", {moved, graph.Floats(schema.scale, {1, schema.features})});
  }
  AddOutputs(graph, model, AddMembers(graph, model, x));
  const nlohmann::ordered_json labels = schema.label_names;
  return graph.File({{"numbers", NamesOf(schema, ColumnKind::kNumber)},
                     {"dates", NamesOf(schema, ColumnKind::kDate)},
                     {"words", NamesOf(schema, ColumnKind::kCategory)},
                     {"labels", JsonText(labels)}});
}

}  // namespace hogbatch
