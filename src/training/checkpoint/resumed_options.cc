#include "training/checkpoint/resumed_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "core/option_values.h"
#include "training/checkpoint/spec_text.h"

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
    if (std::ranges::find(kMayChange, name) != kMayChange.end()) {
      SetOption(spec, name, wanted);
    } else if (wanted != had) {
      throw UserError(fmt::format(
          "--{} {}: the run in {} has {}, and a resumed run keeps it; only --{} may change", name,
          wanted, folder, had.empty() ? "none" : had, fmt::join(kMayChange, ", --")));
    }
  }
  if (!asked.data.empty()) spec.data = asked.data;  // its rows are compared later
  return spec;
}

}  // namespace hogbatch
