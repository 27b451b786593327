// A trained network in a file: weights that any safetensors reader opens, and in the metadata all
// that is needed to use them on new rows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datasets/schema.h"
#include "nn/model_spec.h"

namespace hogbatch {

struct SavedModel {
  ModelSpec spec;
  Schema schema;
  std::vector<float> parameters;  // a flat array of Layout(spec)
};

// The loss that learns labels of a kind.
Loss LossFor(LabelKind kind);

// Replaces `path` in one step. `parameters` is a flat array of Layout(spec).
void SaveModel(const std::string& path, const ModelSpec& spec, const Schema& schema,
               std::span<const float> parameters);

inline void SaveModel(const std::string& path, const SavedModel& model) {
  SaveModel(path, model.spec, model.schema, model.parameters);
}

// Throws UserError naming the file for whatever is wrong with it.
SavedModel LoadModel(const std::string& path);

// What keeps a model from being a start for training `spec` on data of `schema`; empty: nothing.
std::string WhyNoStart(const SavedModel& model, const ModelSpec& spec, const Schema& schema);

}  // namespace hogbatch
