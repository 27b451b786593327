#include "gpu/opencl/program_cache.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "core/error.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"
#include "core/text.h"

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

constexpr std::string_view kMagic = "hogbatch OpenCL program, format ";
constexpr int kFormat = 1;

// The first line of a file; the binary follows. Implementations may crash on a damaged binary, so
// none is passed to them.
std::string Header(std::string_view identity, std::string_view binary) {
  return fmt::format("{}{}, {}\n", kMagic, kFormat, Hash().Add(identity).Add(binary).hex());
}

// All of a file; empty if there is none, or one that no compiler makes.
std::string ReadFile(const fs::path& path) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 28;
  return ReadSmallFile(path.string(), kMaxBytes).value_or("");
}

bool IsNewer(std::string_view content) {
  if (!content.starts_with(kMagic)) return false;
  content.remove_prefix(kMagic.size());
  std::int64_t format = 0;
  return hogbatch::ReadAll(content.substr(0, content.find(',')), format) && format > kFormat;
}

}  // namespace

fs::path ProgramCache::PathOf(std::string_view identity) const {
  return *folder_ / fmt::format("opencl-{}.bin", Hash().Add(identity).hex());
}

std::optional<std::string> ProgramCache::Load(std::string_view identity) const {
  if (!folder_ || !OpenCacheFolder(*folder_)) return std::nullopt;
  const std::string content = ReadFile(PathOf(identity));
  const std::size_t header_size = Header({}, {}).size();
  if (content.size() <= header_size) return std::nullopt;
  const std::string_view binary = std::string_view(content).substr(header_size);
  if (!content.starts_with(Header(identity, binary))) return std::nullopt;
  return std::string(binary);
}

void ProgramCache::Save(std::string_view identity, std::string_view binary) const {
  if (!folder_ || !OpenCacheFolder(*folder_)) return;
  const fs::path path = PathOf(identity);
  if (IsNewer(ReadFile(path))) return;
  try {
    ReplaceFile(path.string(), Header(identity, binary).append(binary));
  } catch (const Error&) {
    // A full disk, or a folder without write permission: the next run compiles again.
  }
}

}  // namespace hogbatch::opencl
