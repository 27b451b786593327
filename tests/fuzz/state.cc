// The state of a run as a checkpoint holds it. A run that is resumed from it must hand out rows
// that exist, and come to an end. The first byte chooses the algorithm.
#include <array>
#include <deque>

#include "algorithms/algorithms.h"
#include "runtime/control/coordinator.h"
#include "tests/fuzz/fuzz.h"
#include "training/checkpoint/json_state.h"

namespace {

using namespace hogbatch;

// Rows and workers are those of the seeds, or all of them would be refused.
constexpr std::int64_t kRows = 3001, kValidRows = 333;  // those follow the rows to train

JobSetup MakeSetup(const char* algorithm) {
  const ModelSpec model{.inputs = 4, .hidden = {3}, .outputs = 2};
  return {.job = {.model = model,
                  .train_rows = kRows,
                  .synchronous = FindAlgorithm(algorithm).traits.synchronous},
          .rows = {.train = kRows, .valid = kValidRows},
          .rules = {.epochs = 1, .target_loss = {}, .eval_every = 0.5},
          .rates = LearningRate({}, 1),
          .algorithm = MakeAlgorithm(algorithm, {}),
          .merge_rows = 64};
}

std::vector<DeviceInfo> Workers() {
  return {{.name = "cpu.0", .description = "a"},
          {.name = "cpu.1", .description = "b"},
          {.name = "opencl.0", .description = "c", .kind = DeviceKind::kOpenCl}};
}

// Workers that do all at once what they are told, for so many tasks.
void Drive(Coordinator& coordinator) {
  constexpr int kTasks = 40;
  std::deque<Task> tasks;
  double now = 0;
  const auto take = [&](const Coordinator::Actions& actions) {
    tasks.insert(tasks.end(), actions.tasks.begin(), actions.tasks.end());
  };
  take(coordinator.Handle(Tick{}, now));
  for (int i = 0; i < kTasks && !tasks.empty(); ++i) {
    const Task task = tasks.front();
    tasks.pop_front();
    const bool trains = task.kind == TaskKind::kTrain;
    const std::int64_t last = trains ? kRows : kRows + kValidRows;
    Check(task.rows.begin >= 0 && task.rows.begin <= task.rows.end && task.rows.end <= last,
          "rows that exist");
    take(coordinator.Handle(Report{.task = task.id,
                                   .worker = task.worker,
                                   .loss_sum = 1,
                                   .updates = trains ? task.merges * task.updates_per_merge : 0,
                                   .merges = trains && !task.hold ? task.merges : 0,
                                   .evaluation = {.rows = task.rows.size(), .loss = 1},
                                   .seconds = 0.02},
                            now += 0.02));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return -1;
  constexpr std::array<const char*, 3> kAlgorithms = {"adaptive", "hogbatch", "sync"};
  const char* const algorithm = kAlgorithms[bytes[0] % kAlgorithms.size()];
  return ReadOrRefused([&] {
    Coordinator coordinator(MakeSetup(algorithm), Workers());
    StateFromJson(TextOf(bytes, size).substr(1), "in",
                  [&](StateVisitor& visitor) { coordinator.job(0).VisitState(visitor); });
    Drive(coordinator);
  });
}
