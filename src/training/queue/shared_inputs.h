// Data sets that several jobs name are read once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "training/input.h"
#include "training/observer.h"
#include "training/spec.h"

namespace hogbatch {

// All options of a training that decide the rows in memory, as text: two trainings with equal ones
// can share them.
std::string RowsKey(TrainingSpec spec);

class SharedInputs {
 public:
  // ReadInput, or what another job read with the same options and still uses.
  std::shared_ptr<const TrainingInput> Read(const TrainingSpec& spec, TrainingObserver& observer);

 private:
  std::map<std::string, std::weak_ptr<const TrainingInput>> inputs_;  // by what decides the rows
};

}  // namespace hogbatch
