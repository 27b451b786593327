// What the workers of a job share: its rows, its model, snapshots of it, and gradients held for a
// common step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "core/ids.h"
#include "datasets/dataset.h"
#include "nn/model.h"
#include "nn/optimizer.h"
#include "runtime/store/merge.h"
#include "runtime/store/parameter_store.h"
#include "runtime/store/probes.h"
#include "runtime/store/staleness_meter.h"

namespace hogbatch {

// A worker's gradient of one synchronous step, in host memory of the worker. It is written before
// the worker's report and read by kApply tasks sent after it: the mailboxes order the two.
struct HeldGradient {
  std::int64_t round = -1;
  std::int64_t rows = 0;  // behind the mean
  std::vector<LayerGradient> layers;
};

// How far the slice of a synchronous step has come, for the heir of a worker that fails on the way.
struct AppliedSlice {
  std::int64_t round = -1;
  std::size_t layers = 0;
  bool has_biases = false;  // of the next layer
};

struct JobMemory {
  // `snapshots`: one under evaluation and one kept as the best.
  JobMemory(const ModelSpec& spec, const Dataset& train_data, const Dataset* test_data, int workers)
      : model(spec),
        data(train_data),
        test(test_data),
        store(Layout(spec)),
        snapshots(2),
        snapshot_versions(2),
        held(static_cast<std::size_t>(workers)),
        applied(static_cast<std::size_t>(workers)),
        probes(spec, workers) {
    for (AlignedFloats& snapshot : snapshots) snapshot = AlignedFloats(store.layout().floats);
  }

  // The model to begin with; nobody may train yet.
  void SetWeights(std::span<const float> weights) {
    std::copy(weights.begin(), weights.end(), store.quiet().begin());
    probes.Begin(store);
  }

  // Copies the model into a snapshot that nobody reads at this time.
  void TakeSnapshot(SnapshotId id) {
    const auto index = static_cast<std::size_t>(id);
    store.CopyTo(snapshots[index].span());
    ++snapshot_versions[index];
  }

  const Dataset& RowsOf(Split split) const { return split == Split::kTest ? *test : data; }

  ModelSpec model;
  const Dataset& data;  // training rows, then validation rows
  const Dataset* test;  // may be null
  ParameterStore store;
  std::vector<AlignedFloats> snapshots;
  // How often each was taken: a device that holds a copy knows by it whether the copy is good.
  std::vector<std::int64_t> snapshot_versions;
  std::vector<HeldGradient> held;     // one a worker
  std::vector<AppliedSlice> applied;  // one a slice
  std::vector<float> class_weights;
  OptimizerOptions optimizer;
  double explicit_momentum = 0;
  Merge merge = Merge::kDelta;
  int teams = 1;  // that train it, for Merge::kAverage
  MergeCounter merges;
  Probes probes;
};

}  // namespace hogbatch
