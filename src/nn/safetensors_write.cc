#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "nn/safetensors.h"

namespace hogbatch {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::size_t kMaxHeader = 100'000'000;  // readers refuse more

void CheckTensor(const TensorView& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  Check(count == static_cast<std::int64_t>(tensor.data.size()),
        "a tensor has another number of values than its shape");
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!std::all_of(tensor.data.begin(), tensor.data.end(), finite)) {
    throw Error(fmt::format(
        "the model was not saved: {} holds numbers that are NaN or infinite; try a smaller --lr",
        tensor.name));
  }
}

// The header with its length before it, padded with spaces so that numbers begin at a multiple of
// eight.
std::string MakeHeader(const std::map<std::string, std::string>& metadata,
                       std::span<const TensorView> tensors) {
  nlohmann::json json = nlohmann::json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  std::size_t at = 0;
  for (const TensorView& tensor : tensors) {
    CheckTensor(tensor);
    const std::size_t end = at + tensor.data.size_bytes();
    Check(!json.contains(tensor.name), "two tensors of a file have one name");
    json[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMaxHeader) {
    throw Error(fmt::format("the model was not saved: its description takes {} bytes, over {}",
                            text.size(), kMaxHeader));
  }
  std::string header;
  for (int i = 0; i < 8; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return header + text;
}

// A file that takes its place only when it is whole; unless committed it leaves nothing behind.
class FileAside {
 public:
  explicit FileAside(const std::string& path)
      : path_(path), aside_(fmt::format("{}.{}.partial", path, ::getpid())) {
    fd_ = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd_ < 0) ThrowErrno("write", path_);
  }
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;
  ~FileAside() {
    if (fd_ >= 0) ::close(fd_);
    if (!committed_) ::unlink(aside_.c_str());
  }

  void Write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) ThrowErrno("write", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void Commit() {
    if (::fsync(fd_) != 0) ThrowErrno("write", path_);
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) ThrowErrno("write", path_);
    if (::rename(aside_.c_str(), path_.c_str()) != 0) ThrowErrno("write", path_);
    committed_ = true;
    SyncFolder();
  }

 private:
  // Without it the new name may be lost with the power; file systems that cannot say so.
  void SyncFolder() const {
    const auto folder = std::filesystem::absolute(path_).parent_path();
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;  // a folder may be writable and not readable
    const int result = ::fsync(fd);
    const int code = errno;
    ::close(fd);
    errno = code;
    if (result != 0 && code != EINVAL && code != EROFS) ThrowErrno("sync", folder.string());
  }

  std::string path_;
  std::string aside_;
  int fd_ = -1;
  bool committed_ = false;
};

}  // namespace

void WriteSafeTensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                      std::span<const TensorView> tensors) {
  const std::string header = MakeHeader(metadata, tensors);
  FileAside file(path);
  file.Write(std::as_bytes(std::span(header)));
  for (const TensorView& tensor : tensors) file.Write(std::as_bytes(tensor.data));
  file.Commit();
}

}  // namespace hogbatch
