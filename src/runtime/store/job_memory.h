// What the workers of a job share: its rows, its model, snapshots of the model, and the gradients
// held for a synchronous round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "core/ids.h"
#include "core/indexed_vector.h"
#include "datasets/dataset.h"
#include "nn/model.h"
#include "nn/optimizer.h"
#include "runtime/store/merge.h"
#include "runtime/store/parameter_store.h"
#include "runtime/store/probes.h"
#include "runtime/store/staleness_meter.h"

namespace hogbatch {

// A worker's gradient of one synchronous round, in the worker's host memory. The worker writes it
// before its report; kApply tasks, which are sent after that report, read it. So the mailboxes
// order the two.
struct HeldGradient {
  std::int64_t round = -1;
  std::int64_t rows = 0;  // that it is the mean of
  std::vector<LayerGradient> layers;
};

// How much of its slice a worker has applied in a synchronous round. If it fails, another worker
// continues there.
struct AppliedSlice {
  std::int64_t round = -1;
  std::size_t layers = 0;   // applied completely
  bool has_biases = false;  // the biases of the next layer are applied, too
};

struct JobMemory {
  // There are two snapshots: one under evaluation and one kept as the best.
  JobMemory(const ModelSpec& spec, const Dataset& train_data, const Dataset* test_data, int workers)
      : model(spec),
        data(train_data),
        test(test_data),
        store(Layout(spec)),
        snapshots(2),
        snapshot_versions(2),
        held(workers),
        applied(static_cast<std::size_t>(workers)),
        probes(spec, workers) {
    for (AlignedFloats& snapshot : snapshots) snapshot = AlignedFloats(store.layout().floats);
  }

  // Sets the initial model. No worker may train yet.
  void SetWeights(std::span<const float> weights) {
    std::copy(weights.begin(), weights.end(), store.idle_weights().begin());
    probes.Begin(store);
  }

  // Copies the model into a snapshot that no worker reads at this time.
  void TakeSnapshot(SnapshotId id) {
    store.CopyTo(snapshots[id].span());
    ++snapshot_versions[id];
  }

  const Dataset& RowsOf(Split split) const { return split == Split::kTest ? *test : data; }

  ModelSpec model;
  const Dataset& data;  // training rows, then validation rows
  const Dataset* test;  // may be null
  ParameterStore store;
  IndexedVector<SnapshotId, AlignedFloats> snapshots;
  // How often each was taken. It tells a device that keeps a copy whether the copy is current.
  IndexedVector<SnapshotId, std::int64_t> snapshot_versions;
  IndexedVector<WorkerId, HeldGradient> held;
  std::vector<AppliedSlice> applied;  // one per slice
  std::vector<float> class_weights;
  OptimizerOptions optimizer;
  double explicit_momentum = 0;
  Merge merge = Merge::kDelta;
  int teams = 1;  // that train the model, for Merge::kAverage
  MergeCounter merges;
  Probes probes;
};

}  // namespace hogbatch
