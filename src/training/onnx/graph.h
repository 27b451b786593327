// The graph of an ONNX file, put together node by node.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hogbatch::onnx {

enum class Type : std::uint8_t { kFloat = 1, kInt64 = 7, kString = 8, kDouble = 11 };

// The bytes of an AttributeProto.
std::string Attribute(std::string_view name, std::int64_t value);
std::string Attribute(std::string_view name, float value);
std::string Attribute(std::string_view name, std::string_view value);
std::string Attribute(std::string_view name, const std::vector<std::int64_t>& values);
std::string Attribute(std::string_view name, const std::vector<std::string>& values);
std::string Attribute(std::string_view name, const std::vector<float>& values);

class Graph {
 public:
  using Names = std::vector<std::string>;

  // A matrix of `columns` columns and any number of rows.
  void AddInput(const std::string& name, Type type, std::int64_t columns);
  void AddOutput(const std::string& name, Type type, const std::vector<std::string>& shape);

  // Constants; they return their names.
  std::string Floats(std::span<const float> values, const std::vector<std::int64_t>& shape);
  std::string Doubles(std::span<const double> values, const std::vector<std::int64_t>& shape);
  std::string Integers(std::span<const std::int64_t> values,
                       const std::vector<std::int64_t>& shape);
  std::string Float(float value) { return Floats(std::span(&value, 1), {1}); }

  // A node with one output, whose name it returns; of the domain ai.onnx.ml if `ml`.
  std::string Add(std::string_view op, const Names& inputs, const Names& attributes = {},
                  bool ml = false);
  // The same with an output of this name.
  void AddNamed(const std::string& output, std::string_view op, const Names& inputs,
                const Names& attributes = {}, bool ml = false);

  // The whole file, with texts that tell users what is what.
  std::string File(const std::vector<std::pair<std::string, std::string>>& metadata) const;

 private:
  std::string AddConstant(Type type, std::string_view raw, const std::vector<std::int64_t>& shape);
  std::string NewName() { return "t" + std::to_string(next_++); }

  std::string nodes_, constants_, inputs_, outputs_;  // bytes of the fields of a GraphProto
  std::int64_t next_ = 0;
};

}  // namespace hogbatch::onnx
