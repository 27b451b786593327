#include "core/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/guard/folder.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

bool IsSpecial(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Otherwise only the rename at the end would fail, after the work whose result the file holds.
void RefuseFolder(const std::string& path, NamedBy named_by) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(path, error))) return;
  throw UserError(fmt::format("cannot write {}: it is a folder; {}", path,
                              named_by == NamedBy::kUser ? "name a file" : "remove or rename it"));
}

// Of a device or a pipe. To open a pipe as usual would wait for a reader for ever.
int OpenSpecial(const std::string& path) {
  constexpr std::chrono::milliseconds kPause(20);
  constexpr std::chrono::seconds kLongest(5);
  std::error_code error;
  for (std::chrono::milliseconds waited(0);; waited += kPause) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor >= 0) {
      ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
      return descriptor;
    }
    if (errno != ENXIO || !fs::is_fifo(path, error)) return -1;
    if (waited >= kLongest) {
      throw UserError(fmt::format("{} is a pipe that no program reads: start its reader", path));
    }
    std::this_thread::sleep_for(kPause);
  }
}

// Of the plain file at `path`, or of a new one; umask takes from it.
mode_t AccessOf(const std::string& path) {
  struct stat status{};
  const bool is_file = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return 0644 & (is_file ? status.st_mode : 0777);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

std::string NameOf(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// A file without a name, which can be given one later; -1: the file system has none, or this is a
// place without /proc.
int OpenUnnamed(const std::string& folder, mode_t access) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, access);
  if (descriptor < 0 || ::access(NameOf(descriptor).c_str(), F_OK) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// Whether a file with this name is that of a ReplacedFile. Programs of others call their files
// .partial, too.
bool IsPartialFile(std::string_view name) {
  if (!name.ends_with(kPartial)) return false;
  name.remove_suffix(kPartial.size());
  const std::size_t dot = name.rfind('.'), dash = name.rfind('-');
  if (dot == std::string_view::npos || dash == std::string_view::npos || dash < dot) return false;
  pid_t process = 0;
  int number = 0;
  return ReadAll(name.substr(dot + 1, dash - dot - 1), process) &&
         ReadAll(name.substr(dash + 1), number) && process > 0;
}

}  // namespace

void WriteAll(int descriptor, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowErrno("write", path);
    bytes = bytes.subspan(written);
  }
}

std::string FollowLinks(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the system's
  std::error_code error;
  fs::path end = path;
  for (int i = 0; fs::is_symlink(end, error); ++i) {
    errno = i == kMostLinks ? ELOOP : 0;
    const fs::path target = fs::read_symlink(end, error);
    if (error) errno = error.value();
    if (errno != 0) ThrowErrno("write", path);
    end = end.parent_path() / target;
  }
  return end.string();
}

int OpenOwn(const std::string& path, int flags) {
  const int descriptor =
      ::open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno != ELOOP && errno != ENXIO) ThrowErrno("write", path);
  struct stat status{};
  if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_nlink <= 1) {
    return descriptor;
  }
  if (descriptor >= 0) ::close(descriptor);
  throw UserError(
      fmt::format("{} is a link, has a second name, or is no plain file: remove it", path));
}

ReplacedFile::ReplacedFile(const std::string& path, NamedBy named_by) : path_(path) {
  if (named_by == NamedBy::kUser && IsSpecial(path)) {
    descriptor_ = OpenSpecial(path);
  } else {
    if (named_by == NamedBy::kUser) path_ = FollowLinks(path);
    RefuseFolder(path_, named_by);
    OpenAside();
  }
  if (descriptor_ < 0) ThrowErrno("write", path);
}

// Calls `take` with names aside until one is not taken, so that no other user's file or link is
// written into. False, with errno, if none can be had.
template <typename Take>
bool ReplacedFile::TakeName(const Take& take) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    aside_ = fmt::format("{}.{}-{}{}", path_, ::getpid(), i, kPartial);
    if (take(aside_.c_str())) return true;
    if (errno != EEXIST) break;
  }
  aside_.clear();
  return false;
}

void ReplacedFile::OpenAside() {
  const mode_t access = AccessOf(path_);
  descriptor_ = OpenUnnamed(FolderOf(path_), access);
  is_unnamed_ = descriptor_ >= 0;
  if (is_unnamed_) return;
  TakeName([&](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, access);
    return descriptor_ >= 0;
  });
}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void ReplacedFile::Write(std::span<const std::byte> bytes) { WriteAll(descriptor_, bytes, path_); }

void ReplacedFile::WriteAt(std::size_t place, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowErrno("write", path_);
    place += written;
    bytes = bytes.subspan(written);
  }
}

void ReplacedFile::Commit(Sync sync) {
  if (is_unnamed_ || !aside_.empty()) {
    if (sync == Sync::kYes && ::fsync(descriptor_) != 0) ThrowErrno("write", path_);
    const std::string itself = NameOf(descriptor_);
    const auto link = [&](const char* name) {
      return ::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    };
    if (is_unnamed_ && !TakeName(link)) ThrowErrno("write", path_);
    if (std::rename(aside_.c_str(), path_.c_str()) != 0) ThrowErrno("write", path_);
    is_unnamed_ = false;
    aside_.clear();
    if (sync == Sync::kYes) SyncFolder(FolderOf(path_));
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) ThrowErrno("write", path_);
}

void RemovePartialFiles(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (IsPartialFile(entry.path().filename().string())) fs::remove(entry.path(), error);
  }
}

void ReplaceFile(const std::string& path, std::string_view content, NamedBy named_by) {
  ReplacedFile file(path, named_by);
  file.Write(std::as_bytes(std::span(content)));
  file.Commit();
}

}  // namespace hogbatch
