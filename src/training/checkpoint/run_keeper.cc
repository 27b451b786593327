#include "training/checkpoint/run_keeper.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>
#include <memory>
#include <new>
#include <utility>

#include "core/guard/folder.h"
#include "training/checkpoint/json_state.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

// How many checkpoints a folder keeps: should the newest be unreadable, there is one before it.
constexpr std::int64_t kKept = 3;

// Keeps a snapshot as it is for as long as it lives.
class HeldSnapshot {
 public:
  HeldSnapshot(JobMemory& memory, SnapshotId id)
      : pin_(memory.snapshot_pins[id]), floats_(memory.snapshots[id].span()) {
    pin_.Pin();
  }
  ~HeldSnapshot() { pin_.Unpin(); }
  HeldSnapshot(const HeldSnapshot&) = delete;
  HeldSnapshot& operator=(const HeldSnapshot&) = delete;

  std::span<const float> floats() const { return floats_; }

 private:
  SnapshotPin& pin_;
  std::span<const float> floats_;
};

template <typename T>
void Add(XXH3_state_t& state, const Array<T>& numbers) {
  XXH3_64bits_update(&state, numbers.data(), numbers.size() * sizeof(T));
}

std::uint64_t Hash(const Dataset& data) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  Add(*state, data.dense);
  Add(*state, data.offsets);
  Add(*state, data.columns);
  Add(*state, data.values);
  Add(*state, data.classes);
  Add(*state, data.label_offsets);
  Add(*state, data.labels);
  Add(*state, data.targets);
  Add(*state, data.weights);
  return XXH3_64bits_digest(state.get());
}

}  // namespace

std::string Fingerprint(const TrainingInput& input) {
  const Dataset& data = input.training.data;
  return fmt::format("{} training rows of {}, {} features, {:016x}", input.training.train_rows,
                     data.rows, data.features, Hash(data));
}

RunKeeper::RunKeeper(KeepOptions keep, const TrainingPlan& plan, const TrainingInput& input,
                     JobMemory& memory, TrainingObserver& observer)
    : keep_(std::move(keep)),
      plan_(plan),
      input_(input),
      memory_(memory),
      observer_(observer),
      data_(keep_.data.empty() ? Fingerprint(input) : keep_.data) {
  const std::string checkpoints = keep_.folder + "/checkpoints";
  MakeFolder(checkpoints);
  const std::vector<std::string> old = ListCheckpoints(keep_.folder);
  last_number_ = old.empty() ? 0 : CheckpointNumber(old.front());
}

RunKeeper::~RunKeeper() = default;

void RunKeeper::Poll() {
  if (const std::optional<std::string> error = writer_.TakeError()) WarnOnce(*error);
  if (unsaved_best_ && !writer_.busy()) PostBest(*std::exchange(unsaved_best_, std::nullopt));
}

void RunKeeper::WarnOnce(std::string_view error) {
  if (std::exchange(has_warned_, true)) return;
  observer_.OnWarning(fmt::format(
      "{}; training goes on, and later checkpoints are tried without further warnings", error));
}

bool RunKeeper::IsDue(double now) {
  Poll();
  if (!last_taken_) last_taken_ = now;
  if (now - *last_taken_ < keep_.every || writer_.busy()) return false;
  last_taken_ = now;
  return true;
}

bool RunKeeper::CanTake() {
  Poll();
  return !writer_.busy();
}

void RunKeeper::AwaitTaken() {
  writer_.Wait();
  Poll();
  writer_.Wait();
}

void RunKeeper::PostBest(SnapshotId snapshot) {
  auto held = std::make_shared<HeldSnapshot>(memory_, snapshot);
  writer_.Post([this, held] {
    SaveModel(keep_.folder + "/model.safetensors", plan_.work.model, input_.training.schema,
              held->floats());
  });
}

void RunKeeper::Take(JobRun& job) {
  try {
    PostCheckpoint(job);
  } catch (const std::bad_alloc&) {
    WarnOnce("there is not enough memory for a checkpoint");
  }
}

void RunKeeper::PostCheckpoint(JobRun& job) {
  CheckpointTexts texts{
      .options = keep_.options, .data = data_, .control = StateToJson([&](StateVisitor& visitor) {
                                                 job.VisitState(visitor);
                                               })};
  std::shared_ptr<HeldSnapshot> best;
  if (const std::optional<SnapshotId> snapshot = job.saved_snapshot()) {
    best = std::make_shared<HeldSnapshot>(memory_, *snapshot);
  }
  const std::int64_t number = ++last_number_;
  writer_.Post([this, texts = std::move(texts), best, number] {
    WriteCheckpoint(CheckpointPath(keep_.folder, number),
                    {.texts = texts,
                     .weights = memory_.saved_weights,
                     .best = best ? best->floats() : std::span<const float>(),
                     .workers = {memory_.saved_workers.begin(), memory_.saved_workers.end()}});
    for (const std::string& old : ListCheckpoints(keep_.folder)) {
      if (CheckpointNumber(old) <= number - kKept) std::filesystem::remove(old);
    }
  });
}

}  // namespace hogbatch
