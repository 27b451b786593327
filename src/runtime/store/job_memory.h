// What the workers of a job share: its rows, its model, snapshots of the model, and the gradients
// held for a synchronous round.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "core/ids.h"
#include "core/indexed_vector.h"
#include "datasets/dataset.h"
#include "nn/lanes/lanes.h"
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

// Keeps a snapshot from being taken anew while it is read: a file may be written from it
// while training goes on. Only the next TakeSnapshot into it waits.
class SnapshotPin {
 public:
  void Pin() { readers_.fetch_add(1); }
  void Unpin() {
    readers_.fetch_sub(1);
    readers_.notify_all();
  }
  void AwaitUnpinned() const {
    for (int readers = readers_.load(); readers > 0; readers = readers_.load()) {
      readers_.wait(readers);
    }
  }

 private:
  std::atomic<int> readers_ = 0;
};

// What a worker keeps between tasks besides the model.
struct SavedWorker {
  std::int64_t updates = 0;                 // that its optimiser has made
  std::optional<OptimizerState> optimizer;  // none: it was not needed yet
  // In synchronous training: of the slice that it applies.
  std::int32_t slice = -1;
  std::int32_t slices = 0;
  std::int64_t slice_updates = 0;
  std::optional<OptimizerState> slice_optimizer;
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
        applied(workers),
        probes(spec, workers),
        saved_workers(workers) {}

  // Sets the initial model. No worker may train yet.
  void SetWeights(std::span<const float> weights) {
    std::copy(weights.begin(), weights.end(), store.idle_weights().begin());
    probes.Begin(store);
  }

  // Copies the initial model into both snapshots, at the first call. Each worker calls it before it
  // trains, so that a job that waits takes no memory for them.
  void MakeSnapshots() {
    std::call_once(snapshots_made_, [this] {
      for (AlignedFloats& snapshot : snapshots) {
        snapshot = AlignedFloats(store.layout().floats);
        store.CopyTo(snapshot.span());
      }
    });
  }

  // Replaces the model by a snapshot. No worker trains meanwhile.
  void RestoreSnapshot(SnapshotId id) {
    MakeSnapshots();
    store.Write(0, snapshots[id].span());
    probes.Begin(store);
    moved.reset();
  }

  // Copies the model into a snapshot that no worker reads at this time.
  void TakeSnapshot(SnapshotId id) {
    MakeSnapshots();
    snapshot_pins[id].AwaitUnpinned();
    store.CopyTo(snapshots[id].span());
    ++snapshot_versions[id];
  }

  // Copies lanes of a snapshot into the other one, which holds the best of each.
  void KeepLanes(SnapshotId from, std::span<const std::int64_t> kept) {
    const SnapshotId to = from == 0 ? 1 : 0;
    snapshot_pins[to].AwaitUnpinned();
    for (const std::int64_t lane : kept) {
      SetLane(model, lane, LaneOf(model, snapshots[from].span(), lane), snapshots[to].span());
    }
    ++snapshot_versions[to];
  }

  void SaveWeights() {
    saved_weights.resize(store.layout().floats);
    store.CopyTo(saved_weights);
  }

  // The state of an exclusive job is that of its present worker, and not of those before it.
  void ForgetSavedWorkers() {
    for (std::optional<SavedWorker>& saved : saved_workers) saved.reset();
  }

  const Dataset& RowsOf(Split split) const { return split == Split::kTest ? *test : data; }

  ModelSpec model;
  const Dataset& data;  // training rows, then validation rows
  const Dataset* test;  // may be null
  ParameterStore store;
  IndexedVector<SnapshotId, AlignedFloats> snapshots;
  // How often each was taken. It tells a device that keeps a copy whether the copy is current.
  IndexedVector<SnapshotId, std::int64_t> snapshot_versions;
  IndexedArray<SnapshotId, SnapshotPin, 2> snapshot_pins;
  IndexedVector<WorkerId, HeldGradient> held;
  std::vector<AppliedSlice> applied;  // one per slice
  std::vector<float> class_weights;   // with lanes a row for each of them; empty: none
  OptimizerOptions optimizer;
  double explicit_momentum = 0;
  // Of each lane; empty: the model is one network. Lanes belong to an exclusive job.
  std::vector<OptimizerOptions> lanes;
  Merge merge = kUsualMerge;
  int teams = 1;  // that train the model, for Merge::kAverage
  MergeCounter merges;
  Probes probes;

  // A checkpoint: the model, and what each worker keeps. kSave tasks write it while no row is in
  // flight. To resume a run, saved_workers is filled before the workers are made; each loads its
  // own.
  std::vector<float> saved_weights;
  IndexedVector<WorkerId, std::optional<SavedWorker>> saved_workers;

  // An exclusive job has one worker at a time. Its optimiser state moves with it: the worker that
  // releases the job writes it here, and the next one reads it. To resume such a job, it is filled
  // before the job begins.
  bool is_exclusive = false;
  std::optional<SavedWorker> moved;

 private:
  std::once_flag snapshots_made_;
};

}  // namespace hogbatch
