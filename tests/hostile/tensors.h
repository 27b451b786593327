// Model files written by hand, right or wrong.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace hogbatch {

using Json = nlohmann::ordered_json;

// A safetensors file of any header.
inline std::string TensorFile(const std::string& header, const std::string& numbers = "") {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + numbers;
}

// A model that predicts a number from `hidden` layers of width 1, all of whose weights are 0.
// Members may be changed before it is written.
struct HandMadeModel {
  explicit HandMadeModel(int hidden = 0) {
    for (int i = 0; i <= hidden; ++i) {
      Add(fmt::format("layers.{}.weight", i), Json::array({1, 1}));
      Add(fmt::format("layers.{}.bias", i), Json::array({1}));
    }
    network["hidden"] = std::vector<int>(static_cast<std::size_t>(hidden), 1);
  }
  void Add(const std::string& name, const Json& shape) {
    tensors[name] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {numbers.size(), numbers.size() + 4}}};
    numbers += std::string(4, '\0');
  }
  std::string Text() const {
    Json header = tensors;
    header["__metadata__"] = metadata;
    header["__metadata__"].emplace("network", network.dump());
    header["__metadata__"].emplace("schema", schema.dump());
    return TensorFile(header.dump(), numbers);
  }

  Json tensors = Json::object();
  std::string numbers;
  Json metadata = {{"format", "hogbatch"}, {"version", "1"}};
  Json network = {{"inputs", 1},          {"hidden", Json::array()}, {"outputs", 1},
                  {"activation", "relu"}, {"loss", "squared"},       {"sparse_input", false}};
  Json schema = {{"format", "libsvm"},
                 {"file_columns", 1},
                 {"features", 1},
                 {"used_columns", Json::array()},
                 {"categorical", Json::array()},
                 {"label_column", ""},
                 {"scaling", "none"},
                 {"shift", Json::array()},
                 {"scale", Json::array()},
                 {"label_kind", "value"},
                 {"label_names", Json::array()},
                 {"positive", ""},
                 {"target_mean", 0},
                 {"target_deviation", 1}};
};

}  // namespace hogbatch
