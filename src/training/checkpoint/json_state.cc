#include "training/checkpoint/json_state.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/guard/json_text.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

class JsonWriter final : public StateVisitor {
 public:
  explicit JsonWriter(Json& root) : open_{&root} {}

  void Number(std::string_view name, std::int64_t& value) override { Put(name, value); }
  void Number(std::string_view name, double& value) override {
    if (std::isfinite(value)) return Put(name, value);
    Put(name, std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf"));
  }
  void Flag(std::string_view name, bool& value) override { Put(name, value); }
  void Text(std::string_view name, std::string& value) override { Put(name, value); }

  void Begin(std::string_view name) override { Open(name, Json::object()); }
  std::size_t BeginList(std::string_view name, std::size_t size) override {
    Open(name, Json::array());
    return size;
  }
  void End() override { open_.pop_back(); }

 private:
  template <typename T>
  void Put(std::string_view name, const T& value) {
    (*open_.back())[std::string(name)] = value;
  }
  void Open(std::string_view name, Json empty) {
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(empty));
      open_.push_back(&parent.back());
    } else {
      open_.push_back(&(parent[std::string(name)] = std::move(empty)));
    }
  }

  std::vector<Json*> open_;  // the innermost last; only the last one grows
};

class JsonReader final : public StateVisitor {
 public:
  JsonReader(const Json& root, std::string_view source) : source_(source), open_{{&root}} {}

  void Number(std::string_view name, std::int64_t& value) override {
    const Json& found = Find(name);
    if (!found.is_number_integer()) Fail(name);
    // No count of a run is larger, and sums of smaller ones do not overflow.
    constexpr auto kMax = std::int64_t{1} << 53;
    value = found.get<std::int64_t>();
    if (value < -kMax || value > kMax) Fail(name);
  }
  void Number(std::string_view name, double& value) override {
    const Json& found = Find(name);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (found.is_number()) {
      value = found.get<double>();
    } else if (found == "inf" || found == "-inf") {
      value = found == "inf" ? kInfinity : -kInfinity;
    } else {
      Fail(name);
    }
  }
  void Flag(std::string_view name, bool& value) override {
    const Json& found = Find(name);
    if (!found.is_boolean()) Fail(name);
    value = found.get<bool>();
  }
  void Text(std::string_view name, std::string& value) override {
    const Json& found = Find(name);
    if (!found.is_string()) Fail(name);
    value = found.get<std::string>();
  }

  void Begin(std::string_view name) override {
    const Json& found = Find(name);
    if (!found.is_object()) Fail(name);
    open_.push_back({&found});
  }
  std::size_t BeginList(std::string_view name, std::size_t) override {
    const Json& found = Find(name);
    if (!found.is_array()) Fail(name);
    open_.push_back({&found});
    return found.size();
  }
  void End() override { open_.pop_back(); }

 private:
  struct Open {
    const Json* json;
    std::size_t next = 0;  // of a list
  };

  const Json& Find(std::string_view name) {
    Open& open = open_.back();
    if (open.json->is_array()) {
      if (open.next >= open.json->size()) Fail(name);
      return (*open.json)[open.next++];
    }
    const auto found = open.json->find(std::string(name));
    if (found == open.json->end()) Fail(name);
    return *found;
  }
  [[noreturn]] void Fail(std::string_view name) const {
    throw UserError(fmt::format("{} is damaged: its state has no proper '{}'", source_, name));
  }

  std::string source_;
  std::vector<Open> open_;
};

}  // namespace

std::string StateToJson(const VisitStateCall& visit) {
  Json root = Json::object();
  JsonWriter writer(root);
  visit(writer);
  return JsonText(root);
}

void StateFromJson(std::string_view text, std::string_view source, const VisitStateCall& visit) {
  const auto root = ParseJson<Json>(text);
  if (!root.is_object())
    throw UserError(fmt::format("{} is damaged: its state is not valid JSON", source));
  JsonReader reader(root, source);
  visit(reader);
}

}  // namespace hogbatch
