#include "tests/support/parity.h"

#include "core/error.h"
#include "datasets/cursor.h"
#include "nn/initialize.h"
#include "runtime/store/job_memory.h"
#include "runtime/workers/worker.h"

namespace hogbatch {
namespace {

Report Execute(Worker& worker, const Task& task) {
  for (int update = 0; update < task.merges; ++update) {
    worker.Compute(task, update);
    worker.Commit(task, update);
  }
  return worker.Finish(task);
}

Initialization InitializationFor(Activation activation) {
  const bool rectifier = activation == Activation::kRelu || activation == Activation::kGelu;
  return rectifier ? Initialization::kHe : Initialization::kXavier;
}

RowRange EvaluatedRows(const TrainingData& training) {
  if (training.train_rows == training.data.rows) return {0, training.train_rows};
  return {training.train_rows, training.data.rows};
}

}  // namespace

ParityResult TrainUpdates(const TrainingData& training, const ModelSpec& spec,
                          const ParityOptions& options,
                          const std::function<std::unique_ptr<Device>()>& make_device) {
  JobMemory memory(spec, training.data, nullptr, 1);
  Initialize(memory.store.layout(), InitializationFor(spec.activation), options.seed,
             memory.store.idle_weights());
  memory.optimizer = options.optimizer;
  memory.explicit_momentum = options.optimizer.momentum;
  memory.class_weights = options.class_weights;
  const std::unique_ptr<Worker> worker = MakeWorker(0, make_device(), memory);

  // One epoch more than there are steps for: ranges may be shorter than a batch.
  const auto train_rows = static_cast<double>(training.train_rows);
  const double epochs =
      2 + 2 * static_cast<double>(options.batch_size) * options.steps / train_rows;
  const LearningRate rates(options.rate.ChosenFor(spec.loss, options.optimizer.kind()), epochs);
  Cursor cursor(training.train_rows, epochs, options.seed);

  ParityResult result;
  std::int64_t examples = 0;
  for (int step = 0; step < options.steps; ++step) {
    const auto cut = cursor.Next(options.batch_size, options.batch_size);
    Check(cut.has_value(), "there are rows for every step");
    const auto rows = cut->rows.size();
    Task task{.id = step + 1,
              .kind = TaskKind::kTrain,
              .rows = cut->rows,
              .learning_rate = rates.At(static_cast<double>(examples) / train_rows, rows),
              .hold = options.stepping == Stepping::kCommon,
              .round = step};
    result.losses.push_back(Execute(*worker, task).loss_sum / static_cast<double>(rows));
    if (task.hold) {
      task.kind = TaskKind::kApply;
      Execute(*worker, task);
    }
    examples += rows;
  }

  Execute(*worker, {.kind = TaskKind::kSnapshot, .rows = {}, .snapshot = 0});
  result.evaluation =
      Execute(*worker,
              {.kind = TaskKind::kEvaluate, .rows = EvaluatedRows(training), .snapshot = 0})
          .evaluation;
  result.weights.assign(memory.store.idle_weights().begin(), memory.store.idle_weights().end());
  return result;
}

}  // namespace hogbatch
