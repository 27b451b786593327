#include "training/onnx/graph.h"

#include <cstddef>

#include "core/protobuf.h"

namespace hogbatch::onnx {
namespace {

using protobuf::Bytes;
using protobuf::Integer;

constexpr int kIrVersion = 8, kOpset = 15, kMlOpset = 2;
constexpr std::string_view kMlDomain = "ai.onnx.ml";

// Numbers of fields and types, as onnx.proto has them.
enum AttributeType {
  kFloatAttribute = 1,
  kIntAttribute = 2,
  kStringAttribute = 3,
  kFloatsAttribute = 6,
  kIntsAttribute = 7,
  kStringsAttribute = 8
};

std::string AttributeOf(std::string_view name, AttributeType type, const std::string& value) {
  return Bytes(1, name) + value + Integer(20, type);
}

// A dimension is a number, or the name of one that is open.
std::string Dimension(const std::string& size) {
  const bool is_number = size.find_first_not_of("0123456789") == std::string::npos;
  return Bytes(1, is_number ? Integer(1, std::stoll(size)) : Bytes(2, size));
}

std::string ValueInfo(const std::string& name, Type type, const std::vector<std::string>& shape) {
  std::string dimensions;
  for (const std::string& size : shape) dimensions += Dimension(size);
  const std::string tensor = Integer(1, static_cast<int>(type)) + Bytes(2, dimensions);
  return Bytes(1, name) + Bytes(2, Bytes(1, tensor));
}

template <typename T>
std::string_view RawBytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string Node(std::string_view op, const std::vector<std::string>& inputs,
                 const std::string& output, const std::vector<std::string>& attributes, bool ml) {
  std::string node;
  for (const std::string& input : inputs) node += Bytes(1, input);
  node += Bytes(2, output) + Bytes(4, op);
  for (const std::string& attribute : attributes) node += Bytes(5, attribute);
  if (ml) node += Bytes(7, kMlDomain);
  return node;
}

}  // namespace

std::string Attribute(std::string_view name, std::int64_t value) {
  return AttributeOf(name, kIntAttribute, Integer(3, value));
}
std::string Attribute(std::string_view name, float value) {
  return AttributeOf(name, kFloatAttribute, protobuf::Float(2, value));
}
std::string Attribute(std::string_view name, std::string_view value) {
  return AttributeOf(name, kStringAttribute, Bytes(4, value));
}
std::string Attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string fields;
  for (const std::int64_t value : values) fields += Integer(8, value);
  return AttributeOf(name, kIntsAttribute, fields);
}
std::string Attribute(std::string_view name, const std::vector<std::string>& values) {
  std::string fields;
  for (const std::string& value : values) fields += Bytes(9, value);
  return AttributeOf(name, kStringsAttribute, fields);
}
std::string Attribute(std::string_view name, const std::vector<float>& values) {
  std::string fields;
  for (const float value : values) fields += protobuf::Float(7, value);
  return AttributeOf(name, kFloatsAttribute, fields);
}

void Graph::AddInput(const std::string& name, Type type, std::int64_t columns) {
  inputs_ += Bytes(11, ValueInfo(name, type, {"rows", std::to_string(columns)}));
}

void Graph::AddOutput(const std::string& name, Type type, const std::vector<std::string>& shape) {
  outputs_ += Bytes(12, ValueInfo(name, type, shape));
}

std::string Graph::AddConstant(Type type, std::string_view raw,
                               const std::vector<std::int64_t>& shape) {
  const std::string name = NewName();
  std::string tensor;
  for (const std::int64_t size : shape) tensor += Integer(1, size);
  tensor += Integer(2, static_cast<int>(type)) + Bytes(8, name) + Bytes(9, raw);
  constants_ += Bytes(5, tensor);
  return name;
}

std::string Graph::Floats(std::span<const float> values, const std::vector<std::int64_t>& shape) {
  return AddConstant(Type::kFloat, RawBytes(values), shape);
}
std::string Graph::Doubles(std::span<const double> values, const std::vector<std::int64_t>& shape) {
  return AddConstant(Type::kDouble, RawBytes(values), shape);
}
std::string Graph::Integers(std::span<const std::int64_t> values,
                            const std::vector<std::int64_t>& shape) {
  return AddConstant(Type::kInt64, RawBytes(values), shape);
}

std::string Graph::Add(std::string_view op, const Names& inputs, const Names& attributes, bool ml) {
  std::string output = NewName();
  AddNamed(output, op, inputs, attributes, ml);
  return output;
}

void Graph::AddNamed(const std::string& output, std::string_view op, const Names& inputs,
                     const Names& attributes, bool ml) {
  nodes_ += Bytes(1, Node(op, inputs, output, attributes, ml));
}

std::string Graph::File(const std::vector<std::pair<std::string, std::string>>& metadata) const {
  const std::string graph = nodes_ + Bytes(2, "hogbatch") + constants_ + inputs_ + outputs_;
  std::string file = Integer(1, kIrVersion) + Bytes(2, "hogbatch") + Bytes(7, graph) +
                     Bytes(8, Bytes(1, "") + Integer(2, kOpset)) +
                     Bytes(8, Bytes(1, kMlDomain) + Integer(2, kMlOpset));
  for (const auto& [key, value] : metadata) {
    file += Bytes(14, Bytes(1, key) + Bytes(2, value));
  }
  return file;
}

}  // namespace hogbatch::onnx
