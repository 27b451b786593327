// A sweep as the user asks for it: the options of a training, some of which vary, and how they are
// searched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/option_values.h"
#include "core/options.h"
#include "training/spec.h"
#include "training/sweep/variation.h"

namespace hogbatch {

inline constexpr std::int64_t kMostTrials = 10000;

enum class Search : std::uint8_t { kGrid, kRandom, kAsha };
std::string_view Name(Search search);

struct SearchOptions {
  std::string search = "auto";
  std::int64_t trials = 0;
  std::int64_t search_seed = 1;
  double eta = 3;
  double min_epochs = 1;
  std::int64_t ensemble = 0;
  std::int64_t folds = 0;

  void Visit(OptionVisitor& visitor);
};

// --ensemble and --folds, for `train`, too.
void VisitEnsemble(OptionVisitor& visitor, std::int64_t& members, std::string_view help);
void VisitFolds(OptionVisitor& visitor, std::int64_t& folds, std::string_view help);

// Made whole by SweptOptions, and never changed.
struct SweepSpec {
  TrainingSpec base;              // of all trials; --max-time is that of the sweep
  std::vector<Variation> varied;  // in the order of --help
  SearchOptions search;

  // What --search says; auto is kGrid if all variations are lists, else kRandom.
  Search ChosenSearch() const;
  // The lengths of training after which trials are compared, in epochs; one if none is stopped
  // early.
  std::vector<double> Rungs() const;
  // Nothing varies but the seeds of the members of an ensemble.
  bool is_ensemble() const { return search.ensemble > 0 && varied.empty(); }
};

// UserError for what is wrong with any data, such as a rung that is longer than the training.
void Validate(const SweepSpec& spec);

// The options of `train` as texts, since each may be a list or a distribution. Their names, ranges
// and help come from TrainingSpec.
class SweptOptions {
 public:
  SweptOptions();
  // Nothing varies.
  static SweptOptions Of(const TrainingSpec& spec);

  // Shows each option to the visitor. A text that no trial could have is refused.
  void Visit(OptionVisitor& visitor);

  // An empty one is the data set that ships with the program.
  std::string& data() { return spec_.data; }
  const std::string& data() const { return spec_.data; }

  SweepSpec Spec(const SearchOptions& search) const;

  // All texts by name, and the data: to keep them, and to go on with them from any folder. Texts
  // that are not given are left out.
  OptionTexts Texts() const;
  // UserError for an unknown name. Spec judges the text.
  void Set(const std::string& name, const std::string& text);

 private:
  class Shown;

  TrainingSpec spec_;                         // what cannot be a list: flags, files
  std::map<std::string, std::string> texts_;  // what can
};

}  // namespace hogbatch
