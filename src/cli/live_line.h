// Progress in words: numbers short enough to read at a glance, lines that fit the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nn/model_spec.h"
#include "runtime/progress.h"

namespace hogbatch {

// What turns sums into the user's quality: the loss names it, and errors scale with the label.
struct QualityScale {
  Loss loss = Loss::kSoftmax;
  double target_deviation = 1;
};

// Named as in metrics.jsonl without the split: "accuracy", "precision_at_1", "rmse".
struct Quality {
  std::string name;
  double value = 0;
};
std::vector<Quality> Qualities(const EvaluationSums& sums, const QualityScale& scale);
std::string Text(const Quality& quality);  // for reading: "precision@1 0.6524"

std::string ShortCount(double count);     // 950, 12.3k, 4.56M
std::string ShortTime(double seconds);    // 0.8s, 12s, 3m05s, 2h10m
std::string Grouped(std::int64_t count);  // 1,234,567

// As many of the fields, joined by two spaces, as `width` columns hold; the first is cut if it must
// be. ASCII fields only.
std::string FitFields(std::span<const std::string> fields, int width);

// The live line's fields, the most important first. `last` is the last finished evaluation.
std::vector<std::string> LiveFields(const Progress& progress, double epochs,
                                    const std::optional<Evaluation>& last,
                                    const QualityScale& scale);

// The permanent line of an evaluation.
std::string EvaluationLine(const Progress& progress, const QualityScale& scale);

// Columns of the terminal behind `descriptor`; 80 when it does not tell.
int TerminalWidth(int descriptor);
// Whether a line there can be rewritten in place.
bool IsLiveTerminal(int descriptor);

}  // namespace hogbatch
