#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/replaced_file.h"
#include "nn/safetensors_header.h"

namespace hogbatch {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

// By the alternatives of TensorView::data.
constexpr std::array<std::string_view, 3> kTypes = {"F32", "I32", "I64"};

std::span<const std::byte> BytesOf(const TensorView& tensor) {
  return std::visit([](auto numbers) { return std::as_bytes(numbers); }, tensor.data);
}

void CheckTensor(const TensorView& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  const std::size_t size = std::visit([](auto numbers) { return numbers.size(); }, tensor.data);
  Check(count == static_cast<std::int64_t>(size),
        "a tensor has another number of values than its shape");
  const auto finite = [](float x) { return std::isfinite(x); };
  const auto* floats = std::get_if<std::span<const float>>(&tensor.data);
  if (floats && !std::all_of(floats->begin(), floats->end(), finite)) {
    throw Error(fmt::format(
        "the model was not saved: {} holds numbers that are NaN or infinite; try a smaller --lr",
        tensor.name));
  }
}

// The header with its length before it, padded with spaces so that numbers begin at a multiple of
// eight.
std::string MakeHeader(const std::map<std::string, std::string>& metadata,
                       std::span<const TensorView> tensors) {
  if (tensors.size() > kMaxTensors) {
    throw Error(fmt::format("the model was not saved: it has {} tensors, over {}", tensors.size(),
                            kMaxTensors));
  }
  nlohmann::json json = nlohmann::json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  std::size_t at = 0;
  for (const TensorView& tensor : tensors) {
    CheckTensor(tensor);
    const std::size_t end = at + BytesOf(tensor).size();
    Check(!json.contains(tensor.name), "two tensors of a file have one name");
    json[tensor.name] = {{"dtype", kTypes[tensor.data.index()]},
                         {"shape", tensor.shape},
                         {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = JsonText(json);
  text.append((8 - text.size() % 8) % 8, ' ');
  if (std::ssize(text) > kMaxHeaderBytes) {
    throw Error(fmt::format("the model was not saved: its description takes {} bytes, over {}",
                            text.size(), kMaxHeaderBytes));
  }
  std::string header;
  for (int i = 0; i < 8; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return header + text;
}

}  // namespace

void WriteSafeTensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                      std::span<const TensorView> tensors, NamedBy named_by) {
  const std::string header = MakeHeader(metadata, tensors);
  ReplacedFile file(path, named_by);
  file.Write(std::as_bytes(std::span(header)));
  for (const TensorView& tensor : tensors) file.Write(BytesOf(tensor));
  file.Commit();
}

std::size_t SafeTensorsBytes(const std::map<std::string, std::string>& metadata,
                             std::span<const TensorView> tensors) {
  std::size_t bytes = MakeHeader(metadata, tensors).size();
  for (const TensorView& tensor : tensors) bytes += BytesOf(tensor).size();
  return bytes;
}

}  // namespace hogbatch
