#include "training/model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/guard/format_version.h"
#include "core/text.h"
#include "nn/lanes/lanes.h"
#include "nn/safetensors.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

// Incremented when an older program would misread a file. Fields that it may ignore need no new
// format.
constexpr std::int64_t kFormat = 3;          // the first that may be an ensemble
constexpr std::int64_t kFormatOfSingle = 2;  // 1 had no table

const std::string& Metadata(const SafeTensors& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw UserError(fmt::format("its metadata has no '{}'", key));
  return found->second;
}

// Throws UserError unless this program can read the file.
void CheckFormat(const std::string& path, const SafeTensors& file) {
  const auto by = file.metadata.find("format");
  if (by == file.metadata.end() || by->second != "hogbatch") {
    throw UserError(fmt::format(
        "{} cannot be used as a model: it was not written by hogbatch; name a model.safetensors "
        "that 'hogbatch train' wrote",
        path));
  }
  const auto version = file.metadata.find("version");
  std::int64_t format = 0;
  if (version == file.metadata.end() || !ReadAll(version->second, format) || format < 1) {
    throw UserError(fmt::format(
        "{} cannot be used as a model: its metadata has no format version; the file is damaged",
        path));
  }
  RefuseNewerFormat(path, format, kFormat);
}

void CheckAgreement(const ModelSpec& spec, const Schema& schema) {
  if (spec.inputs != schema.features || spec.outputs != schema.outputs()) {
    throw UserError(fmt::format("its network takes {} features to {} outputs, its data {} to {}",
                                spec.inputs, spec.outputs, schema.features, schema.outputs()));
  }
  if (spec.loss != LossFor(schema.label_kind)) {
    throw UserError(fmt::format("its loss {} does not fit its labels", Name(spec.loss)));
  }
}

const SafeTensors::Tensor& FindTensor(const SafeTensors& file, const std::string& name,
                                      const std::vector<std::int64_t>& shape) {
  const SafeTensors::Tensor* tensor = file.Find(name);
  if (!tensor) throw UserError(fmt::format("it has no tensor {}", name));
  if (tensor->shape != shape) {
    throw UserError(
        fmt::format("its tensor {} has shape {}, not {}", name, Join(tensor->shape), Join(shape)));
  }
  return *tensor;
}

std::string LayerName(std::size_t layer, std::string_view part) {
  return fmt::format("layers.{}.{}", layer, part);
}

// Of a tensor in the file. Members of an ensemble lie one behind the other.
std::vector<std::int64_t> ShapeOf(const ModelSpec& spec, std::vector<std::int64_t> alone) {
  if (spec.lanes > 1) alone.insert(alone.begin(), spec.lanes);
  return alone;
}

// Where the numbers of a tensor lie in the flat array of one member.
struct TensorPart {
  std::string name;
  std::vector<std::int64_t> shape;  // in the file
  std::int64_t at = 0;
  std::int64_t count = 0;  // of a member
};
std::vector<TensorPart> PartsOf(const ModelSpec& spec) {
  std::vector<TensorPart> parts;
  const ParameterLayout layout = Layout(Alone(spec));
  for (std::size_t i = 0; i < layout.layers.size(); ++i) {
    const LayerShape& layer = layout.layers[i];
    parts.push_back({LayerName(i, "weight"), ShapeOf(spec, {layer.in, layer.out}), layer.weights_at,
                     layer.in * layer.out});
    parts.push_back({LayerName(i, "bias"), ShapeOf(spec, {layer.out}), layer.bias_at, layer.out});
  }
  return parts;
}

std::vector<float> ReadParameters(const SafeTensors& file, const ModelSpec& spec) {
  const std::vector<TensorPart> parts = PartsOf(spec);
  if (file.tensors.size() != parts.size()) {
    throw UserError(fmt::format("it has {} tensors, and its network needs {}", file.tensors.size(),
                                parts.size()));
  }
  // Checks every tensor before memory is allocated: a size is plausible only if the file has the
  // numbers.
  std::vector<const std::vector<float>*> numbers;
  for (const TensorPart& part : parts) {
    numbers.push_back(&FindTensor(file, part.name, part.shape).data);
  }
  std::vector<float> flat(Layout(spec).floats);
  std::vector<float> alone(Layout(Alone(spec)).floats);
  for (std::int64_t lane = 0; lane < spec.lanes; ++lane) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::copy_n(numbers[i]->begin() + lane * parts[i].count, parts[i].count,
                  alone.begin() + parts[i].at);
    }
    SetLane(spec, lane, alone, flat);
  }
  return flat;
}

// The numbers of each tensor in the file.
std::vector<std::vector<float>> NumbersOf(const ModelSpec& spec, std::span<const float> parameters,
                                          std::span<const TensorPart> parts) {
  std::vector<std::vector<float>> numbers(parts.size());
  for (std::int64_t lane = 0; lane < spec.lanes; ++lane) {
    const std::vector<float> alone = LaneOf(spec, parameters, lane);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto from = alone.begin() + parts[i].at;
      numbers[i].insert(numbers[i].end(), from, from + parts[i].count);
    }
  }
  return numbers;
}

