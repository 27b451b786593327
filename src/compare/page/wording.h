// Findings in words, for the page and the terminal alike.
#pragma once

#include <optional>
#include <string>

#include "compare/comparison.h"

namespace hogbatch::compare {

std::string SecondsText(double seconds);  // "0.84 s", "12.3 s", "3m05s"
std::string BytesText(double bytes);      // "61 MB", "1.2 GB"
std::string RateText(double rate);        // "84,200"
std::string MetricText(double value);     // "0.9871"

// "1.9 s (1.8–2.1)"; the bounds are left out for a single value.
std::string SpreadText(const Spread& spread, std::string (*text)(double));
// "4.2× (3.9–4.6)"; "–" where there is none.
std::string RatioText(const std::optional<Ratio>& ratio);
// "hogbatch better", "hogbatch worse", "noise", "one repeat".
std::string VerdictText(const std::optional<Ratio>& ratio);

std::string SettingText(const BestSetting& setting);  // "64 rows, lr 0.2"
std::string MetricName(const RunLog& log);            // "test accuracy"; empty: none

// "not in 20 s" where no run reached the target.
std::string RaceSeconds(const RaceFinding& race);
// Of the race; "at least 3.1×" where the side did not reach the target but hogbatch did.
std::string RaceAdvantage(const RaceFinding& race, const Findings& findings);

// As VerdictText; a side that did not reach the target in a longer time than hogbatch ever took is
// worse.
std::string RaceVerdict(const RaceFinding& race, const Findings& findings);

// The result as lines for a terminal.
std::vector<std::string> ResultLines(const Comparison& comparison);

}  // namespace hogbatch::compare
