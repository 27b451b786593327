// Finds the sides that can run: hogbatch's methods, and the baselines that are installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/runs/child.h"
#include "compare/runs/side.h"

namespace hogbatch::compare {

std::vector<std::string> KnownBaselines();  // "tensorflow", …
std::string BaselineNames();                // "tensorflow, pytorch, …"

// Where programs stand. Folders end without a slash.
struct Programs {
  std::string self;       // this program
  std::string baselines;  // folder of scripts; empty: not found
  std::string python;
};
// From $HOGBATCH_BASELINES, $HOGBATCH_PYTHON, and the place of this program.
Programs FindPrograms();

// What a side must be able to learn.
struct Problem {
  std::int64_t train_rows = 0;
  std::int64_t valid_rows = 0;
  std::int64_t test_rows = 0;
  std::int64_t features = 0;
  std::int64_t outputs = 0;
  bool is_sparse = false;
  std::string source;
  std::string loss;       // "softmax", "sigmoid", "squared"
  std::string optimizer;  // "sgd", "adam"
  std::string network;    // "54 -> 512 -> 512 -> 7, relu"
};

// What export.json tells; without the optimizer. UserError if it is damaged; `path` names it.
Problem ParseProblem(std::string_view export_json, const std::string& path);

struct Contestants {
  std::vector<Side> sides;  // hogbatch's first
  std::vector<Absent> absent;
};

// hogbatch's own methods; `with_gpu` adds the one for unlike devices.
enum class Gpus : std::uint8_t { kNone, kSome };
std::vector<Side> OwnSides(Gpus gpus);

// The sides that a script can put up for the problem, from what `SCRIPT --list` printed.
Contestants SidesOf(std::string_view name, const std::string& script, std::string_view listing,
                    const Problem& problem);

// Asks every script; each gets two minutes. Nothing comes back if interrupted. `scratch` is a
// folder for what they print.
std::optional<Contestants> FindBaselines(const std::vector<std::string>& wanted,
                                         const Programs& programs, const Problem& problem,
                                         const std::string& scratch,
                                         const Interrupted& interrupted);

}  // namespace hogbatch::compare
