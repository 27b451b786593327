#include "runtime/executors/inference.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/aligned.h"
#include "core/threads.h"
#include "runtime/batches/forward_pass.h"

namespace hogbatch {

void Infer(std::span<const DeviceFactory> devices, const ModelSpec& spec,
           std::span<const float> parameters, const Dataset& data, RowRange rows,
           const std::function<void(RowRange rows, std::span<const float> outputs)>& sink) {
  AlignedFloats weights(Layout(spec).floats);
  std::copy(parameters.begin(), parameters.end(), weights.data());

  std::atomic<std::int64_t> next = rows.begin;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto serve = [&](const DeviceFactory& make) {
    try {
      const std::unique_ptr<Device> device = make();
      ForwardPass pass(spec, *device);
      pass.SetParameters(weights);
      const std::int64_t block = pass.BlockRows(data);
      for (std::int64_t row; (row = next.fetch_add(block)) < rows.end;) {
        const RowRange part{row, std::min(row + block, rows.end)};
        const std::span<const float> outputs = pass.Outputs(data, part);
        const std::scoped_lock lock(mutex);
        sink(part, outputs);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
      next = rows.end;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const DeviceFactory& device : devices)
      threads.push_back(StartThread(serve, std::cref(device)));
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hogbatch
