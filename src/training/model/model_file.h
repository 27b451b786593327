// A trained network in a file: weights that any safetensors reader opens, and metadata with
// everything needed to use them on new rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/replaced_file.h"
#include "datasets/schema.h"
#include "nn/model_spec.h"

namespace hogbatch {

struct SavedModel {
  ModelSpec spec;
  Schema schema;
  std::vector<float> parameters;  // a flat array of Layout(spec)
};

// The model of a run in its folder.
inline std::string ModelPath(const std::string& folder) { return folder + "/model.safetensors"; }

// The loss for a kind of labels, and the kind of labels that a loss is for.
Loss LossFor(LabelKind kind);
LabelKind LabelsFor(Loss loss);

// Replaces `path` atomically. `parameters` is a flat array of Layout(spec).
void SaveModel(const std::string& path, const ModelSpec& spec, const Schema& schema,
               std::span<const float> parameters, NamedBy named_by = NamedBy::kProgram);

inline void SaveModel(const std::string& path, const SavedModel& model,
                      NamedBy named_by = NamedBy::kProgram) {
  SaveModel(path, model.spec, model.schema, model.parameters, named_by);
}

// The bytes of its file.
std::size_t BytesInFile(const SavedModel& model);

// Throws UserError, which names the file, if anything is wrong with it.
SavedModel LoadModel(const std::string& path);

// Why training of `spec` on data of `schema` cannot start from this model; empty if it can.
std::string WhyNoStart(const SavedModel& model, const ModelSpec& spec, const Schema& schema);

}  // namespace hogbatch
