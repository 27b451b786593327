#include "training/checkpoint/checkpoint_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/guard/format_version.h"
#include "core/text.h"
#include "nn/safetensors.h"
#include "nn/safetensors_header.h"
#include "training/checkpoint/json_state.h"
#include "training/checksum.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 2;  // 1 had no checksums of texts
constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".safetensors";

std::string Name(std::size_t worker, std::string_view what) {
  return fmt::format("workers.{}.{}", worker, what);
}

void VisitPresence(StateVisitor& visitor, std::string_view name,
                   std::optional<OptimizerState>& state) {
  bool is_there = state.has_value();
  Visit(visitor, name, is_there);
  if (is_there && !state) state.emplace();
}

// The numbers of a checkpoint's workers that are no tensors.
void VisitCounts(StateVisitor& visitor, std::vector<std::optional<SavedWorker>>& workers) {
  VisitList(visitor, "workers", workers, [&](std::optional<SavedWorker>& worker) {
    bool is_saved = worker.has_value();
    Visit(visitor, "is_saved", is_saved);
    if (is_saved && !worker) worker.emplace();
    if (is_saved) {
      VisitPresence(visitor, "has_optimizer", worker->optimizer);
      VisitPresence(visitor, "has_slice_optimizer", worker->slice_optimizer);
      Visit(visitor, "updates", worker->updates);
      Visit(visitor, "slice", worker->slice);
      Visit(visitor, "slices", worker->slices);
      Visit(visitor, "slice_updates", worker->slice_updates);
      RequireState(worker->updates >= 0 && worker->slice_updates >= 0, "updates");
    }
  });
}

class Writer {
 public:
  void Add(const std::string& name, std::span<const float> numbers) {
    if (!numbers.empty()) AddTensor(name, numbers);
  }
  void Add(const std::string& name, std::span<const std::int64_t> numbers) {
    if (!numbers.empty()) AddTensor(name, numbers);
  }
  void Add(const std::string& name, const OptimizerState& state) {
    for (std::size_t i = 0; i < state.layers.size(); ++i) {
      Add(fmt::format("{}.{}", name, i), std::span(state.layers[i]));
    }
    Add(name + ".last_touched", std::span(state.last_touched));
  }
  void Write(const std::string& path, const CheckpointTexts& texts, const std::string& counts) {
    metadata_["format"] = "hogbatch checkpoint";
    metadata_["version"] = fmt::format("{}", kFormat);
    AddText("options", texts.options);
    AddText("data", texts.data);
    AddText("control", texts.control);
    AddText("workers", counts);
    if (!texts.network.empty()) {
      AddText("network", texts.network);
      AddText("schema", texts.schema);
    }
    WriteSafeTensors(path, metadata_, tensors_);
  }

 private:
  void AddText(const std::string& key, const std::string& text) {
    metadata_[key] = text;
    metadata_["checksum." + key] = Checksum(std::as_bytes(std::span(text)));
  }
  template <typename T>
  void AddTensor(const std::string& name, std::span<const T> numbers) {
    metadata_["checksum." + name] = Checksum(std::as_bytes(numbers));
    tensors_.push_back(
        {.name = name, .shape = {static_cast<std::int64_t>(numbers.size())}, .data = numbers});
  }

  std::map<std::string, std::string> metadata_;
  std::vector<TensorView> tensors_;
};

[[noreturn]] void Damaged(const std::string& path, std::string_view what) {
  ThrowDamagedTensors(TensorFileKind::kCheckpoint, path, what);
}

class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path), file_(ReadSafeTensors(path, TensorFileKind::kCheckpoint)) {
    if (file_.metadata["format"] != "hogbatch checkpoint") Damaged(path, "it is another file");
    if (!ReadAll(file_.metadata["version"], format_) || format_ < 1) {
      Damaged(path, "it has no format version");
    }
    RefuseNewerFormat(path, format_, kFormat);
    for (const auto& [name, tensor] : file_.tensors) {
      const auto bytes = tensor.integers.empty() ? std::as_bytes(std::span(tensor.data))
                                                 : std::as_bytes(std::span(tensor.integers));
      RequireChecksum(name, bytes);
    }
  }

  std::string Text(const std::string& key) {
    const auto found = file_.metadata.find(key);
    if (found == file_.metadata.end()) Damaged(path_, fmt::format("it has no '{}'", key));
    if (format_ > 1) RequireChecksum(key, std::as_bytes(std::span(found->second)));
    return std::move(found->second);
  }
  // Empty: there is none.
  std::string TextIfAny(const std::string& key) {
    return file_.metadata.contains(key) ? Text(key) : "";
  }
  // Likewise.
  std::vector<float> Floats(const std::string& name) {
    const auto found = file_.tensors.find(name);
    return found == file_.tensors.end() ? std::vector<float>() : std::move(found->second.data);
  }
  OptimizerState Optimizer(const std::string& name) {
    OptimizerState state;
    for (std::size_t i = 0; file_.tensors.contains(fmt::format("{}.{}", name, i)); ++i) {
      state.layers.push_back(Floats(fmt::format("{}.{}", name, i)));
    }
    const auto found = file_.tensors.find(name + ".last_touched");
    if (found != file_.tensors.end()) state.last_touched = std::move(found->second.integers);
    const bool sane = std::ranges::all_of(state.last_touched, [](std::int64_t update) {
      return update >= 0 && update <= std::int64_t{1} << 53;
    });
    if (!sane) Damaged(path_, fmt::format("{} holds no counts of updates", name));
    return state;
  }

 private:
  void RequireChecksum(const std::string& name, std::span<const std::byte> bytes) {
    if (file_.metadata["checksum." + name] == Checksum(bytes)) return;
    Damaged(path_, fmt::format("the checksum of {} does not match", name));
  }

  std::string path_;
  SafeTensors file_;
  std::int64_t format_ = 0;
};

}  // namespace

