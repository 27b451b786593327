#include "training/checkpoint/run_keeper.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/guard/folder.h"
#include "training/checkpoint/json_state.h"
#include "training/model/model_file.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

// How many checkpoints a folder keeps: should the newest be unreadable, there is one before it.
constexpr std::int64_t kKept = 3;
// More than any run takes.
constexpr std::int64_t kMostTaken = 1'000'000'000'000;

constexpr std::string_view kAndTest = ", and ";  // in a fingerprint

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
  return fmt::format("{} training rows of {}, {} features, {:016x}{}", input.training.train_rows,
                     data.rows, data.features, Hash(data),
                     input.test ? fmt::format("{}{} test rows, {:016x}", kAndTest, input.test->rows,
                                              Hash(*input.test))
                                : "");
}

bool IsSameData(const std::string& kept, const std::string& now) {
  return kept == now || now.starts_with(kept + std::string(kAndTest));
}

RunKeeper::RunKeeper(KeepOptions keep, const TrainingPlan& plan, const TrainingInput& input,
                     JobMemory& memory, TrainingObserver& observer, const Checkpoint* resumed)
    : keep_(std::move(keep)),
      plan_(plan),
      input_(input),
      memory_(memory),
      observer_(observer),
      texts_{.options = keep_.options,
             .data = keep_.data.empty() ? Fingerprint(input) : keep_.data,
             .control = {},
             .network = input.start ? SpecToJson(input.start->spec) : "",
             .schema = input.start ? SchemaToJson(input.start->schema) : ""},
      last_number_(resumed ? resumed->number : 0) {
  MakeFolder(keep_.folder + "/checkpoints");
  if (CheckpointNumber(CheckpointPath(keep_.folder, last_number_ + kMostTaken)) > 0) return;
  throw UserError(
      fmt::format("{} has a number that no run reaches; remove it to go on from the one before it",
                  CheckpointPath(keep_.folder, last_number_)));
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
    SaveModel(ModelPath(keep_.folder), plan_.work.model, input_.training.schema, held->floats());
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
  CheckpointTexts texts = texts_;
  texts.control = StateToJson([&](StateVisitor& visitor) { job.VisitState(visitor); });
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
    RemoveAllBut(number);
  });
}

// All but the last few. Those with a higher number could not be read when the run was resumed, and
// would hide what is newer.
void RunKeeper::RemoveAllBut(std::int64_t last) const {
  for (const std::string& path : ListCheckpoints(keep_.folder)) {
    const std::int64_t number = CheckpointNumber(path);
    if (number > last - kKept && number <= last) continue;
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) {
      throw Error(fmt::format("cannot remove {}, which is out of date: {}", path, error.message()));
    }
  }
}

}  // namespace hogbatch
