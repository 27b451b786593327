#include "training/checkpoint/resumed_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "training/checkpoint/kept_paths.h"
#include "training/checkpoint/spec_text.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

// How long a run lasts, what it runs on, and what is shown and written beside the model. Another
// network, other data or another optimiser would be another run.
constexpr std::array<std::string_view, 14> kMayChange = {
    "epochs",       "max-time", "target-loss",      "patience", "devices", "report-every",
    "memory-limit", "no-cache", "checkpoint-every", "quiet",    "json",    "report",
    "tensorboard",  "trace"};

OptionTexts AllTexts(TrainingSpec spec) {
  return TextsOf([&](OptionVisitor& all) { spec.Visit(all); });
}

// Empty: it has none.
std::string TextOf(const OptionTexts& texts, std::string_view name) {
  const auto found = std::ranges::find(texts, name, &OptionTexts::value_type::first);
  return found == texts.end() ? "" : found->second;
}

}  // namespace

OptionTexts TakeChanges(std::span<const std::string> given, const OptionTexts& had,
                        const OptionTexts& asked, const ResumedKind& kind) {
  OptionTexts changes;
  for (const std::string& name : given) {
    const std::string wanted = TextOf(asked, name), before = TextOf(had, name);
    if (wanted.empty() || wanted == before) continue;  // or no option of the training
    if (std::ranges::find(kind.may_change, name) == kind.may_change.end() &&
        !MayReplace(name, wanted, before)) {
      throw UserError(fmt::format("--{} {}: the {} in {} has {}, and a resumed {} keeps it; {}",
                                  name, wanted, kind.name, kind.folder,
                                  before.empty() ? "none" : before, kind.name, kind.advice));
    }
    changes.emplace_back(name, wanted);
  }
  return changes;
}

TrainingSpec ResumedSpec(const TrainingSpec& asked, std::span<const std::string> given,
                         const Checkpoint& checkpoint, const std::string& folder) {
  TrainingSpec spec = SpecFromJson(checkpoint.texts.options, folder);
  const ResumedKind kind{
      .name = "run",
      .folder = folder,
      .may_change = kMayChange,
      .advice = fmt::format("only --{} may change", fmt::join(kMayChange, ", --"))};
  for (const auto& [name, text] : TakeChanges(given, AllTexts(spec), AllTexts(asked), kind)) {
    SetOption(spec, name, text);
  }
  if (!asked.data.empty()) spec.data = asked.data;  // its rows are compared later
  RefuseLostNames(spec, "train", folder);
  return spec;
}

std::optional<SavedModel> StartOf(const Checkpoint& checkpoint, const std::string& folder) {
  const CheckpointTexts& texts = checkpoint.texts;
  if (texts.network.empty()) return std::nullopt;
  try {
    return SavedModel{.spec = SpecFromJson(texts.network),
                      .schema = SchemaFromJson(texts.schema),
                      .parameters = checkpoint.weights};
  } catch (const UserError& error) {
    throw UserError(
        fmt::format("the checkpoint in {} is damaged: of the model that the run began "
                    "with, {}; begin a new run in another folder",
                    folder, error.what()));
  }
}

}  // namespace hogbatch
