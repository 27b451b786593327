// Writes the encoded rows and the initial weights of a training for other programs: they then learn
// the same problem from the same start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/input.h"
#include "training/spec.h"

namespace hogbatch {

// Into `folder`, which must exist:
//   data.safetensors          for each split s of train, valid and test that has rows: `s.x`, or
//   for
//                             sparse rows `s.offsets`, `s.columns` and `s.values`; and `s.classes`,
//                             or `s.label_offsets` and `s.labels`, or `s.targets`
//   initial-SEED.safetensors  a model with the weights that training starts from with that seed
//   export.json               what the two contain
// UserError if the network does not fit the data, or the folder cannot be written.
void Export(const TrainingInput& input, const TrainingSpec& spec,
            const std::vector<std::int64_t>& seeds, const std::string& folder);

}  // namespace hogbatch
