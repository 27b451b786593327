#include "training/checkpoint/spec_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/option_values.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

// Texts that are not given are left out.
Json ToJson(TrainingSpec spec) {
  Json object = Json::object();
  if (!spec.data.empty()) object[kDataKey] = spec.data;
  for (const auto& [name, text] : TextsOf([&](OptionVisitor& all) { spec.Visit(all); })) {
    if (!text.empty()) object[name] = text;
  }
  return object;
}

}  // namespace

std::string SpecToJson(const TrainingSpec& spec) { return JsonText(ToJson(spec)); }

TrainingSpec SpecFromJson(std::string_view text, std::string_view source) {
  const auto object = ParseJson<Json>(text);
  if (!object.is_object()) throw UserError(fmt::format("{} is damaged: it has no options", source));
  TrainingSpec spec;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) {
      throw UserError(fmt::format("{} is damaged: its option {} is not a string", source, name));
    }
    if (name == kDataKey) {
      spec.data = value.get<std::string>();
    } else {
      SetOption(spec, name, value.get<std::string>());
    }
  }
  return spec;
}

}  // namespace hogbatch
