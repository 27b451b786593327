#include "cli/files.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

// Owns a file descriptor for as long as an exception may pass.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

void WriteAll(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) ThrowErrno("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A rename is on disk once its folder is.
void SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  const Descriptor opened(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened.get() >= 0) ::fsync(opened.get());
}

// Makes `folder` and what is above it; false when it was there already.
bool CreateFolder(const std::string& folder) {
  std::error_code error;
  const bool made = std::filesystem::create_directories(folder, error);
  if (error) {
    errno = error.value();
    ThrowErrno("make the output folder", folder);
  }
  return made;
}

std::string DatedFolder() {
  const std::string base =
      fmt::format("runs/{:%Y-%m-%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  std::string folder = base;
  for (int copy = 2; !CreateFolder(folder); ++copy) folder = fmt::format("{}-{}", base, copy);
  return folder;
}

}  // namespace

void ReplaceFile(const std::string& path, std::string_view content) {
  const std::string aside = fmt::format("{}.{}.part", path, ::getpid());
  try {
    Descriptor file(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (file.get() < 0) ThrowErrno("write", path);
    WriteAll(file.get(), content, path);
    if (::fsync(file.get()) != 0) ThrowErrno("write", path);
    if (::close(file.Release()) != 0) ThrowErrno("write", path);
    if (std::rename(aside.c_str(), path.c_str()) != 0) ThrowErrno("write", path);
  } catch (const Error&) {
    ::unlink(aside.c_str());
    throw;
  }
  SyncFolderOf(path);
}

std::string MakeOutputFolder(const std::string& wanted) {
  if (!wanted.empty()) CreateFolder(wanted);
  const std::string folder = wanted.empty() ? DatedFolder() : wanted;
  // Only making a file tells whether one can be made: rights, mounts and quotas all have a say.
  const std::string probe = fmt::format("{}/.hogbatch.{}", folder, ::getpid());
  const Descriptor file(probe, O_WRONLY | O_CREAT | O_CLOEXEC);
  if (file.get() < 0) ThrowErrno("write into the output folder", folder);
  ::unlink(probe.c_str());
  return folder;
}

LineFile::LineFile(const std::string& path)
    : path_(path),
      descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) ThrowErrno("write", path);
}

LineFile::~LineFile() { ::close(descriptor_); }

void LineFile::Append(std::string_view line) {
  WriteAll(descriptor_, fmt::format("{}\n", line), path_);
}

}  // namespace hogbatch
