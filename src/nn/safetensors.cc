#include "nn/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxHeader = 100'000'000;  // bytes; the limit of the reference reader
constexpr int kMaxDepth = 2;  // header, tensor, its list of numbers: nothing lies deeper

[[noreturn]] void Damaged(std::string_view source, std::string_view what) {
  throw UserError(
      fmt::format("{} is not a model file that can be read: {}; copy it again from where it was "
                  "written, or train a new one",
                  source, what));
}

// Where a tensor's bytes lie after the header.
struct Extent {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_float = true;  // F32; else I64
};

struct Header {
  std::map<std::string, std::string> metadata;
  std::vector<Extent> extents;
};

// Bytes that can be copied out from any place: a file or memory.
using ReadAt = std::function<void(std::int64_t offset, std::span<std::byte> to)>;

std::int64_t HeaderLength(std::span<const std::byte, 8> bytes, std::int64_t file_bytes,
                          std::string_view source) {
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint64_t>(bytes[i]);
  if (length > static_cast<std::uint64_t>(kMaxHeader)) {
    Damaged(source, "it does not begin as a safetensors file does (is it a model at all?)");
  }
  if (static_cast<std::int64_t>(length) > file_bytes - 8) {
    Damaged(source, fmt::format("it is cut off: its header claims {} bytes and {} follow", length,
                                file_bytes - 8));
  }
  return static_cast<std::int64_t>(length);
}

// Refuses depth and repeated names while parsing, before they cost memory or hide each other.
Json ParseJson(std::string_view text, std::string_view source) {
  std::set<std::string> names;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth > kMaxDepth) Damaged(source, "its header is nested too deeply");
    if (event == Json::parse_event_t::key && depth == 1) {
      const auto name = value.get<std::string>();
      if (!names.insert(name).second) {
        Damaged(source, fmt::format("its header names '{}' twice", name));
      }
    }
    return true;
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), watch);
    if (!json.is_object()) Damaged(source, "its header is not a JSON object");
    return json;
  } catch (const Json::exception&) {
    Damaged(source, "its header is not valid JSON");
  }
}

std::int64_t Integer(const Json& value, std::string_view name, std::string_view source) {
  const bool fits = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
  if (!fits) {
    Damaged(source, fmt::format("the sizes of tensor '{}' are not whole numbers", name));
  }
  return value.get<std::int64_t>();
}

const Json& Member(const Json& entry, const char* key, std::string_view name,
                   std::string_view source) {
  if (!entry.is_object() || !entry.contains(key)) {
    Damaged(source, fmt::format("tensor '{}' has no {}", name, key));
  }
  return entry.at(key);
}

