// Data that is larger than memory: its rows are encoded block by block, brought into random order
// on disk, and read from there.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "datasets/dataset.h"
#include "training/cache/data_cache.h"

namespace hogbatch {

struct StreamSource {
  std::string data;   // as in InputFiles
  std::string valid;  // a file with the validation rows; empty: some of `data` validate
  ReadOptions read;
  const Schema* schema = nullptr;  // of a model that goes on; null: learnt from a sample
};

// Takes no more than read.memory_bytes. The rows are read from the cache, where they are kept for
// the next time. `on_activity` is told what goes on. UserErrors as those of ReadTrainingData.
TrainingData ReadStream(const StreamSource& source, const DataCache& cache,
                        const std::function<void(std::string_view)>& on_activity);

}  // namespace hogbatch
