#include "nn/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace hogbatch {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDimensions = 16;

// A list of numbers in the description of a tensor.
struct NumberList {
  bool is_there = false;
  bool is_list = false;
  bool is_whole = true;  // all of its numbers are, and fit
  std::vector<std::int64_t> numbers;
};

// The description of a tensor as it is written.
struct Description {
  bool has_type = false;
  std::string type;  // empty: not a text
  NumberList shape;
  NumberList offsets;
};

// Bytes a shape takes; none when they do not fit 64 bits.
std::optional<std::int64_t> BytesOf(const TensorExtent& extent) {
  std::int64_t bytes = extent.is_float ? sizeof(float) : sizeof(std::int64_t);
  for (const std::int64_t size : extent.shape) {
    if (size != 0 && bytes > INT64_MAX / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

TensorExtent ExtentOf(std::string name, Description tensor, TensorFileKind kind,
                      std::string_view source) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) ThrowDamagedTensors(kind, source, fmt::format(fmt::runtime(what), name));
  };
  require(tensor.has_type, "tensor '{}' has no dtype");
  const bool is_integer = tensor.type == "I64" && kind == TensorFileKind::kCheckpoint;
  if (tensor.type != "F32" && !is_integer) {
    ThrowDamagedTensors(
        kind, source,
        fmt::format("tensor '{}' holds {}, and only {} read", name,
                    tensor.type.empty() ? std::string("an unknown type") : tensor.type,
                    kind == TensorFileKind::kModel ? "F32 is" : "F32 and I64 are"));
  }
  require(tensor.shape.is_there, "tensor '{}' has no shape");
  require(tensor.shape.is_list, "the shape of tensor '{}' is no list");
  require(tensor.offsets.is_there, "tensor '{}' has no data_offsets");
  require(tensor.shape.is_whole && tensor.offsets.is_whole,
          "the sizes of tensor '{}' are not whole numbers");
  require(tensor.offsets.numbers.size() == 2, "the offsets of tensor '{}' are not two numbers");
  TensorExtent extent{.name = std::move(name),
                      .shape = std::move(tensor.shape.numbers),
                      .begin = tensor.offsets.numbers[0],
                      .end = tensor.offsets.numbers[1],
                      .is_float = !is_integer};
  if (extent.begin > extent.end || BytesOf(extent) != extent.end - extent.begin) {
    ThrowDamagedTensors(kind, source,
                        fmt::format("the shape of tensor '{}' does not fit its {} .. {} "
                                    "bytes",
                                    extent.name, extent.begin, extent.end));
  }
  return extent;
}

