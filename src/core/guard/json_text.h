// JSON text of files, which may hold anything.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

namespace hogbatch {

inline constexpr int kMaxJsonDepth = 32;  // no file of hogbatch comes near it

// Whether arrays and objects lie more than `depth` deep. Reads the text once and keeps nothing,
// where a parser would keep every level.
bool IsNestedDeeper(std::string_view json, int depth);

// Whether objects have so many keys that nlohmann::ordered_json, which compares each with all keys
// before it, would take long: one object of about 4,300 keys, or many of more than 256. `json` must
// not be nested deeper than kMaxJsonDepth.
bool HasTooManyKeys(std::string_view json);

// The value of `text`, or a discarded one if that is no JSON, nested too deeply or has too many
// keys. `Json` is a type of nlohmann's.
template <typename Json>
Json ParseJson(std::string_view text) {
  if (IsNestedDeeper(text, kMaxJsonDepth) || HasTooManyKeys(text)) {
    return Json(Json::value_t::discarded);
  }
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// On one line, or indented. Paths and labels may hold any bytes; those that are no UTF-8 are
// replaced.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// A number that was not measured, or is not finite, has no key.
template <typename Json>
void PutNumber(Json& object, const std::string& key, double value) {
  if (std::isfinite(value)) object[key] = value;
}

}  // namespace hogbatch
