// Numbers of a model's metadata, which may hold anything.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hogbatch {

using MetadataJson = nlohmann::ordered_json;

// UserError with the sentence `what` unless it holds.
void Require(bool holds, const std::string& what);

std::int64_t Integer(const MetadataJson& value, std::int64_t min, std::string_view what);
// Finite, and at most `largest` in size.
double Real(const MetadataJson& value, double largest, std::string_view what);
float Float(const MetadataJson& value, std::string_view what);

}  // namespace hogbatch
