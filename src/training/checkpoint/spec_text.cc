#include "training/checkpoint/spec_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kData = "data";  // no option: the first argument

class TextWriter final : public OptionVisitor {
 public:
  explicit TextWriter(Json& object) : object_(object) {}
  void Group(std::string_view) override {}
  void Flag(std::string_view name, bool& value, std::string_view) override {
    Set(name, value ? "true" : "false");
  }
  void Number(std::string_view name, std::int64_t& value, Range, std::string_view) override {
    Set(name, fmt::format("{}", value));
  }
  void Number(std::string_view name, double& value, Range, std::string_view) override {
    Set(name, fmt::format("{}", value));  // shortest text that reads as the same number
  }
  void Numbers(std::string_view name, std::vector<std::int64_t>& value, Range,
               std::string_view) override {
    Set(name, Join(value));
  }
  void Word(std::string_view name, std::string& value, const Words&, std::string_view) override {
    Set(name, value);
  }
  void Text(std::string_view name, std::string& value, std::string_view,
            std::string_view) override {
    if (!value.empty()) Set(name, value);
  }

 private:
  void Set(std::string_view name, const std::string& text) { object_[std::string(name)] = text; }

  Json& object_;
};

Json TextsOf(TrainingSpec spec) {
  Json object;
  if (!spec.data.empty()) object[kData] = spec.data;
  TextWriter writer(object);
  spec.Visit(writer);
  return object;
}

}  // namespace

std::string SpecToJson(const TrainingSpec& spec) {
  return TextsOf(spec).dump(-1, ' ', false, Json::error_handler_t::replace);
}

TrainingSpec SpecFromJson(std::string_view text, std::string_view source) {
  const auto object = ParseJson<Json>(text);
  if (!object.is_object()) throw UserError(fmt::format("{} is damaged: it has no options", source));
  TrainingSpec spec;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) {
      throw UserError(fmt::format("{} is damaged: its option {} is no text", source, name));
    }
    if (name == kData) {
      spec.data = value.get<std::string>();
    } else {
      SetOption(spec, name, value.get<std::string>());
    }
  }
  return spec;
}

std::string OptionText(const TrainingSpec& spec, std::string_view name) {
  const Json texts = TextsOf(spec);
  const auto found = texts.find(std::string(name));
  return found == texts.end() ? "" : found->get<std::string>();
}

}  // namespace hogbatch
