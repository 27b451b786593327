#include "training/cache/stream_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/guard/cache_folder.h"
#include "core/random.h"
#include "core/text.h"
#include "datasets/input_files.h"
#include "datasets/row_blocks.h"
#include "datasets/text/descriptor.h"
#include "training/cache/cache_writer.h"
#include "training/cache/row_spill.h"
#include "training/cache/stream_sample.h"
#include "training/checksum.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

// How the memory that may be used is shared.
struct Shares {
  explicit Shares(std::size_t most)
      : sample(most / 16),  // of text: its rows take about three times as much
        block(std::clamp<std::size_t>(most / 64, std::size_t{1} << 16, std::size_t{8} << 20)),
        bucket(most / 8),
        buffers(most / 16),
        resident(most / 4) {}

  std::size_t sample;
  std::size_t block;
  std::size_t bucket;   // one bucket of rows
  std::size_t buffers;  // of all buckets
  std::size_t resident;
};

std::uintmax_t BytesOfFiles(const std::string& data) {
  std::uintmax_t bytes = 0;
  for (const std::string& file : InputFiles(data)) bytes += fs::file_size(file);
  return bytes;
}

std::string WhyNotIn(const fs::path& folder) {
  const std::string why = WhyNoCache(folder);
  return why.empty() ? "it cannot be made" : why;
}

std::string KeyOf(const std::string& data, const ReadOptions& options) {
  for (const std::string& file : InputFiles(data)) Descriptor{file};  // UserError: it is not there
  if (const auto key = DataKey(data, options, 0)) return *key;
  throw UserError(
      fmt::format("{}: --stream reads the data several times, and this can be read only once; name "
                  "a file",
                  NameOfFiles(InputFiles(data))));
}

std::string StreamKey(const StreamSource& source) {
  std::string key = "stream-" + KeyOf(source.data, source.read);
  if (!source.valid.empty()) key += "-" + KeyOf(source.valid, source.read);
  if (source.schema) {
    const std::string schema = SchemaToJson(*source.schema);
    key += "-" + Checksum(std::as_bytes(std::span(schema)));
  }
  return key;
}

class StreamBuilder {
 public:
  StreamBuilder(const StreamSource& source, const DataCache& cache,
                const std::function<void(std::string_view)>& on_activity)
      : source_(source),
        cache_(cache),
        on_activity_(on_activity),
        shares_(MemoryBudget(source.read.memory_bytes)),
        random_(source.read.seed) {}

  void Build(const std::string& key) {
    const std::uintmax_t text_bytes = BytesOfFiles(source_.data);
    path_ = PlaceFor(key, 2 * text_bytes);
    LearnSchema();
    const std::size_t buckets = BucketsFor(text_bytes);
    RowSpill train = MakeSpill(buckets);
    RowSpill valid = MakeSpill(std::max<std::size_t>(1, buckets / 4));
    SpillRows(source_.data, source_.valid.empty() ? source_.read.valid_fraction : 0, train, valid);
    NoteSkippedRows(Name(source_.data), train.rows() + valid.rows(), about_.data);
    if (!source_.valid.empty()) SpillRows(source_.valid, 1, train, valid);
    Write(key, train, valid);
  }

 private:
  std::string PlaceFor(const std::string& key, std::uintmax_t bytes) const {
    if (const auto path = cache_.PlaceFor(key, bytes)) return path->string();
    throw UserError(fmt::format(
        "--stream keeps encoded rows in {}, which cannot be used: {}; set XDG_CACHE_HOME "
        "to a folder of yours on a disk with room",
        cache_.folder().string(), WhyNotIn(cache_.folder())));
  }

  // At most twice the bytes of the text are taken by its rows.
  std::size_t BucketsFor(std::uintmax_t text_bytes) const {
    return std::clamp<std::size_t>(2 * text_bytes / shares_.bucket + 1, 1, 256);
  }

  RowSpill MakeSpill(std::size_t buckets) const {
    return RowSpill(cache_.folder(), buckets,
                    std::clamp<std::size_t>(shares_.buffers / buckets, 4096, 1 << 18));
  }

