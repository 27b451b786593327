#include "compare/runs/contestants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/algorithms.h"
#include "core/error.h"
#include "core/guard/json_text.h"

namespace hogbatch::compare {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Baseline {
  std::string_view name;
  std::string_view script;
};
constexpr std::array kBaselines = {
    Baseline{"tensorflow", "tensorflow_mlp.py"},
    Baseline{"pytorch", "pytorch_mlp.py"},
    Baseline{"keras", "keras_fit.py"},
    Baseline{"sklearn", "sklearn_mlp.py"},
};
constexpr double kListSeconds = 120;
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;
constexpr std::string_view kAsynchronous = "hogwild";  // the variant that is a side of its own

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string FindScripts(const fs::path& program) {
  if (std::string chosen = FromEnvironment("HOGBATCH_BASELINES"); !chosen.empty()) return chosen;
  std::error_code ignored;
  const fs::path installed = program.parent_path().parent_path() / "share/hogbatch/baselines";
  if (fs::is_directory(installed, ignored)) return installed.string();
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    const fs::path scripts = folder / "bench/baselines";
    if (fs::is_directory(scripts, ignored)) return scripts.string();
  }
  return "";
}

std::string FindPython(const std::string& scripts) {
  if (std::string chosen = FromEnvironment("HOGBATCH_PYTHON"); !chosen.empty()) return chosen;
  std::error_code ignored;
  std::vector<fs::path> places;
  if (!scripts.empty()) {
    places.push_back(fs::path(scripts).parent_path().parent_path() / ".baselines/bin/python");
  }
  if (const std::string home = FromEnvironment("HOME"); !home.empty()) {
    places.push_back(fs::path(home) / ".local/share/hogbatch/baselines/bin/python");
  }
  for (const fs::path& place : places) {
    if (fs::exists(place, ignored)) return place.string();
  }
  return "python3";
}

bool Holds(const Json& variant, const char* key, const std::string& word) {
  const auto list = variant.find(key);
  if (list == variant.end() || !list->is_array()) return true;
  return std::ranges::find(*list, Json(word)) != list->end();
}

std::string TextAt(const Json& object, const char* key) {
  const auto value = object.find(key);
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}

std::string InstallAdvice(const Json& listing) {
  const std::string install = TextAt(listing, "install");
  return install.empty() ? "not installed"
                         : fmt::format("not installed; install it with: {}", install);
}

std::vector<std::string> UsableVariants(const Json& listing, const Problem& problem) {
  std::vector<std::string> usable;
  const auto variants = listing.find("variants");
  if (variants == listing.end() || !variants->is_array()) return usable;
  for (const Json& variant : *variants) {
    if (!variant.is_object()) continue;
    if (Holds(variant, "for", problem.is_sparse ? "sparse" : "dense") &&
        Holds(variant, "losses", problem.loss) && Holds(variant, "optimizers", problem.optimizer)) {
      usable.push_back(TextAt(variant, "name"));
    }
  }
  return usable;
}

// Numbers of rows, columns and units.
std::int64_t CountFrom(const Json& value) {
  const bool is_count = value.is_number_unsigned() && value.get<std::uint64_t>() <= kMostCount;
  if (!is_count) throw UserError("not a count");
  return value.get<std::int64_t>();
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Add(Contestants& all, Contestants more) {
  std::ranges::move(more.sides, std::back_inserter(all.sides));
  std::ranges::move(more.absent, std::back_inserter(all.absent));
}

}  // namespace

std::vector<std::string> KnownBaselines() {
  std::vector<std::string> names;
  for (const Baseline& baseline : kBaselines) names.emplace_back(baseline.name);
  return names;
}

std::string BaselineNames() { return fmt::format("{}", fmt::join(KnownBaselines(), ", ")); }

Programs FindPrograms() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error("cannot find this program: /proc is not mounted");
  const std::string scripts = FindScripts(self);
  return {.self = self.string(), .baselines = scripts, .python = FindPython(scripts)};
}

std::vector<Side> OwnSides(Gpus gpus) {
  const auto own = [](const AlgorithmInfo& algorithm) {
    const bool is_reference = algorithm.traits.default_for == DefaultFor::kOneKind;
    return Side{
        .name = is_reference ? kReference : fmt::format("hogbatch {}", algorithm.name),
        .framework = "hogbatch",
        .script = {},
        .version = HOGBATCH_VERSION,
        .updates = algorithm.traits.synchronous ? Updates::kSynchronous : Updates::kAsynchronous,
        .variants = {std::string(algorithm.name)}};
  };
  std::vector<Side> sides = {own(DefaultAlgorithm(DefaultFor::kOneKind))};
  for (const AlgorithmInfo& algorithm : Algorithms()) {
    if (algorithm.traits.synchronous) sides.push_back(own(algorithm));
  }
  if (gpus == Gpus::kSome) sides.push_back(own(DefaultAlgorithm(DefaultFor::kSeveralKinds)));
  return sides;
}

