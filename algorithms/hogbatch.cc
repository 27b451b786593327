// Hogbatch: every worker updates the shared model on its own, with a batch size that is fixed for
// its kind of device. Workers never wait for each other. One row per update is Hogwild.
#include "algorithms/table.h"

namespace hogbatch {
namespace {

class Hogbatch : public Algorithm {
 public:
  explicit Hogbatch(const AlgorithmOptions& options) : options_(options) {}

  std::optional<Assignment> Assign(const WorkerState& idle, const JobTable& table) override {
    return Assignment{.job = table.jobs.front().id,
                      .batch_size = FixedBatchSize(options_, idle.device.kind)};
  }

 private:
  AlgorithmOptions options_;  // not state: options_
};

}  // namespace

std::unique_ptr<Algorithm> MakeHogbatch(const AlgorithmOptions& options) {
  return std::make_unique<Hogbatch>(options);
}

}  // namespace hogbatch