  void LearnSchema() {
    if (source_.schema) {
      about_.schema = *source_.schema;
      return;
    }
    on_activity_(fmt::format("learning the columns of {}", Name(source_.data)));
    LearntSample learnt = LearnFromSample(source_.data, source_.read, shares_.sample);
    about_.schema = std::move(learnt.sample.schema);
    about_.data.notes = std::move(learnt.sample.data.notes);
    // Rows without a label are counted in the whole file.
    std::erase_if(about_.data.notes,
                  [](const std::string& note) { return note.starts_with("skipped "); });
    about_.data.is_sparse = learnt.sample.data.is_sparse;
    knows_storage_ = true;
    if (!learnt.is_whole) {
      about_.data.notes.push_back(
          fmt::format("stream    columns, labels and scaling were learnt from {} rows that are "
                      "spread over the file",
                      Grouped(learnt.sample.data.rows)));
    }
  }

  void SpillRows(const std::string& data, double valid_fraction, RowSpill& train, RowSpill& valid) {
    const std::uintmax_t all = std::max<std::uintmax_t>(1, BytesOfFiles(data));
    std::uintmax_t done = 0;
    ReadOptions read = source_.read;
    read.knows_sample_only = source_.schema == nullptr;
    RowBlocks blocks(data, about_.schema, read, RowBlocks::Text::kDropped, shares_.block,
                     Labels::kRequired);
    while (std::optional<RowBlock> block = blocks.Next()) {
      Dataset& rows = block->data;
      about_.data.skipped_rows += rows.skipped_rows;
      if (rows.rows == 0) continue;
      if (!std::exchange(knows_storage_, true)) about_.data.is_sparse = rows.is_sparse;
      ConvertStorage(rows, about_.data.is_sparse ? Storage::kSparse : Storage::kDense);
      for (std::int64_t row = 0; row < rows.rows; ++row) {
        RowSpill& spill = random_.Uniform() < valid_fraction ? valid : train;
        const auto buckets = static_cast<std::int64_t>(spill.buckets());
        spill.Add(rows, row, random_.Below(buckets));
      }
      done += shares_.block;
      on_activity_(fmt::format("encoding {}: {} rows, about {} %", Name(data),
                               Grouped(train.rows() + valid.rows()),
                               std::min<std::uintmax_t>(99, 100 * done / all)));
    }
  }

  void Write(const std::string& key, RowSpill& train, RowSpill& valid) {
    if (train.rows() == 0) {
      throw UserError(fmt::format("{}: no row has a label; choose another column with --label",
                                  Name(source_.data)));
    }
    about_.data.source = Name(source_.data);
    about_.data.features = about_.schema.features;
    about_.data.rows = train.rows() + valid.rows();
    about_.train_rows = train.rows();
    CacheCounts counts;
    for (std::size_t i = 0; i < kCacheArrays; ++i) {
      counts[i] = train.counts()[i] + valid.counts()[i];
    }
    std::vector<CacheArray> begin_with_zero;
    for (const CacheArray which : {CacheArray::kOffsets, CacheArray::kLabelOffsets}) {
      std::size_t& count = counts[which];
      if (count == 0) continue;
      ++count;
      begin_with_zero.push_back(which);
    }
    on_activity_(fmt::format("shuffling {}", Name(source_.data)));
    CacheWriter writer(path_, key, about_, counts);
    constexpr std::int64_t kZero = 0;
    const std::span<const std::int64_t> zero(&kZero, 1);
    for (const CacheArray which : begin_with_zero) writer.Append(which, zero);
    RowSpill::EndOffsets ends;
    train.MoveTo(writer, random_, ends);
    valid.MoveTo(writer, random_, ends);
    writer.Commit();
  }

  static std::string Name(const std::string& data) { return NameOfFiles(InputFiles(data)); }

  const StreamSource& source_;
  const DataCache& cache_;
  const std::function<void(std::string_view)>& on_activity_;
  Shares shares_;
  Random random_;
  std::string path_;
  TrainingData about_;  // all but the arrays
  bool knows_storage_ = false;
};

}  // namespace

TrainingData ReadStream(const StreamSource& source, const DataCache& cache,
                        const std::function<void(std::string_view)>& on_activity) {
  const std::string key = StreamKey(source);
  const std::size_t most_resident = Shares(MemoryBudget(source.read.memory_bytes)).resident;
  if (auto data = cache.LoadStream(key, most_resident)) return *std::move(data);
  StreamBuilder(source, cache, on_activity).Build(key);
  auto data = cache.LoadStream(key, most_resident);
  if (!data) throw Error("the rows that were just encoded cannot be read");
  return *std::move(data);
}

}  // namespace hogbatch
