// What an option may be in the trials of a sweep: one of several values, or a number drawn from a
// distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.h"
#include "core/random.h"

namespace hogbatch {

enum class SamplingScale : std::uint8_t { kLinear, kLogarithmic };
enum class NumberKind : std::uint8_t { kReal, kInteger };

// Numbers between two bounds, which are among them.
struct Distribution {
  SamplingScale scale = SamplingScale::kLinear;
  NumberKind kind = NumberKind::kReal;
  double low = 0;
  double high = 1;
};

struct Variation {
  std::string name;                               // of the option, without dashes
  std::vector<std::string> values = {};           // a list; empty: a distribution
  std::optional<Distribution> distribution = {};  // none: a list
};

// What stands between "|", without blanks around it. UserError if a value is missing or is there
// twice. A text without "|" is one value.
std::vector<std::string> SplitValues(std::string_view name, std::string_view text);

// "log:1e-4:1" or "lin:0:0.3"; none if the text is neither. UserError for bounds that are wrong.
std::optional<Distribution> ParseDistribution(std::string_view name, std::string_view text,
                                              NumberKind kind, Range range);

// A value as a user would write it. A real number has four digits that count, so that a command
// line is easy to read.
std::string Draw(const Variation& variation, Random& random);

}  // namespace hogbatch
