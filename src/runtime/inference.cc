#include "runtime/inference.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/aligned.h"
#include "nn/model.h"
#include "runtime/batch.h"

namespace hogbatch {
namespace {

constexpr std::int64_t kRows = 256;

}  // namespace

void Infer(std::span<const DeviceFactory> devices, const ModelSpec& spec,
           std::span<const float> parameters, const Dataset& data,
           const std::function<void(RowRange rows, std::span<const float> outputs)>& sink) {
  const ParameterLayout layout = Layout(spec);
  AlignedFloats weights(layout.floats);
  std::copy(parameters.begin(), parameters.end(), weights.data());
  const std::vector<LayerView> layers = ViewLayers(layout, HostSpan(weights.data(), layout.floats));

  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto serve = [&](const DeviceFactory& make) {
    try {
      const std::unique_ptr<Device> device = make();
      Model model(spec, *device, kRows, Use::kInference);
      std::vector<float> outputs;
      for (std::int64_t row; (row = next.fetch_add(kRows)) < data.rows;) {
        const RowRange rows{row, std::min(row + kRows, data.rows)};
        const Tensor out = model.Forward(ViewInput(data, rows), layers);
        outputs.resize(static_cast<std::size_t>(out.rows * out.cols));
        device->Download(out.data.base, static_cast<std::size_t>(out.data.offset) * sizeof(float),
                         std::as_writable_bytes(std::span(outputs)));
        device->Wait();
        const std::scoped_lock lock(mutex);
        sink(rows, outputs);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
      next = data.rows;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const DeviceFactory& device : devices) threads.emplace_back(serve, std::cref(device));
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hogbatch
