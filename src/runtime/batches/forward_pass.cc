#include "runtime/batches/forward_pass.h"

#include <algorithm>

#include "core/error.h"
#include "runtime/batches/batch.h"

namespace hogbatch {
namespace {

// At most 256 MiB of a device for a block of rows, and for each of the two blocks of outputs.
constexpr std::int64_t kBlockFloats = std::int64_t{1} << 26;

std::int64_t RowsOfWidth(std::int64_t width) {
  return std::max<std::int64_t>(1, kBlockFloats / width);
}

}  // namespace

ForwardPass::ForwardPass(const ModelSpec& spec, Device& device)
    : device_(device),
      layout_(Layout(spec)),
      model_(spec, device, MostRows(spec, device.info()), Use::kInference),
      batch_(device) {
  if (!device.info().shares_host_memory) copy_.emplace(device, layout_);
}

std::int64_t ForwardPass::MostRows(const ModelSpec& spec, const DeviceInfo& device) {
  // The outputs of all lanes should stay in a core's cache.
  if (device.shares_host_memory) return std::max<std::int64_t>(32, 256 / spec.lanes);
  std::int64_t rows = std::min<std::int64_t>(4096, RowsOfWidth(spec.outputs * spec.lanes));
  for (const std::int64_t width : spec.hidden) {
    rows = std::min(rows, RowsOfWidth(width * spec.lanes));
  }
  return spec.sparse_input ? rows : std::min(rows, RowsOfWidth(spec.inputs));
}

// A network trained on sparse rows may get dense ones.
std::int64_t ForwardPass::BlockRows(const Dataset& data) const {
  if (!copy_ || data.is_sparse) return model_.max_rows();
  return std::min(model_.max_rows(), RowsOfWidth(data.features));
}

void ForwardPass::SetParameters(const AlignedFloats& parameters) {
  Check(static_cast<std::int64_t>(parameters.size()) == layout_.floats,
        "a network has as many parameters as its layout");
  if (!copy_) {
    layers_ = ViewLayers(layout_, HostSpan(parameters.data(), layout_.floats));
    return;
  }
  for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
    copy_->Upload(i, parameters.span().subspan(layout_.layers[i].weights_at, copy_->floats(i)));
  }
  layers_.assign(copy_->views().begin(), copy_->views().end());
}

std::span<const float> ForwardPass::Outputs(const Dataset& data, RowRange rows) {
  const BatchInput host = ViewInput(data, rows);
  const Tensor outputs = model_.Forward(copy_ ? batch_.Upload(host) : host, layers_);
  outputs_.resize(outputs.data.size);
  device_.Download(outputs.data.base, outputs.data.offset_bytes(),
                   std::as_writable_bytes(std::span(outputs_)));
  device_.Wait();
  // Scratch may have a gap after each row.
  for (std::int64_t r = 1; outputs.stride != outputs.cols && r < outputs.rows; ++r) {
    std::copy_n(outputs_.begin() + r * outputs.stride, outputs.cols,
                outputs_.begin() + r * outputs.cols);
  }
  outputs_.resize(outputs.rows * outputs.cols);
  return outputs_;
}

}  // namespace hogbatch
