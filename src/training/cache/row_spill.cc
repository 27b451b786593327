#include "training/cache/row_spill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/replaced_file.h"

namespace hogbatch {
namespace {

// A file without a name.
int OpenNameless(const std::filesystem::path& folder) {
  std::string path = (folder / "rows-XXXXXX").string();
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) ThrowErrno("write", path);
  ::unlink(path.c_str());
  return file;
}

// A row as it is written: which arrays it is in, in the order of the file. Before the values of an
// array that rows have a different number of comes that number.
class RowReader {
 public:
  RowReader(std::span<const std::byte> bytes, CacheWriter& writer)
      : bytes_(bytes), writer_(writer) {}

  template <typename T>
  void Move(CacheArray which, std::size_t count) {
    // The bytes of a row are not aligned.
    values_.resize((count * sizeof(T) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t));
    const std::size_t size = count * sizeof(T);
    Check(size <= bytes_.size(), "a row that was put aside is cut");
    if (count == 0) return;
    std::memcpy(values_.data(), bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    writer_.Append(which, std::span(reinterpret_cast<const T*>(values_.data()), count));
  }
  std::size_t Count() {
    std::uint32_t count = 0;
    Check(sizeof count <= bytes_.size(), "a row that was put aside is cut");
    std::memcpy(&count, bytes_.data(), sizeof count);
    bytes_ = bytes_.subspan(sizeof count);
    return count;
  }

 private:
  std::span<const std::byte> bytes_;
  CacheWriter& writer_;
  std::vector<std::int64_t> values_;
};

}  // namespace

RowSpill::RowSpill(const std::filesystem::path& folder, std::size_t buckets,
                   std::size_t buffer_bytes)
    : buffer_bytes_(buffer_bytes), buckets_(buckets) {
  for (Bucket& bucket : buckets_) bucket.file = OpenNameless(folder);
}

RowSpill::~RowSpill() {
  for (const Bucket& bucket : buckets_) {
    if (bucket.file >= 0) ::close(bucket.file);
  }
}

template <typename T>
void RowSpill::Put(Bucket& bucket, CacheArray which, const T* values, std::int64_t count) {
  const std::span array(values, count);
  const auto bytes = std::as_bytes(array);
  bucket.waiting.insert(bucket.waiting.end(), bytes.begin(), bytes.end());
  counts_[which] += array.size();
}

void RowSpill::Add(const Dataset& data, std::int64_t row, std::size_t index) {
  Bucket& bucket = buckets_[index];
  const std::size_t before = bucket.waiting.size();
  const auto put_count = [&](std::int64_t count) {
    const auto narrow = static_cast<std::uint32_t>(count);
    const auto bytes = std::as_bytes(std::span(&narrow, 1));
    bucket.waiting.insert(bucket.waiting.end(), bytes.begin(), bytes.end());
  };
  if (data.is_sparse) {
    const std::int64_t begin = data.offsets[row], count = data.offsets[row + 1] - begin;
    put_count(count);
    Put(bucket, CacheArray::kColumns, data.columns.data() + begin, count);
    Put(bucket, CacheArray::kValues, data.values.data() + begin, count);
    ++counts_[CacheArray::kOffsets];
  } else {
    Put(bucket, CacheArray::kDense, data.dense.data() + row * data.features, data.features);
  }
  if (!data.classes.empty()) Put(bucket, CacheArray::kClasses, data.classes.data() + row, 1);
  if (!data.label_offsets.empty()) {
    const std::int64_t begin = data.label_offsets[row];
    const std::int64_t count = data.label_offsets[row + 1] - begin;
    put_count(count);
    Put(bucket, CacheArray::kLabels, data.labels.data() + begin, count);
    ++counts_[CacheArray::kLabelOffsets];
  }
  if (!data.targets.empty()) Put(bucket, CacheArray::kTargets, data.targets.data() + row, 1);
  if (!data.weights.empty()) Put(bucket, CacheArray::kWeights, data.weights.data() + row, 1);
  bucket.row_bytes.push_back(static_cast<std::uint32_t>(bucket.waiting.size() - before));
  ++rows_;
  if (bucket.waiting.size() >= buffer_bytes_) Flush(bucket);
}

void RowSpill::Flush(Bucket& bucket) {
  WriteAll(bucket.file, bucket.waiting, "the rows that are put aside");
  bucket.written += bucket.waiting.size();
  bucket.waiting.clear();
}

std::vector<std::byte> RowSpill::Read(Bucket& bucket) {
  Flush(bucket);
  std::vector<std::byte> bytes(bucket.written);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got =
        ::pread(bucket.file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ThrowErrno("read", "the rows that are put aside");
    at += got;
  }
  ::close(std::exchange(bucket.file, -1));  // its room on the disk is free now
  bucket.waiting = {};
  return bytes;
}

void RowSpill::MoveTo(CacheWriter& writer, Random& random, EndOffsets& ends) {
  const auto has = [&](CacheArray which) { return counts_[which] > 0; };
  const std::size_t features = rows_ > 0 ? counts_[CacheArray::kDense] / rows_ : 0;
  for (Bucket& bucket : buckets_) {
    const std::vector<std::byte> bytes = Read(bucket);
    std::vector<std::size_t> begins = {0};
    for (const std::uint32_t size : bucket.row_bytes) begins.push_back(begins.back() + size);
    for (const std::int64_t row : random.Permutation(std::ssize(bucket.row_bytes))) {
      const auto row_bytes = std::span(bytes).subspan(begins[row], bucket.row_bytes[row]);
      RowReader reader(row_bytes, writer);
      if (has(CacheArray::kOffsets)) {
        const std::size_t count = reader.Count();
        reader.Move<std::int32_t>(CacheArray::kColumns, count);
        reader.Move<float>(CacheArray::kValues, count);
        ends.values += static_cast<std::int64_t>(count);
        writer.Append(CacheArray::kOffsets, std::span<const std::int64_t>(&ends.values, 1));
      } else {
        reader.Move<float>(CacheArray::kDense, features);
      }
      if (has(CacheArray::kClasses)) reader.Move<std::int32_t>(CacheArray::kClasses, 1);
      if (has(CacheArray::kLabelOffsets)) {
        const std::size_t count = reader.Count();
        reader.Move<std::int32_t>(CacheArray::kLabels, count);
        ends.labels += static_cast<std::int64_t>(count);
        writer.Append(CacheArray::kLabelOffsets, std::span<const std::int64_t>(&ends.labels, 1));
      }
      if (has(CacheArray::kTargets)) reader.Move<float>(CacheArray::kTargets, 1);
      if (has(CacheArray::kWeights)) reader.Move<float>(CacheArray::kWeights, 1);
    }
    bucket.row_bytes = {};
  }
}

}  // namespace hogbatch
