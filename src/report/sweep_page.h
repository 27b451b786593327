// The page of a sweep: the curves of all trials, and the effect of each option.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace hogbatch::report {

// What was not measured is NaN.
struct SweptTrial {
  std::string name;   // "trial 12"
  std::string state;  // "done"
  double epoch = 0;
  double seconds = 0;
  std::vector<std::string> values = {};  // one for each option of the sweep
  std::vector<double> epochs = {};
  std::vector<double> losses = {};                         // of validation, at these epochs
  double loss = std::numeric_limits<double>::quiet_NaN();  // the best one
  double metric = std::numeric_limits<double>::quiet_NaN();
};

struct SweepView {
  std::string data;
  std::string search;
  std::string metric;                     // its name
  std::string status;                     // "12 of 64 trials done"
  std::vector<std::string> options = {};  // that vary
  std::vector<SweptTrial> trials = {};    // the best first
  std::string command = {};               // that trains the best one alone
};

// The whole file.
std::string SweepPage(const SweepView& sweep);
// The curves alone, as an SVG file.
std::string SweepPicture(const SweepView& sweep);

}  // namespace hogbatch::report