void WriteCheckpoint(const std::string& path, const CheckpointView& checkpoint) {
  std::vector<std::optional<SavedWorker>> counts;  // without tensors
  Writer writer;
  writer.Add("weights", checkpoint.weights);
  writer.Add("best", checkpoint.best);
  for (std::size_t i = 0; i < checkpoint.workers.size(); ++i) {
    counts.emplace_back();
    const std::optional<SavedWorker>& worker = checkpoint.workers[i];
    if (!worker) continue;
    counts.back() = SavedWorker{.updates = worker->updates,
                                .optimizer = {},
                                .slice = worker->slice,
                                .slices = worker->slices,
                                .slice_updates = worker->slice_updates,
                                .slice_optimizer = {}};
    if (worker->optimizer) {
      counts.back()->optimizer.emplace();
      writer.Add(Name(i, "optimizer"), *worker->optimizer);
    }
    if (worker->slice_optimizer) {
      counts.back()->slice_optimizer.emplace();
      writer.Add(Name(i, "slice_optimizer"), *worker->slice_optimizer);
    }
  }
  writer.Write(path, checkpoint.texts,
               StateToJson([&](StateVisitor& visitor) { VisitCounts(visitor, counts); }));
}

Checkpoint ReadCheckpoint(const std::string& path) {
  Reader reader(path);
  Checkpoint checkpoint{.texts = {.options = reader.Text("options"),
                                  .data = reader.Text("data"),
                                  .control = reader.Text("control"),
                                  .network = reader.TextIfAny("network"),
                                  .schema = reader.TextIfAny("schema")},
                        .weights = reader.Floats("weights"),
                        .best = reader.Floats("best"),
                        .workers = {},
                        .number = CheckpointNumber(path)};
  StateFromJson(reader.Text("workers"), path,
                [&](StateVisitor& visitor) { VisitCounts(visitor, checkpoint.workers); });
  for (std::size_t i = 0; i < checkpoint.workers.size(); ++i) {
    std::optional<SavedWorker>& worker = checkpoint.workers[i];
    if (!worker) continue;
    if (worker->optimizer) worker->optimizer = reader.Optimizer(Name(i, "optimizer"));
    if (worker->slice_optimizer) {
      worker->slice_optimizer = reader.Optimizer(Name(i, "slice_optimizer"));
    }
  }
  return checkpoint;
}

std::string CheckpointPath(const std::string& folder, std::int64_t number) {
  return fmt::format("{}/checkpoints/{}{}{}", folder, kPrefix, number, kSuffix);
}

std::int64_t CheckpointNumber(const std::string& path) {
  const std::string name = fs::path(path).filename();
  std::int64_t number = 0;
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  const auto digits =
      std::string_view(name).substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  constexpr std::int64_t kMost = 1'000'000'000'000'000;  // no run comes near it
  return ReadAll(digits, number) && number < kMost ? number : 0;
}

std::vector<std::string> ListCheckpoints(const std::string& folder) {
  const std::string place = folder + "/checkpoints";
  std::error_code error;
  if (fs::status(place, error).type() == fs::file_type::not_found) return {};
  std::vector<std::string> paths;
  fs::directory_iterator entries(place, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const bool is_folder = entries->symlink_status().type() == fs::file_type::directory;
    if (CheckpointNumber(entries->path()) > 0 && !is_folder) paths.push_back(entries->path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw UserError(fmt::format("{} cannot be read: {}; make it a folder that you may read", place,
                                error.message()));
  }
  std::ranges::sort(paths, std::ranges::greater(), CheckpointNumber);
  return paths;
}

namespace {

// UserError for a checkpoint that may be whole, but that cannot be opened: going on from the one
// before it would replace it.
void RequireAccess(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0) {
    ::close(descriptor);
  } else if (errno != ENOENT && errno != ELOOP) {  // a link to nowhere is no checkpoint
    throw UserError(fmt::format(
        "cannot open {}: {}; make it readable, or remove it to go on from the one before it", path,
        std::strerror(errno)));
  }
}

}  // namespace

std::optional<Checkpoint> NewestCheckpoint(const std::string& folder,
                                           const std::function<void(std::string_view)>& warn) {
  const std::vector<std::string> paths = ListCheckpoints(folder);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    RequireAccess(paths[i]);
    try {
      return ReadCheckpoint(paths[i]);
    } catch (const NewerFormat&) {
      throw;
    } catch (const UserError& damaged) {
      if (i + 1 == paths.size()) {
        throw UserError(fmt::format("{}, and there is none before it", damaged.what()));
      }
      warn(fmt::format("{}; taking the one before it", damaged.what()));
    }
  }
  return std::nullopt;
}

}  // namespace hogbatch
