#include "compare/comparison.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "compare/phases/phases.h"
#include "core/error.h"
#include "core/guard/folder.h"
#include "core/guard/small_file.h"
#include "core/replaced_file.h"
#include "core/text.h"

namespace hogbatch::compare {
namespace {

namespace fs = std::filesystem;

constexpr double kExportSeconds = 3600;

template <typename T>
T Uninterrupted(std::optional<T> value) {
  if (!value) throw ComparisonInterrupted();
  return *std::move(value);
}

OptionTexts SpecTexts(CompareSpec spec) {
  return TextsOf([&](OptionVisitor& visitor) { spec.Visit(visitor); });
}

OptionTexts SpecIdentity(const CompareSpec& spec) {
  OptionTexts identity = IdentityOf(SpecTexts(spec), {spec.training.data, spec.training.test});
  identity.insert(identity.begin(), {"the data", spec.training.data});
  return identity;
}

std::string CommandOf(const CompareSpec& spec) {
  std::vector<std::string> words = {"hogbatch", "compare"};
  if (!spec.training.data.empty()) words.push_back(spec.training.data);
  for (std::string& word : ArgumentsFor(SpecTexts(spec), SpecTexts(CompareSpec()))) {
    words.push_back(std::move(word));
  }
  return CommandLine(words);
}

std::vector<std::string> ExportCommand(const CompareSpec& spec, const Programs& programs,
                                       const std::string& folder) {
  const auto texts = [](TrainingSpec training) {
    return TextsOf([&](OptionVisitor& visitor) { training.VisitProblem(visitor); });
  };
  std::vector<std::string> words = {programs.self, "export"};
  if (!spec.training.data.empty()) words.push_back(spec.training.data);
  for (std::string& word : ArgumentsFor(texts(spec.training), texts(TrainingSpec()))) {
    words.push_back(std::move(word));
  }
  std::vector<std::int64_t> seeds;
  for (std::int64_t seed = 1; seed <= spec.seeds; ++seed) seeds.push_back(seed);
  words.insert(words.end(), {"--init-seeds", Join(seeds), "--out", folder});
  return words;
}

// Its sentence without the name of the program.
std::string SentenceOf(const std::string& err) {
  const std::string line = LastLines(err, 1);
  constexpr std::string_view kName = "hogbatch: ";
  return line.starts_with(kName) ? line.substr(kName.size()) : line;
}

// Once a comparison. export.json is written last, so it tells whether the export is whole.
void ExportOnce(const CompareSpec& spec, const Programs& programs, const std::string& folder,
                const Interrupted& interrupted) {
  std::error_code error;
  if (fs::is_regular_file(folder + "/export.json", error)) return;
  MakeFolder(folder);
  const ChildCommand command{.words = ExportCommand(spec, programs, folder),
                             .out = folder + "/stdout",
                             .err = folder + "/stderr",
                             .limit_seconds = kExportSeconds};
  const ChildResult result = Uninterrupted(RunChild(command, interrupted));
  if (result.exit_code == 0) return;
  const std::string sentence = SentenceOf(command.err);
  if (result.exit_code == 2) throw UserError(sentence);
  throw Error(fmt::format("the data could not be exported: {}", sentence));
}

Problem ReadProblem(const std::string& folder, const CompareSpec& spec) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const std::string path = folder + "/export.json";
  Problem problem = ParseProblem(ReadSmallFile(path, kMostBytes).value_or(""), path);
  problem.optimizer = spec.training.optimizer.optimizer;
  return problem;
}

void CheckThatItCanLearn(const Problem& problem) {
  if (problem.train_rows > 0) return;
  throw UserError("the data has no rows to train on");
}

void RunPhases(Comparison& comparison, CompareObserver& observer, const Interrupted& interrupted) {
  const auto save = [&] {
    ReplaceFile(comparison.setting.out + "/compare.json", CompareJson(comparison));
  };
  RunSchedule schedule(comparison.setting, comparison.sides, comparison.log, observer, interrupted,
                       save);
  MeasureThroughput(schedule, comparison.plan);
  if (comparison.plan.trains) {
    Tune(schedule, comparison.plan);
    Race(schedule, comparison.plan);
    DrawCurves(schedule, comparison.plan);
  }
  comparison.complete = true;
}

std::string SidesText(const std::vector<Side>& sides) {
  std::string text;
  for (const Side& side : sides) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", side.name, side.version);
  }
  return text;
}

void SetUp(Comparison& comparison, const CompareSpec& spec, const std::string& out,
           CompareObserver& observer, const Interrupted& interrupted) {
  const Programs programs = FindPrograms();
  observer.OnActivity("exporting the data");
  ExportOnce(spec, programs, out + "/export", interrupted);
  const Problem problem = ReadProblem(out + "/export", spec);
  CheckThatItCanLearn(problem);
  observer.OnActivity("looking for devices and frameworks");
  comparison.machine = Uninterrupted(AskMachine(programs, out + "/export", interrupted));
  comparison.setting = MakeSetting(spec, programs, problem, comparison.machine.cores);
  const bool all_devices = spec.threads == 0 && spec.devices == "auto";
  comparison.sides = OwnSides(all_devices ? comparison.machine.gpus : Gpus::kNone);
  Contestants others = Uninterrupted(FindBaselines(WantedBaselines(spec.against), programs, problem,
                                                   out + "/export", interrupted));
  for (const Absent& absent : others.absent) observer.OnAbsent(absent);
  comparison.absent = std::move(others.absent);
  for (Side& side : others.sides) comparison.sides.push_back(std::move(side));
  // With other frameworks the target, and so the race, would be another one.
  comparison.identity.emplace_back("the list of sides", SidesText(comparison.sides));
  comparison.log = LoadRuns(out, comparison.identity);
  observer.OnActivity("");
}

}  // namespace

Comparison Compare(const CompareSpec& spec, CompareObserver& observer,
                   const Interrupted& interrupted) {
  const std::string out = fs::absolute(CompareFolder(spec)).lexically_normal().string();
  Comparison comparison{.plan = PlanOf(spec),
                        .identity = SpecIdentity(spec),
                        .command = CommandOf(spec),
                        .setting = {},
                        .machine = {},
                        .sides = {},
                        .absent = {},
                        .log = {},
                        .findings = {}};
  LoadRuns(out, comparison.identity);  // a foreign folder is refused before anything is done
  MakeFolder(out, NamedBy::kUser);
  try {
    SetUp(comparison, spec, out, observer, interrupted);
    RunPhases(comparison, observer, interrupted);
  } catch (const ComparisonInterrupted&) {
    comparison.complete = false;
  }
  if (comparison.sides.empty()) return comparison;
  comparison.findings =
      FindingsOf(comparison.log, {.sides = comparison.sides,
                                  .batches = comparison.plan.batches,
                                  .threads = comparison.setting.threads,
                                  .train_rows = comparison.setting.problem.train_rows,
                                  .target_loss = comparison.plan.target_loss});
  return comparison;
}

}  // namespace hogbatch::compare
