#include "training/checkpoint/resumed_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "core/option_values.h"
#include "training/checkpoint/kept_paths.h"
#include "training/checkpoint/spec_text.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

// How long a run lasts and what it runs on. Another network, other data or another optimiser would
// be another run.
constexpr std::array<std::string_view, 8> kMayChange = {"epochs",       "max-time", "target-loss",
                                                        "patience",     "devices",  "report-every",
                                                        "memory-limit", "no-cache"};

}  // namespace

TrainingSpec ResumedSpec(const TrainingSpec& asked, std::span<const std::string> given,
                         const Checkpoint& checkpoint, const std::string& folder) {
  TrainingSpec spec = SpecFromJson(checkpoint.texts.options, folder);
  for (const std::string& name : given) {
    const std::string wanted = OptionText(asked, name);
    if (wanted.empty()) continue;  // no option of the training
    const std::string had = OptionText(spec, name);
    if (std::ranges::find(kMayChange, name) == kMayChange.end() && !MayReplace(name, wanted, had)) {
      throw UserError(fmt::format(
          "--{} {}: the run in {} has {}, and a resumed run keeps it; only --{} may change", name,
          wanted, folder, had.empty() ? "none" : had, fmt::join(kMayChange, ", --")));
    }
    SetOption(spec, name, wanted);
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
