#include "training/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <system_error>

#include "core/guard/json_text.h"
#include "core/guard/mapped_faults.h"
#include "core/ids.h"
#include "core/replaced_file.h"
#include "nn/safetensors.h"
#include "training/model/model_file.h"
#include "training/network.h"

namespace hogbatch {
namespace {

// Goes up when a reader of the older format would be misled.
constexpr int kFormat = 1;

template <typename T>
std::span<const T> Cut(const Array<T>& values, std::int64_t begin, std::int64_t end) {
  return std::span(values).subspan(begin, end - begin);
}

// Collects the tensors of all splits.
class Tensors {
 public:
  void AddSplit(const std::string& split, const Dataset& data, RowRange rows) {
    if (rows.size() == 0) return;
    AddRows(split, data, rows);
    AddLabels(split, data, rows);
  }

  // Long numbers first, so that every tensor is aligned.
  std::vector<TensorView> Ordered() const {
    std::vector<TensorView> ordered = tensors_;
    std::ranges::stable_partition(ordered, [](const TensorView& tensor) {
      return std::holds_alternative<std::span<const std::int64_t>>(tensor.data);
    });
    return ordered;
  }

 private:
  void AddRows(const std::string& split, const Dataset& data, RowRange rows) {
    if (!data.is_sparse) {
      tensors_.push_back({split + ".x",
                          {rows.size(), data.features},
                          Cut(data.dense, rows.begin * data.features, rows.end * data.features)});
      return;
    }
    const RowRange values = AddOffsets(split + ".offsets", data.offsets, rows);
    Add(split + ".columns", Cut(data.columns, values.begin, values.end));
    Add(split + ".values", Cut(data.values, values.begin, values.end));
  }

  void AddLabels(const std::string& split, const Dataset& data, RowRange rows) {
    if (!data.label_offsets.empty()) {
      const RowRange labels = AddOffsets(split + ".label_offsets", data.label_offsets, rows);
      Add(split + ".labels", Cut(data.labels, labels.begin, labels.end));
    } else if (!data.classes.empty()) {
      Add(split + ".classes", Cut(data.classes, rows.begin, rows.end));
    } else {
      Add(split + ".targets", Cut(data.targets, rows.begin, rows.end));
    }
  }

  // Those of a split begin at 0. Returns what they cover in the whole.
  RowRange AddOffsets(const std::string& name, const Array<std::int64_t>& whole, RowRange rows) {
    const auto part = Cut(whole, rows.begin, rows.end + 1);
    std::vector<std::int64_t>& own = offsets_.emplace_back(part.begin(), part.end());
    RequireReadable(part.data());
    const RowRange covered = {own.front(), own.back()};
    for (std::int64_t& offset : own) offset -= covered.begin;
    Add(name, std::span<const std::int64_t>(own));
    return covered;
  }

  template <typename T>
  void Add(const std::string& name, std::span<const T> values) {
    tensors_.push_back({name, {static_cast<std::int64_t>(values.size())}, values});
  }

  std::vector<TensorView> tensors_;
  std::deque<std::vector<std::int64_t>> offsets_;  // tensors_ refers to them
};

// One word of export.json differs from that of model files.
std::string_view WordFor(LabelKind kind) {
  return kind == LabelKind::kMultiLabel ? "multilabel" : Name(kind);
}

std::string Describe(const TrainingInput& input, const TrainingSpec& spec, const ModelSpec& model) {
  const TrainingData& training = input.training;
  const std::int64_t values = training.data.is_sparse
                                  ? training.data.offsets[training.train_rows]
                                  : training.train_rows * training.data.features;
  const nlohmann::ordered_json json = {
      {"format", kFormat},
      {"source", training.data.source},
      {"rows",
       {{"train", training.train_rows},
        {"valid", training.data.rows - training.train_rows},
        {"test", input.test ? input.test->rows : 0}}},
      {"evaluated_train_rows", EvaluatedRows(spec.eval_rows, training.train_rows,
                                             training.data.rows - training.train_rows)},
      {"features", model.inputs},
      {"sparse", model.sparse_input},
      {"nonzeros", values},  // stored in the training rows
      {"label_kind", WordFor(training.schema.label_kind)},
      {"outputs", model.outputs},
      {"hidden", model.hidden},
      {"activation", Name(model.activation)},
      {"loss", Name(model.loss)},
      {"data_seed", spec.seed},
      {"target_mean", training.schema.target_mean},
      {"target_deviation", training.schema.target_deviation}};
  return JsonText(json, 2) + "\n";
}

void ExportData(const TrainingInput& input, const std::string& path) {
  const TrainingData& training = input.training;
  Tensors tensors;
  tensors.AddSplit("train", training.data, {0, training.train_rows});
  tensors.AddSplit("valid", training.data, {training.train_rows, training.data.rows});
  if (input.test) tensors.AddSplit("test", *input.test, {0, input.test->rows});
  WriteSafeTensors(path, {{"format", "hogbatch data"}}, tensors.Ordered());
  if (!IsReadable(training.data)) std::filesystem::remove(path);
  RequireReadable(training.data);
}

}  // namespace

void Export(const TrainingInput& input, const TrainingSpec& spec,
            const std::vector<std::int64_t>& seeds, const std::string& folder) {
  const ModelSpec model = ChooseModel(spec, input);
  const Initialization init = ChooseInit(spec, model);
  // An earlier one must not vouch for rows and weights that it was not written with.
  std::error_code error;
  std::filesystem::remove(folder + "/export.json", error);
  ExportData(input, folder + "/data.safetensors");
  for (const std::int64_t seed : seeds) {
    SaveModel(fmt::format("{}/initial-{}.safetensors", folder, seed), model, input.training.schema,
              StartingWeights(model, init, static_cast<std::uint64_t>(seed), input));
  }
  ReplaceFile(folder + "/export.json", Describe(input, spec, model));
}

}  // namespace hogbatch
