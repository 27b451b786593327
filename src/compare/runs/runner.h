// Carries out planned runs, one at a time, each as a process of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/runs/child.h"
#include "compare/runs/contestants.h"
#include "compare/runs/run.h"
#include "compare/runs/side.h"
#include "compare/spec.h"

namespace hogbatch::compare {

// What all runs of a comparison share.
struct Setting {
  Programs programs;
  std::string out;            // the folder of results
  std::string export_folder;  // rows and initial weights
  std::string data;           // the file; empty: the data set that ships with the program
  std::vector<std::string> train_words;  // data and network as options of `hogbatch train`
  Problem problem;
  double momentum = 0;
  std::int64_t threads = 1;
  std::string devices;          // of hogbatch
  std::string baseline_device;  // "auto", "cpu" or "gpu"
  double max_run_seconds = 0;
};

Setting MakeSetting(const CompareSpec& spec, const Programs& programs, const Problem& problem,
                    std::int64_t cores);

// The folder of a run below that of the results.
std::string RunFolder(const Setting& setting, const RunPlan& plan);

// The words of the command. That of a baseline reads run.json in the folder of the run.
std::vector<std::string> CommandFor(const Setting& setting, const Side& side, const RunPlan& plan);
// The content of run.json.
std::string RunRequest(const Setting& setting, const RunPlan& plan);

// Nothing comes back if interrupted: such a run is done again. Throws Error where the folder of the
// run cannot be written; what goes wrong in the run itself is its outcome.
std::optional<RunRecord> Perform(const Setting& setting, const Side& side, const RunPlan& plan,
                                 const Interrupted& interrupted);

}  // namespace hogbatch::compare
