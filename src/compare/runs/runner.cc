#include "compare/runs/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "algorithms/algorithms.h"
#include "compare/runs/option_texts.h"
#include "compare/runs/run_files.h"
#include "core/error.h"
#include "core/guard/folder.h"
#include "core/guard/json_text.h"
#include "core/replaced_file.h"
#include "training/model/model_file.h"

namespace hogbatch::compare {
namespace {

namespace fs = std::filesystem;

constexpr int kNotInstalled = 3;  // exit codes of a baseline
constexpr int kNotPossible = 4;
constexpr double kNever = 1e6;  // epochs, or seconds
constexpr int kTailLines = 12;

// A model to start from has settled how the file is read.
bool SettledByModel(const std::string& option) {
  return option == "init" || option == "label" || option == "positive" || option == "scale";
}

std::vector<std::string> TrainWords(const CompareSpec& spec) {
  const auto texts = [](TrainingSpec training) {
    OptionTexts found = TextsOf([&](OptionVisitor& visitor) {
      training.VisitProblem(visitor);
      training.optimizer.Visit(visitor);
    });
    std::erase_if(found, [](const auto& option) { return SettledByModel(option.first); });
    return found;
  };
  return ArgumentsFor(texts(spec.training), texts(TrainingSpec()));
}

std::string InitialWeights(const Setting& setting, const RunPlan& plan) {
  return fmt::format("{}/initial-{}.safetensors", setting.export_folder, plan.seed);
}

// Rows of a worker so that an update has `batch` rows.
std::int64_t RowsPerWorker(const Setting& setting, const Side& side, std::int64_t batch) {
  if (side.updates == Updates::kAsynchronous) return batch;
  return std::max<std::int64_t>(1, batch / setting.threads);
}

void AddLearning(std::vector<std::string>& words, const Setting& setting, const Side& side,
                 const RunPlan& plan) {
  const auto add = [&](const char* name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  const std::string rows = fmt::format("{}", RowsPerWorker(setting, side, plan.batch));
  add("--lr", fmt::format("{:g}", plan.lr));
  add("--lr-schedule", "constant");
  if (FindAlgorithm(plan.variant).traits.adapts_batch_size) {
    add("--lr-batch", rows);  // batch sizes are its own business; the rate follows them
  } else {
    add("--cpu-batch", rows);
    add("--lr-scaling", "none");
  }
}

Outcome OutcomeOf(const ChildResult& result, const RunFiles& files) {
  if (result.timed_out) return Outcome::kTimedOut;
  if (result.exit_code == kNotInstalled || result.exit_code == kNotPossible) {
    return Outcome::kImpossible;
  }
  if (files.has_summary && files.stopped_because == "diverged") return Outcome::kDiverged;
  if (result.exit_code != 0 || !files.has_summary) return Outcome::kFailed;
  return files.finite ? Outcome::kDone : Outcome::kDiverged;
}

std::string MessageOf(Outcome outcome, const ChildResult& result, const RunFiles& files,
                      const std::string& folder, double limit) {
  if (outcome == Outcome::kDone) return "";
  if (outcome == Outcome::kDiverged) return "the loss is no longer finite";
  std::string tail = LastLines(folder + "/stderr", kTailLines);
  if (outcome == Outcome::kTimedOut) {
    return fmt::format("ended after {:g} seconds (--max-run)\n{}", limit, tail);
  }
  if (!tail.empty()) return tail;
  if (result.signal != 0) return fmt::format("ended by signal {}", result.signal);
  if (!files.has_summary) return "it wrote no summary.json";
  return fmt::format("exit code {}", result.exit_code);
}

void PrepareFolder(const std::string& folder) {
  std::error_code error;
  MakeFolder(fs::path(folder).parent_path());
  fs::remove_all(folder, error);
  MakeFolder(folder);
}

}  // namespace

Setting MakeSetting(const CompareSpec& spec, const Programs& programs, const Problem& problem,
                    std::int64_t cores) {
  const std::string out = fs::absolute(CompareFolder(spec)).lexically_normal().string();
  const bool threads_chosen = spec.threads > 0;
  const bool cpu_only = threads_chosen || spec.devices.starts_with("cpu");
  return {.programs = programs,
          .out = out,
          .export_folder = out + "/export",
          .data = spec.training.data,
          .train_words = TrainWords(spec),
          .problem = problem,
          .momentum = spec.training.optimizer.momentum,
          .threads = threads_chosen ? spec.threads : cores,
          .devices = threads_chosen ? fmt::format("cpu:{}", spec.threads) : spec.devices,
          .baseline_device = cpu_only ? "cpu" : "auto",
          .max_run_seconds = PlanOf(spec).max_run_seconds};
}

std::string RunFolder(const Setting& setting, const RunPlan& plan) {
  return fmt::format("{}/runs/{}", setting.out, plan.key());
}

std::vector<std::string> CommandFor(const Setting& setting, const Side& side, const RunPlan& plan) {
  const std::string folder = RunFolder(setting, plan);
  if (!IsOwn(side)) return {setting.programs.python, side.script, folder + "/run.json"};
  std::vector<std::string> words = {setting.programs.self, "train"};
  if (!setting.data.empty()) words.push_back(setting.data);
  words.insert(words.end(), setting.train_words.begin(), setting.train_words.end());
  const auto add = [&](const char* name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  add("--init", InitialWeights(setting, plan));
  add("--algorithm", plan.variant);
  add("--devices", setting.devices);
  AddLearning(words, setting, side, plan);
  add("--epochs", fmt::format("{:g}", plan.epochs > 0 ? plan.epochs : kNever));
  add("--max-time", fmt::format("{:g}", plan.seconds + plan.extra_seconds));
  add("--eval-every", fmt::format("{:g}", plan.eval_every > 0 ? plan.eval_every : kNever));
  // Reports between evaluations show how fast training is without them.
  add("--report-every", fmt::format("{:g}", std::max(0.01, plan.seconds / 10)));
  if (plan.stop) add("--target-loss", fmt::format("{:g}", *plan.stop));
  add("--out", folder);
  words.emplace_back("--no-cache");  // start-up is measured, too
  words.emplace_back("--quiet");
  return words;
}

std::string RunRequest(const Setting& setting, const RunPlan& plan) {
  nlohmann::ordered_json request = {
      {"format", 1},
      {"export", setting.export_folder},
      {"initial", InitialWeights(setting, plan)},
      {"out", RunFolder(setting, plan)},
      {"variant", plan.variant},
      {"batch", plan.batch},
      {"lr", plan.lr},
      {"optimizer", setting.problem.optimizer},
      {"momentum", setting.momentum},
      {"threads", setting.threads},
      {"device", setting.baseline_device},
      {"epochs", plan.epochs > 0 ? plan.epochs : kNever},
      {"max_seconds", plan.seconds},
      {"target_loss", nullptr},
      {"target_on", setting.problem.valid_rows > 0 ? "valid" : "train"},
      {"eval_every", nullptr},
      {"seed", plan.seed}};
  if (plan.stop) request["target_loss"] = *plan.stop;
  if (plan.eval_every > 0) request["eval_every"] = plan.eval_every;
  return JsonText(request, 2) + "\n";
}

std::optional<RunRecord> Perform(const Setting& setting, const Side& side, const RunPlan& plan,
                                 const Interrupted& interrupted) {
  const std::string folder = RunFolder(setting, plan);
  PrepareFolder(folder);
  if (!IsOwn(side)) ReplaceFile(folder + "/run.json", RunRequest(setting, plan));
  const ChildCommand command{.words = CommandFor(setting, side, plan),
                             .out = folder + "/stdout",
                             .err = folder + "/stderr",
                             .limit_seconds = setting.max_run_seconds};
  const auto result = RunChild(command, interrupted);
  if (!result) return std::nullopt;
  const RunFiles files = ReadRunFiles(
      folder, {.valid_rows = setting.problem.valid_rows, .test_rows = setting.problem.test_rows});
  const Outcome outcome = OutcomeOf(*result, files);
  std::error_code ignored;  // models are not needed, and many of them fill a disk
  fs::remove(ModelPath(folder), ignored);
  return RunRecord{.plan = plan,
                   .outcome = outcome,
                   .message = MessageOf(outcome, *result, files, folder, setting.max_run_seconds),
                   .wall_seconds = result->wall_seconds,
                   .cpu_seconds = std::max(result->cpu_seconds, files.cpu_seconds),
                   .others_cpu = result->others_cpu,
                   .peak_bytes = std::max(result->peak_bytes, files.peak_bytes),
                   .seconds = files.seconds,
                   .train_seconds = files.train_seconds,
                   .examples_per_second = files.examples_per_second,
                   .metric = files.metric,
                   .curve = files.curve,
                   .command = CommandLine(command.words)};
}

}  // namespace hogbatch::compare