// What the file of a model holds. The parameters outlive it.
class FileContent {
 public:
  FileContent(const ModelSpec& spec, const Schema& schema, std::span<const float> parameters);
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  std::span<const TensorView> tensors() const { return tensors_; }

 private:
  std::vector<std::vector<float>> numbers_;  // of an ensemble; others lie as in the file
  std::map<std::string, std::string> metadata_;
  std::vector<TensorView> tensors_;
};

FileContent::FileContent(const ModelSpec& spec, const Schema& schema,
                         std::span<const float> parameters) {
  Check(std::ssize(parameters) == Layout(spec).floats, "parameters to save have the wrong number");
  const std::vector<TensorPart> parts = PartsOf(spec);
  const bool is_ensemble = spec.lanes > 1;
  if (is_ensemble) numbers_ = NumbersOf(spec, parameters, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    tensors_.push_back({parts[i].name, parts[i].shape,
                        is_ensemble ? std::span<const float>(numbers_[i])
                                    : parameters.subspan(parts[i].at, parts[i].count)});
  }
  metadata_ = {
      {"format", "hogbatch"},
      {"version", std::to_string(is_ensemble ? kFormat : kFormatOfSingle)},
      {"weights", is_ensemble ? "[member, in, out], row-major: y = x @ weight[member] + "
                                "bias[member]; the members' outputs are averaged"
                              : "[in, out], row-major: y = x @ weight + bias"},
      {"inputs",
       "of a CSV those of each column of the table, from its `feature` on (a number; a 0/1 input "
       "for each category; for all others; for a missing cell); of other files the columns "
       "(used_columns only, if any are named); each input is (x - shift) * scale"},
      {"outputs",
       "softmax, or sigmoid, of the last layer; for squared loss output * "
       "target_deviation + target_mean. gelu is the tanh form"},
      {"network", SpecToJson(spec)},
      {"schema", SchemaToJson(schema)}};
}

}  // namespace

Loss LossFor(LabelKind kind) {
  switch (kind) {
    case LabelKind::kClass:
      return Loss::kSoftmax;
    case LabelKind::kMultiLabel:
      return Loss::kSigmoid;
    case LabelKind::kValue:
      break;
  }
  return Loss::kSquared;
}

LabelKind LabelsFor(Loss loss) {
  switch (loss) {
    case Loss::kSoftmax:
      return LabelKind::kClass;
    case Loss::kSigmoid:
      return LabelKind::kMultiLabel;
    case Loss::kSquared:
      break;
  }
  return LabelKind::kValue;
}

void SaveModel(const std::string& path, const ModelSpec& spec, const Schema& schema,
               std::span<const float> parameters, NamedBy named_by) {
  const FileContent content(spec, schema, parameters);
  WriteSafeTensors(path, content.metadata(), content.tensors(), named_by);
}

std::size_t BytesInFile(const SavedModel& model) {
  const FileContent content(model.spec, model.schema, model.parameters);
  return SafeTensorsBytes(content.metadata(), content.tensors());
}

SavedModel LoadModel(const std::string& path) {
  const SafeTensors file = ReadSafeTensors(path);
  CheckFormat(path, file);
  try {
    SavedModel model;
    model.spec = SpecFromJson(Metadata(file, "network"));
    model.schema = SchemaFromJson(Metadata(file, "schema"));
    CheckAgreement(model.spec, model.schema);
    model.parameters = ReadParameters(file, model.spec);
    return model;
  } catch (const UserError& error) {
    throw UserError(fmt::format("{} cannot be used as a model: {}", path, error.what()));
  }
}

std::string WhyNoStart(const SavedModel& model, const ModelSpec& spec, const Schema& schema) {
  if (model.spec.lanes > 1) return "it is an ensemble; name one of its members";
  if (model.spec.inputs != spec.inputs || model.spec.hidden != spec.hidden ||
      model.spec.outputs != spec.outputs) {
    return fmt::format("its network is {}, and this training's is {}{}", WidthsText(model.spec),
                       WidthsText(spec),
                       model.spec.hidden == spec.hidden || model.spec.hidden.empty()
                           ? ""
                           : fmt::format("; try --hidden {}", Join(model.spec.hidden)));
  }
  if (model.spec.activation != spec.activation) {
    return fmt::format("its activation is {}, and this training's is {}",
                       Name(model.spec.activation), Name(spec.activation));
  }
  if (model.spec.loss != spec.loss) {
    return fmt::format("its loss is {}, and this training's is {}", Name(model.spec.loss),
                       Name(spec.loss));
  }
  if (model.schema.label_names != schema.label_names) return "its labels are not this data's";
  return "";
}

}  // namespace hogbatch
