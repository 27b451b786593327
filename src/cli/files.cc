#include "cli/files.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/guard/folder.h"
#include "core/guard/json_text.h"
#include "core/replaced_file.h"
#include "report/line_reader.h"
#include "report/record_format.h"
#include "training/model/model_file.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

// Where a run, a sweep or a queue writes below its folder. A queue's jobs have names of their own,
// and checkpoints.
constexpr std::array<std::string_view, 5> kInnerFolders = {"checkpoints", "members", "trials",
                                                           "ensemble", ".jobs"};

// What a run that was killed left half written, in its folder and those of its parts.
void RemoveLeftovers(const fs::path& folder) {
  RemovePartialFiles(folder);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.symlink_status(error).type() != fs::file_type::directory) continue;
    const std::string name = entry.path().filename();
    const bool is_inner = std::ranges::find(kInnerFolders, name) != kInnerFolders.end();
    if (is_inner || fs::exists(entry.path() / "checkpoints", error)) RemoveLeftovers(entry.path());
  }
}

std::string DatedFolder() {
  const std::string base =
      fmt::format("runs/{:%Y-%m-%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  std::string folder = base;
  for (int copy = 2; !MakeFolder(folder); ++copy) folder = fmt::format("{}-{}", base, copy);
  return folder;
}

// Whether a file that was opened is still the one at `path`: the run that held a lock may have
// removed it meanwhile.
bool IsStillAt(const std::string& path, int descriptor) {
  struct stat opened{}, named{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

[[noreturn]] void RefuseFolder(const std::string& folder, int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size() - 1, 0);
  ::close(descriptor);
  throw UserError(
      fmt::format("another run writes into {} (process {}): wait for it, or name another --out",
                  folder, size > 0 ? text.data() : "unknown"));
}

// The lock of a folder, held.
int Lock(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kLockFile);
  while (true) {
    const int descriptor = OpenOwn(path, O_RDWR);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
      if (IsStillAt(path, descriptor)) return descriptor;
    } else if (errno == EWOULDBLOCK) {
      RefuseFolder(folder, descriptor);
    } else if (errno != EINTR) {
      const int reason = errno;
      ::close(descriptor);
      throw UserError(fmt::format(
          "cannot lock {}: {}; name a folder on a file system that has locks, such as a local one",
          path, std::strerror(reason)));
    }
    ::close(descriptor);
  }
}

// A later --resume would go on with the run whose checkpoints stay.
void RemoveCheckpoints(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder + "/checkpoints", error);
  if (!error) return;
  throw UserError(
      fmt::format("cannot remove {}/checkpoints, which an earlier run left: {}; remove that folder "
                  "yourself, or "
                  "name another --out",
                  folder, error.message()));
}

// The bytes of a metrics.jsonl up to its last line that a resumed run will not record again.
std::size_t KeptBytes(const std::string& path, std::int64_t examples) {
  std::size_t read = 0, kept = 0;
  report::LineReader lines(path);
  for (auto line = lines.Next(); line && line->ended && !line->too_long; line = lines.Next()) {
    const auto json = ParseJson<nlohmann::json>(line->text);
    if (!json.is_object()) break;
    read += line->text.size() + 1;
    const auto found = json.find("examples");
    const bool counts = found != json.end() && found->is_number();
    const bool beyond = counts && found->get<double>() > static_cast<double>(examples);
    if (!beyond) kept = read;
  }
  return kept;
}

}  // namespace

std::string MakeOutputFolder(const std::string& wanted, NamedBy named_by) {
  if (!wanted.empty()) MakeFolder(wanted, named_by);
  const std::string folder = wanted.empty() ? DatedFolder() : wanted;
  // Makes a file to see whether that works: it depends on permissions, mounts and quotas.
  const std::string probe = fmt::format("{}/.hogbatch.{}", folder, ::getpid());
  ::unlink(probe.c_str());
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) ThrowErrno("write into the output folder", folder);
  ::close(descriptor);
  ::unlink(probe.c_str());
  return folder;
}

FileTime TimeOf(const std::string& file) {
  std::error_code error;
  return fs::last_write_time(file, error);
}

std::string LatestFolder(
    const std::function<std::optional<FileTime>(const std::string& folder)>& time_of) {
  std::error_code error;
  std::pair<FileTime, std::string> latest{FileTime::min(), ""};
  for (const fs::directory_entry& entry : fs::directory_iterator("runs", error)) {
    const std::string folder = entry.path();
    if (const auto time = time_of(folder)) latest = std::max(latest, {*time, folder});
  }
  return latest.second;
}

void SetAsideOldRun(const std::string& folder) {
  RemoveCheckpoints(folder);
  const std::string model = ModelPath(folder);
  const std::string previous = folder + "/model.previous.safetensors";
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(model, error))) {
    fs::remove(previous, error);
    if (::link(model.c_str(), previous.c_str()) != 0) {  // not every file system has links
      fs::copy_file(model, previous, error);
      if (error) throw Error(fmt::format("cannot set aside {}: {}", model, error.message()));
    }
  }
  for (const char* file : {report::kSummaryFile, kEventFile}) {
    const std::string path = folder + "/" + file;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) ThrowErrno("remove", path);
  }
}

void RemoveUnusedFolder(const std::string& folder) noexcept {
  std::error_code error;
  fs::remove(fs::path(folder) / kLockFile, error);
  fs::remove(folder, error);
}

FolderLock::FolderLock(const std::string& folder) : descriptor_(Lock(folder)) {
  const std::string id = fmt::format("{}", ::getpid());
  if (::ftruncate(descriptor_, 0) == 0) {
    WriteAll(descriptor_, std::as_bytes(std::span(id)), folder + "/" + kLockFile);
  }
  RemoveLeftovers(folder);
}

FolderLock::~FolderLock() { ::close(descriptor_); }

void CutMetrics(const std::string& path, std::int64_t examples) {
  ReplacedFile file(path);
  std::error_code error;
  if (fs::is_regular_file(path, error)) {  // a pipe would be waited for
    std::vector<char> block(std::size_t{1} << 20);
    std::ifstream old(path, std::ios::binary);
    for (std::size_t left = KeptBytes(path, examples); left > 0;) {
      old.read(block.data(), static_cast<std::streamsize>(std::min(left, block.size())));
      const auto read = static_cast<std::size_t>(old.gcount());
      if (read == 0) ThrowErrno("read", path);
      file.Write(std::as_bytes(std::span(block).first(read)));
      left -= read;
    }
  }
  file.Commit();
}

GrowingFile::GrowingFile(const std::string& path, Begin begin) : path_(path) {
  if (begin == Begin::kEmpty) ::unlink(path.c_str());
  descriptor_ = OpenOwn(path, O_WRONLY | O_APPEND | (begin == Begin::kEmpty ? O_EXCL : 0));
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::Append(std::string_view record) {
  WriteAll(descriptor_, std::as_bytes(std::span(record)), path_);
}

}  // namespace hogbatch
