#include "runtime/control/algorithm.h"

namespace hogbatch {

std::vector<JobSpec> Algorithm::Prepare(std::vector<JobSpec> jobs, std::span<const DeviceInfo>) {
  return jobs;
}

void Algorithm::Observe(const Outcome&) {}

}  // namespace hogbatch
