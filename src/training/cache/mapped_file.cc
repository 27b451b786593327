#include "training/cache/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <limits>

#include "core/threads.h"

namespace hogbatch {
namespace {

// Memory of this process that belongs to files. Where it is not known, it may be any amount.
std::size_t ResidentFileBytes() {
  std::size_t size = 0, resident = 0, shared = 0;  // pages
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  if (resident == 0) return std::numeric_limits<std::size_t>::max();
  return shared * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

ResidencyLimit::ResidencyLimit(std::span<const std::byte> mapping, std::size_t most_bytes)
    : mapping_(mapping),
      most_bytes_(most_bytes),
      watch_(StartThread([this](const std::stop_token& stop) { Watch(stop); })) {}

ResidencyLimit::~ResidencyLimit() {
  watch_.request_stop();
  ended_.notify_all();
}

void ResidencyLimit::Watch(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kPause(5);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (ResidentFileBytes() > most_bytes_) {
      ::madvise(const_cast<std::byte*>(mapping_.data()), mapping_.size(), MADV_DONTNEED);
    }
    ended_.wait_for(lock, stop, kPause, [] { return false; });
  }
}

MappedFile::MappedFile(const std::filesystem::path& path, std::size_t most_resident) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  struct stat status{};
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const std::size_t size = status.st_size;
    const int flags = MAP_SHARED | (most_resident == 0 ? MAP_POPULATE : 0);
    void* const data = ::mmap(nullptr, size, PROT_READ, flags, file, 0);
    if (data != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(data), size};
    ::futimens(file, nullptr);  // it was used now
  }
  ::close(file);
  if (bytes_.empty()) return;
  guard_.emplace(bytes_, path);
  if (most_resident > 0) limit_.emplace(bytes_, most_resident);
}

MappedFile::~MappedFile() {
  limit_.reset();
  guard_.reset();
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace hogbatch
