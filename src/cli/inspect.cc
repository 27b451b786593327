#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/guard/machine_limits.h"
#include "core/guard/small_file.h"
#include "core/text.h"
#include "training/cache/cache_format.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/model/ensemble.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json ColumnsOf(const Schema& schema) {
  Json columns = Json::array();
  for (const TableColumn& column : schema.table) {
    Json one = {
        {"name", column.name}, {"kind", Name(column.kind)}, {"features", column.features()}};
    if (!column.categories.empty()) one["categories"] = column.categories;
    if (!column.reason.empty()) one["left_out_because"] = column.reason;
    columns.push_back(std::move(one));
  }
  return columns;
}

void AddSchema(const Schema& schema, Json& json) {
  json["trained_on"] = Title(schema.format);
  json["features"] = schema.features;
  json["scaling"] = Name(schema.scaling);
  json["label_kind"] = Name(schema.label_kind);
  if (!schema.label_name.empty()) json["label"] = schema.label_name;
  if (schema.label_kind != LabelKind::kValue) json["labels"] = schema.label_names;
  if (!schema.table.empty()) json["columns"] = ColumnsOf(schema);
}

Json ModelJson(const std::string& path) {
  const SavedModel model = LoadModel(path);
  Json json = {{"kind", "model"},
               {"file", path},
               {"network", WidthsText(model.spec)},
               {"activation", Name(model.spec.activation)},
               {"loss", Name(model.spec.loss)},
               {"parameters", Layout(model.spec).parameters}};
  if (IsEnsemble(model)) json["members"] = model.spec.lanes;
  AddSchema(model.schema, json);
  return json;
}

bool IsCache(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::array<char, 64> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return BeginsAsCache(std::as_bytes(std::span(head)));
}

// All of the file is checked, as before it is trained on. It is read, not mapped: the program may
// not be the only one that writes what the user names.
Json CacheJson(const std::string& path) {
  const auto budget = static_cast<std::size_t>(UsableMemory()) / 2;
  auto text = ReadSmallFile(path, budget);
  if (!text) {
    throw UserError(
        fmt::format("{}: cannot be read, or is larger than {} MB, half of the memory that the "
                    "program may use; use a machine with more memory",
                    path, budget >> 20));
  }
  const auto file = std::make_shared<const std::string>(*std::move(text));
  const auto bytes = std::as_bytes(std::span(*file));
  try {
    const TrainingData data = ParseCache(bytes, CacheKey(bytes), file);
    Json json = {{"kind", "cache"},
                 {"file", path},
                 {"data", data.data.source},
                 {"rows", data.data.rows},
                 {"training_rows", data.train_rows},
                 {"is_sparse", data.data.is_sparse}};
    AddSchema(data.schema, json);
    json["notes"] = data.data.notes;
    return json;
  } catch (const UserError& error) {
    throw UserError(
        fmt::format("{}: {}; remove the file: the next run makes it again", path, error.what()));
  }
}

Json CheckpointJson(const std::string& path) {
  const Checkpoint checkpoint = ReadCheckpoint(path);
  const auto options = ParseJson<Json>(checkpoint.texts.options);
  return {{"kind", "checkpoint"},
          {"file", path},
          {"weights", checkpoint.weights.size()},
          {"has_best_model", !checkpoint.best.empty()},
          {"workers", checkpoint.workers.size()},
          {"options", options.is_discarded() ? Json("damaged") : options}};
}

// What a file of a run is, or why it cannot be read.
Json FileJson(const std::string& path) {
  try {
    return path.ends_with("model.safetensors") ? ModelJson(path) : CheckpointJson(path);
  } catch (const UserError& error) {
    return {{"file", path}, {"problem", error.what()}};
  }
}

Json FolderJson(const std::string& folder) {
  Json json = {{"kind", "run"}, {"folder", folder}};
  const std::string model = ModelPath(folder);
  const std::vector<std::string> checkpoints = ListCheckpoints(folder);
  std::error_code error;
  if (fs::exists(model, error)) json["model"] = FileJson(model);
  for (const std::string& path : checkpoints) json["checkpoints"].push_back(FileJson(path));
  if (json.size() == 2) {
    throw UserError(fmt::format(
        "{}: holds neither a model nor a checkpoint; name the folder of a run", folder));
  }
  return json;
}

// Models and checkpoints are both safetensors files: the file is what its reader accepts.
Json AnyFileJson(const std::string& path) {
  if (IsCache(path)) return CacheJson(path);
  try {
    return ModelJson(path);
  } catch (const UserError& error) {
    try {
      return CheckpointJson(path);
    } catch (const UserError&) {
      if (CheckpointNumber(path) > 0) throw;  // its name says what it should be
      throw UserError(error.what());
    }
  }
}

// Lines of "key value", inner objects below their key.
std::string ValueText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The first elements of a list.
std::string ListText(const Json& list) {
  constexpr std::size_t kShown = 20;
  std::vector<std::string> parts;
  for (const Json& one : list) {
    if (parts.size() == kShown) {
      parts.emplace_back("...");
      break;
    }
    parts.push_back(ValueText(one));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// An object of a list, on one line.
std::string ElementText(const Json& element) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : element.items()) {
    if (value.is_structured()) {
      parts.push_back(fmt::format("{} {}", value.size(), name));
    } else {
      parts.push_back(value.is_string() ? ValueText(value)
                                        : fmt::format("{} {}", name, ValueText(value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void AddText(const Json& json, const std::string& indent, std::string& text) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      text += fmt::format("{}{}\n", indent, key);
      AddText(value, indent + "  ", text);
    } else if (value.is_array() && !value.empty() && value.front().is_object()) {
      text += fmt::format("{}{}\n", indent, key);
      for (const Json& one : value) text += fmt::format("{}  {}\n", indent, ElementText(one));
    } else {
      text += fmt::format("{}{:15} {}\n", indent, key,
                          value.is_array() ? ListText(value) : ValueText(value));
    }
  }
}

}  // namespace

int Inspect(const InspectOptions& options) {
  if (options.path.empty()) {
    throw UserError("inspect needs a file; for example: hogbatch inspect model.safetensors");
  }
  std::error_code error;
  const Json json =
      fs::is_directory(options.path, error) ? FolderJson(options.path) : AnyFileJson(options.path);
  if (options.json) {
    WriteOutput(JsonText(json, 2) + "\n");
    return kExitOk;
  }
  std::string text;
  AddText(json, "", text);
  WriteOutput(text);
  return kExitOk;
}

}  // namespace hogbatch
