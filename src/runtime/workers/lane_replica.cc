#include "runtime/workers/lane_replica.h"

namespace hogbatch {

LaneReplica::LaneReplica(JobMemory& memory, Device& device)
    : memory_(memory),
      device_(device),
      blocks_(device, memory.store.layout()),
      class_weights_(device, memory.class_weights.size() * sizeof(float)),
      batch_(device),
      compacted_(device),
      touched_memory_(device) {
  for (AlignedFloats& kept : kept_) kept = AlignedFloats(memory.store.layout().floats);
  memory.store.CopyTo(kept_[0].span());
  Upload(kept_[0]);
  if (memory.class_weights.empty()) return;
  device.Upload(std::as_bytes(std::span(memory.class_weights)), class_weights_.span<float>().base,
                0);
}

std::span<float> LaneReplica::FloatsOf(std::size_t layer, const AlignedFloats& flat) const {
  const std::int64_t at = memory_.store.layout().layers[layer].weights_at;
  return flat.span().subspan(at, blocks_.floats(layer));
}

void LaneReplica::Upload(const AlignedFloats& flat) {
  for (std::size_t i = 0; i < blocks_.views().size(); ++i) blocks_.Upload(i, FloatsOf(i, flat));
  device_.Wait();
}

void LaneReplica::Download(const AlignedFloats& flat) {
  for (std::size_t i = 0; i < blocks_.views().size(); ++i) blocks_.Download(i, FloatsOf(i, flat));
  device_.Wait();
}

void LaneReplica::Keep() { Download(kept_[made_++ % kept_.size()]); }

void LaneReplica::ClearLane(std::int64_t lane) {
  const AlignedFloats flat(memory_.store.layout().floats);
  Download(flat);
  hogbatch::ClearLane(memory_.model, lane, flat.span());
  Upload(flat);
}

void LaneReplica::WriteToStore() {
  const AlignedFloats& kept = kept_[written_++ % kept_.size()];
  for (std::size_t i = 0; i < blocks_.views().size(); ++i) {
    memory_.store.Write(memory_.store.layout().layers[i].weights_at, FloatsOf(i, kept));
  }
}

void LaneReplica::Load(RowRange rows) {
  rows_ = rows;
  input_ = batch_.Upload(ViewInput(memory_.data, rows));
  targets_ = batch_.Upload(ViewTargets(memory_.data, rows));
}

BatchInput LaneReplica::Compacted(const BatchInput& input) {
  if (!input.is_sparse) return input;
  if (!compactor_) compactor_.emplace(memory_.model.inputs);
  const BatchInput compacted = compacted_.Upload(compactor_->Compact(memory_.data, rows_));
  touched_memory_.Restart();
  touched_on_device_ = touched_memory_.Upload(touched());
  return compacted;
}

std::span<const std::int32_t> LaneReplica::touched() const {
  return compactor_ ? std::span(compactor_->touched()) : std::span<const std::int32_t>();
}

Tensor LaneReplica::class_weights() const {
  if (memory_.class_weights.empty()) return {};
  return Tensor::Matrix(class_weights_.span<float>(), std::ssize(memory_.lanes),
                        memory_.model.outputs);
}

}  // namespace hogbatch
