// How fast a data set comes from the cache, beside copying its bytes in memory. Loading maps the
// file and checks all of it: checksums, and that every index is in range.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "datasets/encoding/storage.h"
#include "datasets/synthetic.h"
#include "training/cache/data_cache.h"

namespace hogbatch::bench {
namespace {

constexpr std::int64_t kBytes = std::int64_t{512} << 20;

// A folder of its own, which goes away with it.
class CacheFolder {
 public:
  CacheFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("hogbatch-bench-cache-" + std::to_string(::getpid()))) {}
  ~CacheFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TrainingData Rows(bool is_sparse) {
  TrainingData small =
      MakeSynthetic({.rows = 4096, .features = 512, .nonzeros = is_sparse ? 64 : 0});
  const std::int64_t times = kBytes / small.data.bytes();
  TrainingData data = small;
  for (std::int64_t i = 1; i < times; ++i) AppendRows(small.data, data.data);
  data.train_rows = data.data.rows;
  return data;
}

void Load(benchmark::State& state) {
  const CacheFolder folder;
  const DataCache cache(folder.path());
  std::int64_t bytes = 0;
  {
    const TrainingData data = Rows(state.range(0) != 0);
    bytes = data.data.bytes();
    cache.Store("key", data);
  }
  for (auto _ : state) {
    const auto data = cache.Load("key", std::int64_t{1} << 40);
    if (!data) return state.SkipWithError("the cache could not be written");
    benchmark::DoNotOptimize(data->data.rows);
  }
  state.SetBytesProcessed(state.iterations() * bytes);
}

void Copy(benchmark::State& state) {
  const std::vector<char> from(static_cast<std::size_t>(kBytes), 'x');
  std::vector<char> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * kBytes);
}

BENCHMARK(Copy)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Load)->ArgName("sparse")->Arg(0)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hogbatch::bench

BENCHMARK_MAIN();
