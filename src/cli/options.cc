#include "cli/options.h"

#include <string_view>

namespace hogbatch {
namespace {

// Cores beside a GPU would hardly shorten an inference, and results would depend in their last
// digits on which device was faster.
constexpr std::string_view kToInfer = "every GPU, or the cores where there is none";

}  // namespace

void TrainOptions::Visit(OptionVisitor& visitor) {
  spec.Visit(visitor);
  visitor.Group("Output");
  visitor.Text("out", out, "DIR",
               "Folder for the model and the records of the run; if not given, runs/DATE-TIME");
  visitor.Flag("quiet", quiet, "Print errors only");
  visitor.Flag("json", json, "Print the summary as JSON and nothing else");
}

void EvalOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  VisitDevices(visitor, devices, kToInfer);
  visitor.Flag("json", json, "Print the result as JSON and nothing else");
}

void PredictOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Text("out", out, "FILE", "Write to this file instead of standard output");
  visitor.Flag("probabilities", probabilities,
               "Add the probability of every class or label, and a first line that names them");
  visitor.Number("top", top, {0, 1000},
                 "Models with several labels per row: print this many of the most likely labels; 0 "
                 "prints those "
                 "with a probability of at least 50 %");
  VisitDevices(visitor, devices, kToInfer);
}

void ExportOptions::Visit(OptionVisitor& visitor) {
  spec.VisitProblem(visitor);
  visitor.Numbers("init-seeds", init_seeds, {0, 9e15},
                  "Seeds of initial weights, each written to a file of its own; if not given, the "
                  "one of --seed");
  visitor.Text("out", out, "DIR", "Folder to write into; needed");
}

void DevicesOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Flag("json", json, "Print the list as JSON");
}

}  // namespace hogbatch