// Takes the header event by event, and refuses what does not belong there at once. Depth 1 is the
// header itself, 2 the metadata or a tensor, 3 a list of numbers.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(TensorFileKind kind, std::string_view source) : kind_(kind), source_(source) {}

  SafeTensorsHeader Take() && { return std::move(header_); }

  bool null() override { return Other(); }
  bool boolean(bool) override { return Other(); }
  bool number_integer(number_integer_t) override { return Other(); }
  bool number_float(number_float_t, const string_t&) override { return Other(); }
  bool binary(binary_t&) override { return Other(); }
  bool number_unsigned(number_unsigned_t number) override {
    if (depth_ != 3 || !list_) return Other();
    if (number > static_cast<number_unsigned_t>(INT64_MAX)) return Other();
    if (list_->numbers.size() == kMaxDimensions) {
      Fail(fmt::format("tensor '{}' has more than {} dimensions", name_, kMaxDimensions));
    }
    list_->numbers.push_back(static_cast<std::int64_t>(number));
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata[key_] = std::move(text);
    } else if (depth_ == 2 && key_ == "dtype") {
      tensor_.has_type = true;
      tensor_.type = std::move(text);
    } else {
      return Other();
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (in_metadata_ && depth_ == 2) Other();
    Open();
    if (depth_ == 2) tensor_ = {};
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 0) Fail("its header is not a JSON object");
    if (depth_ == 1 || in_metadata_) Other();
    Open();
    list_ = ListNamed(key_);
    if (list_) *list_ = {.is_there = true, .is_list = true, .numbers = {}};
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      name_ = name;
      in_metadata_ = name == "__metadata__";
      if (in_metadata_ && std::exchange(has_metadata_, true)) {
        Fail("its header names '__metadata__' twice");
      }
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() override {
    if (--depth_ == 1) Finish();
    return true;
  }
  bool end_array() override {
    --depth_;
    list_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    Fail("its header is not valid JSON");
  }

 private:
  [[noreturn]] void Fail(std::string_view what) const { ThrowDamagedTensors(kind_, source_, what); }

  NumberList* ListNamed(std::string_view key) {
    if (key == "shape") return &tensor_.shape;
    return key == "data_offsets" ? &tensor_.offsets : nullptr;
  }

  void Open() {
    if (depth_ == 3) Fail("its header is nested too deeply");
    ++depth_;
  }

  // A value of a kind that is not expected there. In a tensor, what it is matters at its end.
  bool Other() {
    if (depth_ == 0) Fail("its header is not a JSON object");
    if (in_metadata_ && depth_ == 1) Fail("its metadata is not a JSON object");
    if (in_metadata_) Fail(fmt::format("its metadata '{}' is not a string", key_));
    if (depth_ == 1) Fail(fmt::format("tensor '{}' has no dtype", name_));
    if (list_) list_->is_whole = false;
    if (depth_ == 2 && key_ == "dtype") {
      tensor_.has_type = true;
      tensor_.type.clear();
    } else if (NumberList* list = depth_ == 2 ? ListNamed(key_) : nullptr) {
      *list = {.is_there = true, .numbers = {}};
    }
    return true;
  }

  // The end of the metadata or of a tensor.
  void Finish() {
    if (std::exchange(in_metadata_, false)) return;
    if (header_.extents.size() == kMaxTensors) {
      Fail(fmt::format("it names more than {} tensors", kMaxTensors));
    }
    header_.extents.push_back(ExtentOf(name_, std::exchange(tensor_, {}), kind_, source_));
  }

  TensorFileKind kind_;
  std::string_view source_;
  SafeTensorsHeader header_;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool has_metadata_ = false;
  std::string name_;  // of the tensor
  std::string key_;   // the last one, at any depth
  Description tensor_;
  NumberList* list_ = nullptr;  // the one that is being read
};

void CheckNames(const std::vector<TensorExtent>& extents, TensorFileKind kind,
                std::string_view source) {
  std::vector<std::string_view> names;
  names.reserve(extents.size());
  for (const TensorExtent& extent : extents) names.push_back(extent.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    ThrowDamagedTensors(kind, source, fmt::format("its header names '{}' twice", *twice));
  }
}

void CheckExtents(const std::vector<TensorExtent>& extents, std::int64_t data_bytes,
                  TensorFileKind kind, std::string_view source) {
  std::int64_t at = 0;
  for (const TensorExtent& extent : extents) {
    if (extent.begin != at) {
      ThrowDamagedTensors(kind, source,
                          fmt::format("tensor '{}' begins at byte {} instead of {}", extent.name,
                                      extent.begin, at));
    }
    at = extent.end;
  }
  if (at > data_bytes) {
    ThrowDamagedTensors(
        kind, source,
        fmt::format("it is cut off: {} bytes of numbers are due and {} there", at, data_bytes));
  }
  if (at < data_bytes) {
    ThrowDamagedTensors(kind, source,
                        fmt::format("{} bytes follow its last tensor", data_bytes - at));
  }
}

}  // namespace

SafeTensorsHeader ParseSafeTensorsHeader(std::string_view text, std::int64_t data_bytes,
                                         TensorFileKind kind, std::string_view source) {
  HeaderReader reader(kind, source);
  Json::sax_parse(text.begin(), text.end(), &reader);
  SafeTensorsHeader header = std::move(reader).Take();
  CheckNames(header.extents, kind, source);
  std::ranges::sort(header.extents, {}, [](const TensorExtent& extent) {
    return std::tuple(extent.begin, extent.end, std::string_view(extent.name));
  });
  CheckExtents(header.extents, data_bytes, kind, source);
  return header;
}

void ThrowDamagedTensors(TensorFileKind kind, std::string_view source, std::string_view what) {
  if (kind == TensorFileKind::kCheckpoint) {
    throw UserError(fmt::format("{} is not a checkpoint that can be read: {}", source, what));
  }
  throw UserError(
      fmt::format("{} is not a model file that can be read: {}; copy it again from where it was "
                  "written, or train a new one",
                  source, what));
}

}  // namespace hogbatch
