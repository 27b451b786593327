// Progress as text: short numbers, lines that fit the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text.h"
#include "nn/metric_values.h"
#include "runtime/control/progress.h"

namespace hogbatch {

std::string Text(const Metric& quality);  // for reading: "precision@1 0.6524"

// As many of the fields, joined by two spaces, as `width` columns hold; the first is cut if it must
// be. ASCII fields only.
std::string FitFields(std::span<const std::string> fields, int width);

// The live line's fields, the most important first. `last` is the last finished evaluation.
std::vector<std::string> LiveFields(const Progress& progress, double epochs,
                                    const std::optional<Evaluation>& last,
                                    const MetricScale& scale);

// The permanent line of an evaluation.
std::string EvaluationLine(const Progress& progress, const MetricScale& scale);

// Columns of the terminal behind `descriptor`; 80 if unknown.
// A line of "name      text" broken at words for a terminal; what follows is indented like the
// text.
std::string WrapLine(std::string_view line, int width);

int TerminalWidth(int descriptor);
// Whether a line there can be rewritten in place.
bool IsLiveTerminal(int descriptor);

}  // namespace hogbatch
