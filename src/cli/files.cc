#include "cli/files.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <span>

#include "core/error.h"
#include "core/replaced_file.h"

namespace hogbatch {
namespace {

// Owns a file descriptor, so that an exception closes it.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Makes `folder` and its parents; false if it existed already.
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

std::string MakeOutputFolder(const std::string& wanted) {
  if (!wanted.empty()) CreateFolder(wanted);
  const std::string folder = wanted.empty() ? DatedFolder() : wanted;
  // Makes a file to see whether that works: it depends on permissions, mounts and quotas.
  const std::string probe = fmt::format("{}/.hogbatch.{}", folder, ::getpid());
  const Descriptor file(probe, O_WRONLY | O_CREAT | O_CLOEXEC);
  if (file.get() < 0) ThrowErrno("write into the output folder", folder);
  ::unlink(probe.c_str());
  return folder;
}

void SetAsideOldRun(const std::string& folder) {
  const std::string model = folder + "/model.safetensors";
  const std::string previous = folder + "/model.previous.safetensors";
  if (std::rename(model.c_str(), previous.c_str()) != 0 && errno != ENOENT) {
    ThrowErrno("set aside", model);
  }
  for (const char* file : {"summary.json", kEventFile}) {
    const std::string path = folder + "/" + file;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) ThrowErrno("remove", path);
  }
}

GrowingFile::GrowingFile(const std::string& path)
    : path_(path),
      descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) ThrowErrno("write", path);
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::Append(std::string_view record) {
  WriteAll(descriptor_, std::as_bytes(std::span(record)), path_);
}

}  // namespace hogbatch