// Bytes a shape takes; none when they do not fit 64 bits.
std::optional<std::int64_t> BytesOf(const Extent& extent) {
  std::int64_t bytes = extent.is_float ? sizeof(float) : sizeof(std::int64_t);
  for (const std::int64_t size : extent.shape) {
    if (size != 0 && bytes > INT64_MAX / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

Extent ParseExtent(const std::string& name, const Json& entry, TensorTypes types,
                   std::string_view source) {
  const Json& type = Member(entry, "dtype", name, source);
  const bool is_integer = type == "I64" && types == TensorTypes::kF32AndI64;
  if (type != "F32" && !is_integer) {
    Damaged(source, fmt::format("tensor '{}' holds {}, and only F32 is read", name,
                                type.is_string() ? type.get<std::string>() : "an unknown type"));
  }
  Extent extent{.name = name, .shape = {}, .is_float = !is_integer};
  const Json& shape = Member(entry, "shape", name, source);
  if (!shape.is_array()) Damaged(source, fmt::format("the shape of tensor '{}' is no list", name));
  for (const Json& size : shape) extent.shape.push_back(Integer(size, name, source));
  const Json& offsets = Member(entry, "data_offsets", name, source);
  if (!offsets.is_array() || offsets.size() != 2) {
    Damaged(source, fmt::format("the offsets of tensor '{}' are not two numbers", name));
  }
  extent.begin = Integer(offsets[0], name, source);
  extent.end = Integer(offsets[1], name, source);
  if (extent.begin > extent.end || BytesOf(extent) != extent.end - extent.begin) {
    Damaged(source, fmt::format("the shape of tensor '{}' does not fit its {} .. {} bytes", name,
                                extent.begin, extent.end));
  }
  return extent;
}

// Tensors must fill the rest of the file without gap, overlap or remainder.
void CheckExtents(const std::vector<Extent>& extents, std::int64_t data_bytes,
                  std::string_view source) {
  std::int64_t at = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != at) {
      Damaged(source, fmt::format("tensor '{}' begins at byte {} where {} was due", extent.name,
                                  extent.begin, at));
    }
    at = extent.end;
  }
  if (at > data_bytes) {
    Damaged(source,
            fmt::format("it is cut off: {} bytes of numbers are due and {} there", at, data_bytes));
  }
  if (at < data_bytes) {
    Damaged(source, fmt::format("{} bytes follow its last tensor", data_bytes - at));
  }
}

Header ParseHeader(std::string_view text, std::int64_t data_bytes, TensorTypes types,
                   std::string_view source) {
  const Json json = ParseJson(text, source);
  Header header;
  for (const auto& [name, entry] : json.items()) {
    if (name != "__metadata__") {
      header.extents.push_back(ParseExtent(name, entry, types, source));
      continue;
    }
    if (!entry.is_object()) Damaged(source, "its metadata is not a JSON object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) Damaged(source, fmt::format("its metadata '{}' is no text", key));
      header.metadata[key] = value.get<std::string>();
    }
  }
  std::sort(header.extents.begin(), header.extents.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  CheckExtents(header.extents, data_bytes, source);
  return header;
}

SafeTensors Read(std::int64_t file_bytes, const ReadAt& read_at, TensorTypes types,
                 std::string_view source) {
  if (file_bytes < 8) Damaged(source, fmt::format("it has only {} bytes", file_bytes));
  std::byte prefix[8];
  read_at(0, prefix);
  const std::int64_t header_bytes = HeaderLength(prefix, file_bytes, source);
  std::string text(static_cast<std::size_t>(header_bytes), ' ');
  read_at(8, std::as_writable_bytes(std::span(text)));

  Header header = ParseHeader(text, file_bytes - 8 - header_bytes, types, source);
  SafeTensors result{.metadata = std::move(header.metadata), .tensors = {}};
  for (Extent& extent : header.extents) {
    const auto bytes = static_cast<std::size_t>(extent.end - extent.begin);
    std::vector<float> data(extent.is_float ? bytes / sizeof(float) : 0);
    std::vector<std::int64_t> integers(extent.is_float ? 0 : bytes / sizeof(std::int64_t));
    read_at(8 + header_bytes + extent.begin, extent.is_float
                                                 ? std::as_writable_bytes(std::span(data))
                                                 : std::as_writable_bytes(std::span(integers)));
    if (!std::all_of(data.begin(), data.end(), [](float x) { return std::isfinite(x); })) {
      Damaged(source, fmt::format("tensor '{}' holds NaN or infinite numbers", extent.name));
    }
    result.tensors.push_back(
        {std::move(extent.name), std::move(extent.shape), std::move(data), std::move(integers)});
  }
  return result;
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

const SafeTensors::Entry* SafeTensors::Find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

SafeTensors ReadSafeTensors(const std::string& path, TensorTypes types) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) ThrowErrno("open", path);
  if (!S_ISREG(status.st_mode)) {
    throw UserError(fmt::format("{} is not a file: name the model.safetensors itself", path));
  }
  const auto read_at = [&](std::int64_t offset, std::span<std::byte> to) {
    while (!to.empty()) {
      const ssize_t got = ::pread(file.fd, to.data(), to.size(), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) ThrowErrno("read", path);
      if (got == 0) Damaged(path, "it became shorter while it was read");
      to = to.subspan(static_cast<std::size_t>(got));
      offset += got;
    }
  };
  return Read(status.st_size, read_at, types, path);
}

SafeTensors ParseSafeTensors(std::span<const std::byte> file, std::string_view source,
                             TensorTypes types) {
  const auto read_at = [&](std::int64_t offset, std::span<std::byte> to) {
    const auto from = file.subspan(static_cast<std::size_t>(offset), to.size());
    std::copy(from.begin(), from.end(), to.begin());
  };
  return Read(static_cast<std::int64_t>(file.size()), read_at, types, source);
}

}  // namespace hogbatch
