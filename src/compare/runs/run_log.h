// All runs of a comparison so far. Kept in compare.json after every run, so that a comparison that
// was interrupted goes on where it was.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/runs/option_texts.h"
#include "compare/runs/run.h"

namespace hogbatch::compare {

inline constexpr int kCompareFormat = 1;  // of compare.json

class RunLog {
 public:
  RunLog() = default;
  explicit RunLog(std::vector<RunRecord> records) : records_(std::move(records)) {}

  // Null: not done yet. Valid until the next Add.
  const RunRecord* Find(const RunPlan& plan) const;
  void Add(RunRecord record) { records_.push_back(std::move(record)); }
  const std::vector<RunRecord>& records() const { return records_; }

  std::vector<const RunRecord*> Of(Phase phase) const;
  std::vector<const RunRecord*> Of(Phase phase, const std::string& side) const;
  double wall_seconds() const;
  double wall_seconds(Phase phase) const;

 private:
  std::vector<RunRecord> records_;
};

// What makes two comparisons the same: every option but --out, and the size and time of the files.
OptionTexts IdentityOf(OptionTexts options, const std::vector<std::string>& files);

// The runs that compare.json in `folder` holds; none if there is no such file. UserError if it is
// of another comparison, with the first difference, or is not readable.
RunLog LoadRuns(const std::string& folder, const OptionTexts& identity);
// From the text of that file.
RunLog ParseRuns(std::string_view text, const std::string& folder, const OptionTexts& identity);

}  // namespace hogbatch::compare
