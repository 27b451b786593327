#include "training/cache/cache_writer.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

constexpr std::size_t kWaiting = std::size_t{1} << 20;  // bytes of an array
constexpr std::size_t kChecksumDigits = 16;

CacheCounts ValueBytes() {
  CacheCounts bytes;
  const Dataset none;
  ForEachArray(none,
               [&]<typename T>(CacheArray which, const Array<T>&) { bytes[which] = sizeof(T); });
  return bytes;
}

}  // namespace

CacheWriter::CacheWriter(const std::string& path, std::string key, const TrainingData& data,
                         const CacheCounts& counts)
    : key_(std::move(key)), data_(data), file_(path) {
  for (std::size_t i = 0; i < kCacheArrays; ++i) {
    arrays_[i] = {.count = counts[i], .checksum = std::string(kChecksumDigits, '0')};
  }
  std::size_t at = CacheHeader(key_, data_, arrays_).size();
  const auto value_bytes = ValueBytes();
  for (std::size_t i = 0; i < kCacheArrays; ++i) {
    Part& part = parts_[i];
    part.at = at;
    part.end = at + counts[i] * value_bytes[i];
    part.checksum.reset(XXH3_createState());
    if (!part.checksum) throw std::bad_alloc();
    XXH3_64bits_reset(part.checksum.get());
    at = AlignedSize(part.end);
  }
  size_ = at;
}

void CacheWriter::Flush(Part& part) {
  file_.WriteAt(part.at, part.waiting);
  part.at += part.waiting.size();
  part.waiting.clear();
}

void CacheWriter::AppendBytes(Part& part, std::span<const std::byte> bytes) {
  Check(part.at + part.waiting.size() + bytes.size() <= part.end, "an array got too many values");
  if (bytes.empty()) return;
  XXH3_64bits_update(part.checksum.get(), bytes.data(), bytes.size());
  if (part.waiting.empty() && bytes.size() >= kWaiting) {
    file_.WriteAt(part.at, bytes);
    part.at += bytes.size();
    return;
  }
  part.waiting.insert(part.waiting.end(), bytes.begin(), bytes.end());
  if (part.waiting.size() >= kWaiting) Flush(part);
}

void CacheWriter::Commit() {
  std::size_t written = 0;
  for (std::size_t i = 0; i < kCacheArrays; ++i) {
    Part& part = parts_[i];
    if (!part.waiting.empty()) Flush(part);
    Check(part.at == part.end, "an array got too few values");
    if (arrays_[i].count > 0) written = part.end;
    arrays_[i].checksum = fmt::format("{:016x}", XXH3_64bits_digest(part.checksum.get()));
  }
  // Behind the last array, too, the file goes on to a whole cache line.
  if (written < size_) file_.WriteAt(size_ - 1, std::vector<std::byte>(1));
  const std::string header = CacheHeader(key_, data_, arrays_);
  file_.WriteAt(0, std::as_bytes(std::span(header)));
  file_.Commit(ReplacedFile::Sync::kNo);
}

}  // namespace hogbatch
