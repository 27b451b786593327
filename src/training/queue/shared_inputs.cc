#include "training/queue/shared_inputs.h"

#include <utility>

#include "training/checkpoint/spec_text.h"

namespace hogbatch {
// An option that is added later keeps inputs apart until it is named here.
std::string RowsKey(TrainingSpec spec) {
  const TrainingSpec unset;
  spec.split_seed = SplitSeed(spec);
  spec.seed = unset.seed;
  spec.class_weights = unset.class_weights;
  spec.hidden = unset.hidden;
  spec.activation = unset.activation;
  if (!StartsFromFile(spec)) spec.init = unset.init;
  spec.learning_rate = unset.learning_rate;
  spec.optimizer = unset.optimizer;
  spec.algorithm = unset.algorithm;
  spec.devices = unset.devices;
  spec.merge = unset.merge;
  spec.merge_rows = unset.merge_rows;
  spec.batch = unset.batch;
  spec.algorithm_options = unset.algorithm_options;
  spec.min_utilization = unset.min_utilization;
  spec.no_pin = unset.no_pin;
  spec.epochs = unset.epochs;
  spec.max_time = unset.max_time;
  spec.target_loss = unset.target_loss;
  spec.patience = unset.patience;
  spec.eval_every = unset.eval_every;
  spec.eval_rows = unset.eval_rows;
  spec.report_every = unset.report_every;
  return SpecToJson(spec);
}

std::shared_ptr<const TrainingInput> SharedInputs::Read(const TrainingSpec& spec,
                                                        TrainingObserver& observer) {
  std::weak_ptr<const TrainingInput>& known = inputs_[RowsKey(spec)];
  if (std::shared_ptr<const TrainingInput> input = known.lock()) return input;
  auto input = std::make_shared<const TrainingInput>(ReadInput(spec, observer));
  known = input;
  return input;
}

}  // namespace hogbatch