Problem ParseProblem(std::string_view export_json, const std::string& path) {
  const auto json = ParseJson<Json>(export_json);
  try {
    const Json& rows = json.at("rows");
    Problem problem{.train_rows = CountFrom(rows.at("train")),
                    .valid_rows = CountFrom(rows.at("valid")),
                    .test_rows = CountFrom(rows.at("test")),
                    .features = CountFrom(json.at("features")),
                    .outputs = CountFrom(json.at("outputs")),
                    .is_sparse = json.at("sparse"),
                    .source = json.at("source"),
                    .loss = json.at("loss"),
                    .optimizer = {},
                    .network = {}};
    problem.network = fmt::format("{}", problem.features);
    for (const Json& width : json.at("hidden")) {
      problem.network += fmt::format(" -> {}", CountFrom(width));
    }
    problem.network += fmt::format(" -> {}, {}", problem.outputs,
                                   json.at("activation").get_ref<const std::string&>());
    return problem;
  } catch (const std::exception&) {  // a value that is missing, or of a wrong type
    throw UserError(fmt::format("{} is damaged; remove its folder and try again", path));
  }
}

Contestants SidesOf(std::string_view name, const std::string& script, std::string_view listing,
                    const Problem& problem) {
  const auto absent = [&](std::string why) {
    return Contestants{.sides = {}, .absent = {{std::string(name), std::move(why)}}};
  };
  const auto json = ParseJson<Json>(listing);
  if (!json.is_object()) return absent(fmt::format("{} --list printed no JSON", script));
  if (json.value("available", Json()) != Json(true)) return absent(InstallAdvice(json));
  std::vector<std::string> variants = UsableVariants(json, problem);
  if (variants.empty()) {
    return absent(fmt::format("cannot train on {} rows with {} loss and {}",
                              problem.is_sparse ? "sparse" : "dense", problem.loss,
                              problem.optimizer));
  }
  Side side{.name = std::string(name),
            .framework = std::string(name),
            .script = script,
            .version = TextAt(json, "version"),
            .updates = Updates::kSynchronous,
            .variants = {}};
  Contestants found;
  if (std::erase(variants, kAsynchronous) > 0) {
    Side asynchronous = side;
    asynchronous.name += fmt::format(" {}", kAsynchronous);
    asynchronous.updates = Updates::kAsynchronous;
    asynchronous.variants = {std::string(kAsynchronous)};
    found.sides.push_back(asynchronous);
  }
  side.variants = variants;
  if (!variants.empty()) found.sides.insert(found.sides.begin(), side);
  return found;
}

std::optional<Contestants> FindBaselines(const std::vector<std::string>& wanted,
                                         const Programs& programs, const Problem& problem,
                                         const std::string& scratch,
                                         const Interrupted& interrupted) {
  Contestants found;
  for (const Baseline& baseline : kBaselines) {
    const std::string name(baseline.name);
    if (std::ranges::find(wanted, name) == wanted.end()) continue;
    const std::string script = fmt::format("{}/{}", programs.baselines, baseline.script);
    if (programs.baselines.empty() || !fs::exists(script)) {
      found.absent.push_back(
          {name, fmt::format("its script {} was not found; set HOGBATCH_BASELINES to its folder",
                             baseline.script)});
      continue;
    }
    const ChildCommand command{.words = {programs.python, script, "--list"},
                               .out = fmt::format("{}/{}.list", scratch, name),
                               .err = fmt::format("{}/{}.err", scratch, name),
                               .limit_seconds = kListSeconds};
    try {
      const auto result = RunChild(command, interrupted);
      if (!result) return std::nullopt;
      if (result->exit_code == 0) {
        Add(found, SidesOf(name, script, ReadText(command.out), problem));
      } else {
        found.absent.push_back(
            {name, fmt::format("{} --list failed: {}", script, LastLines(command.err, 3))});
      }
    } catch (const Error& error) {
      found.absent.push_back(
          {name, fmt::format("{}; install Python 3, or set HOGBATCH_PYTHON", error.what())});
    }
  }
  return found;
}

}  // namespace hogbatch::compare
