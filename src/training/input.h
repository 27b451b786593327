// What a training reads from files.
#pragma once

#include <optional>

#include "datasets/dataset.h"
#include "training/model/model_file.h"
#include "training/observer.h"
#include "training/spec.h"

namespace hogbatch {

struct TrainingInput {
  TrainingData training;  // training rows, then validation rows
  std::optional<Dataset> test = {};
  std::optional<SavedModel> start = {};  // --init FILE
};

// How the data of a spec is read. UserError for a wrong word.
ReadOptions ReadOptionsOf(const TrainingSpec& spec);

// Reads the files that the spec names. With a model to start from, columns, labels and scaling stay
// as that model knows them. `start` stands for the model of --init FILE, which is not read then.
TrainingInput ReadInput(const TrainingSpec& spec, TrainingObserver& observer,
                        std::optional<SavedModel> start = {});

}  // namespace hogbatch
