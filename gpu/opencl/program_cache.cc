#include "gpu/opencl/program_cache.h"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/error.h"
#include "core/replaced_file.h"

namespace hogbatch::opencl {
namespace {

namespace fs = std::filesystem;

// FNV-1a: guards against damage and mix-ups, not against malice.
class Hash {
 public:
  Hash& Add(std::string_view bytes) {
    for (const char byte : bytes) {
      state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    }
    return *this;
  }
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

// The first line of a file; the binary follows. Implementations may crash on a damaged binary, so
// they never see one.
std::string Header(std::string_view identity, std::string_view binary) {
  return fmt::format("hogbatch OpenCL program {}\n", Hash().Add(identity).Add(binary).hex());
}

}  // namespace

fs::path ProgramCache::PathOf(std::string_view identity) const {
  return *folder_ / fmt::format("opencl-{}.bin", Hash().Add(identity).hex());
}

std::optional<std::string> ProgramCache::Load(std::string_view identity) const {
  if (!folder_) return std::nullopt;
  const fs::path path = PathOf(identity);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;  // opening a pipe would hang
  std::ifstream file(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  const std::size_t header_size = Header({}, {}).size();
  if (!file || content.size() <= header_size) return std::nullopt;
  const std::string_view binary = std::string_view(content).substr(header_size);
  if (!content.starts_with(Header(identity, binary))) return std::nullopt;
  return std::string(binary);
}

void ProgramCache::Save(std::string_view identity, std::string_view binary) const {
  if (!folder_) return;
  std::error_code error;
  fs::create_directories(*folder_, error);
  // Two threads that save the same program at once may disturb each other; the header tells.
  try {
    ReplaceFile(PathOf(identity).string(), Header(identity, binary).append(binary));
  } catch (const Error&) {
    // A full disk or a folder that is not ours: the next run compiles again.
  }
}

}  // namespace hogbatch::opencl
