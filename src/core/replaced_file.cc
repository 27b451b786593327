#include "core/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

std::string FollowLinks(const std::string& path) {
  std::error_code error;
  const fs::path real =
      fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : fs::path();
  return real.empty() || error ? path : real.string();
}

bool IsSpecial(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

int OpenWithoutWaiting(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_NONBLOCK, 0666);
  if (descriptor < 0 && errno == ENXIO) {
    throw UserError(fmt::format(
        "cannot write {}: it is a pipe that no program reads; start the reader first", path));
  }
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, flags & ~(O_CREAT | O_TRUNC));  // may wait now
  return descriptor;
}

void WriteAll(int descriptor, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowErrno("write", path);
    bytes = bytes.subspan(written);
  }
}

ReplacedFile::ReplacedFile(const std::string& path) : path_(FollowLinks(path)) {
  constexpr int kFlags = O_WRONLY | O_CLOEXEC;
  if (IsSpecial(path_)) {
    descriptor_ = OpenWithoutWaiting(path_, kFlags);
  } else {
    aside_ = fmt::format("{}.{}.partial", path_, ::getpid());
    descriptor_ = ::open(aside_.c_str(), kFlags | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  }
  if (descriptor_ < 0) ThrowErrno("write", path);
}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void ReplacedFile::Write(std::span<const std::byte> bytes) { WriteAll(descriptor_, bytes, path_); }

void ReplacedFile::Commit() {
  if (!aside_.empty()) {
    if (::fsync(descriptor_) != 0) ThrowErrno("write", path_);
    if (std::rename(aside_.c_str(), path_.c_str()) != 0) ThrowErrno("write", path_);
    aside_.clear();
    SyncFolder();
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) ThrowErrno("write", path_);
}

// Without it the new name may be lost with the power. Not every file system can do it, and a folder
// may be writable and not readable.
void ReplacedFile::SyncFolder() const {
  const std::string folder = fs::path(path_).parent_path();
  const int opened =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

void ReplaceFile(const std::string& path, std::string_view content) {
  ReplacedFile file(path);
  file.Write(std::as_bytes(std::span(content)));
  file.Commit();
}

}  // namespace hogbatch
