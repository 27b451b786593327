#include "cli/options/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "cli/data/generate.h"
#include "cli/data/target.h"
#include "core/error.h"
#include "fetch/known_sets.h"

namespace hogbatch {
namespace {

// Cores beside a GPU hardly make inference faster. And the last digits of results would depend on
// which device was faster.
constexpr std::string_view kToInfer = "every GPU, or the cores where there is none";

constexpr const char* kTrainingRows =
    "Rows with labels: CSV, JSON lines, LIBSVM or IDX (MNIST), plain, .gz, .xz, .bz2 or .zst; "
    "several files are one data set; - is standard input. If not given, the data set that ships "
    "with the program";

void VisitQuiet(OptionVisitor& visitor, bool& quiet) {
  visitor.Flag("quiet", quiet, "Print errors only");
}

// `what`: "the summary".
void VisitJson(OptionVisitor& visitor, bool& json, std::string_view what) {
  visitor.Flag("json", json, fmt::format("Print {} as JSON and nothing else", what));
}

}  // namespace

void TerminalOptions::Visit(OptionVisitor& visitor, std::string_view what) {
  VisitQuiet(visitor, quiet);
  VisitJson(visitor, json, what);
}

void TrainOptions::Visit(OptionVisitor& visitor) {
  spec.Visit(visitor);
  visitor.Group("Several networks");
  VisitEnsemble(
      visitor, ensemble,
      "Ensemble: train this many networks with seeds --seed, --seed + 1, …; the saved model "
      "predicts their mean. 0: one network");
  VisitFolds(visitor, folds,
             "Cross-validation: train this many times, each time validated on another part of the "
             "rows, and report mean and spread. 0: train once");
  visitor.Group("Output");
  visitor.Text("out", out, "DIR",
               "Folder for the model and the records of the run; if not given, runs/DATE-TIME");
  checkpoints.Visit(visitor);
  visitor.Text(
      "resume", resume, "DIR|auto",
      "Go on with the run in this folder, from its latest checkpoint. It keeps its options; "
      "--epochs, --max-time, --target-loss, --patience, --devices, --report-every, --memory-limit "
      "and --no-cache may change, --report and --tensorboard may be added, and files of rows that "
      "have moved may be named again. --checkpoint-every, --quiet, --json and --trace are not "
      "kept. auto: the "
      "run in --out or else the latest under runs/; a new run if there is none");
  terminal.Visit(visitor, "the summary");
  visitor.Flag("report", report,
               "Write report.html into the folder at the end, as 'hogbatch report' would");
  visitor.Text("trace", trace, "FILE",
               "Write what every worker did when; ui.perfetto.dev opens the file");
  visitor.Flag("tensorboard", tensorboard,
               "Write an event file for TensorBoard into the folder as the run goes on");
}

void TrainOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.Files("DATA", spec.data, kTrainingRows);
}

void ModelAndRows::Visit(OptionVisitor& visitor) {
  reading.VisitFormat(visitor);
  reading.VisitMissingColumns(visitor, "Columns of the model that a CSV file lacks");
  reading.VisitMemoryLimit(visitor);
  VisitDevices(visitor, devices, kToInfer);
}

void ModelAndRows::Arguments(ArgumentVisitor& visitor) {
  visitor.One("MODEL", model, "A model.safetensors that train wrote");
  visitor.Files("DATA", data,
                "Rows: CSV, JSON lines, LIBSVM or IDX, plain, .gz, .xz, .bz2 or .zst; "
                "several files are one data set; - is standard input");
}

void ModelAndRows::Require(const char* command, const char* example) const {
  if (!model.empty() && !data.empty()) return;
  throw UserError(
      fmt::format("{0} needs a {1} file; for example: hogbatch {0} model.safetensors {2}", command,
                  model.empty() ? "model" : "data", example));
}

void EvalOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  of.reading.VisitLabels(visitor);
  of.Visit(visitor);
  visitor.Flag("importance", importance,
               "Measure the importance of each column: how much the loss rises when its values "
               "are shuffled");
  VisitJson(visitor, json, "the result");
}

void PredictOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Text("out", out, "FILE", "Write to this file instead of standard output");
  visitor.Flag("probabilities", probabilities,
               "Add the probability of every class or label, and a first line that names them");
  visitor.Number(
      "top", top, {0, 1000},
      "Print this many labels, the most likely ones first; 0: the most likely class, or, "
      "with several labels per row, those that reach --threshold");
  visitor.Number(
      "threshold", threshold, {0, 1},
      "Smallest probability at which a label is printed or, with two classes, the second "
      "class is chosen; 0: one half");
  visitor.Flag("json", json, "Print JSON lines: one object per row");
  visitor.Flag("with-input", with_input,
               "Repeat the columns of the input before the prediction: CSV for a CSV file, JSON "
               "lines for JSON lines");
  of.Visit(visitor);
}

void QueueCommandOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Word("scheduler", scheduler, SchedulerWords(),
               "Whose batch an idle device takes next. " + SchedulerHelp());
  scheduling.Visit(visitor);
  VisitDevices(visitor, devices, "every GPU, and the cores beside them");
  visitor.Text("out", out, "DIR",
               "Folder for queue.json and one folder per job; if not given, a new one under runs/");
  visitor.Text(
      "watch", watch, "DIR",
      "Go on until interrupted, and take each file of jobs that is put into this folder; a "
      "file that is removed cancels its jobs, whose models are saved");
  visitor.Text("resume", resume, "DIR",
               "Go on with the queue in this folder, each job where it was");
  visitor.Text(
      "retry", retry, "NAME",
      "With --resume: run this job again. A failed job goes on from its checkpoint, if it has one; "
      "a diverged job starts again");
  checkpoints.Visit(visitor);
  terminal.Visit(visitor, "queue.json");
}

void QueueCommandOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.One("JOBS", jobs, "A TOML file with one [[job]] table per job");
}

void SweepCommandOptions::Visit(OptionVisitor& visitor) {
  training.Visit(visitor);
  search.Visit(visitor);
  visitor.Group("Output");
  visitor.Text("out", out, "DIR",
               "Folder for the best model and the records of the sweep; if not given, "
               "runs/DATE-TIME");
  visitor.Text(
      "resume", resume, "DIR",
      "Go on with the sweep in this folder. It keeps its options; --max-time, --devices, "
      "--memory-limit and --no-cache may change, and files of rows that have moved may be named "
      "again. --checkpoint-every, --quiet and --json are not kept");
  checkpoints.Visit(visitor);
  terminal.Visit(visitor, "the best trial");
}

void SweepCommandOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.Files("DATA", training.data(), kTrainingRows);
}

void ReportOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Text("out", out, "FILE",
               "The page to write; if not given, report.html in the folder of the run, or in the "
               "current folder for several runs");
}

void ReportOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.Folders("RUN", runs, "Folders that train made; NAME=DIR gives a run another name");
}

void ExportOptions::Visit(OptionVisitor& visitor) {
  spec.VisitProblem(visitor);
  visitor.Numbers("init-seeds", init_seeds, kSeedRange,
                  "Seeds of initial weights, each written to a file of its own; if not given, the "
                  "one of --seed");
  visitor.Text("out", out, "DIR", "Folder for rows and weights");
  visitor.Text("onnx", onnx, "FILE",
               "Write the model that is given instead of DATA as an ONNX file");
}

void ExportOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.Files("DATA", spec.data, kTrainingRows);
}

void CompareOptions::Visit(OptionVisitor& visitor) {
  spec.Visit(visitor);
  terminal.Visit(visitor, "compare.json");
}

void CompareOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.Files("DATA", spec.training.data, kTrainingRows);
}

void DataInfoOptions::Visit(OptionVisitor& visitor) {
  spec.VisitReading(visitor);
  VisitJson(visitor, json, "what is found");
}

void DataInfoOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.Files("DATA", spec.data, kTrainingRows);
}

void DataConvertOptions::Visit(OptionVisitor& visitor) {
  spec.VisitReading(visitor);
  VisitTarget(visitor, to);
}

void DataConvertOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.One("DATA", spec.data, "The file to read");
  visitor.One("OUT", out, "The file to write");
}

void DataSplitOptions::Visit(OptionVisitor& visitor) {
  spec.VisitReading(visitor);
  visitor.Number("test-fraction", test_fraction, {0.0001, 0.9999}, "Share of the rows to test on");
  VisitSplitBy(visitor, spec.split_by,
               "rows with the same value in it are in one of the two files");
  VisitSplitTime(visitor, spec.split_time, "the rows to test on");
  visitor.Number("seed", spec.seed, kSeedRange, "Seed of the choice");
  visitor.Text("out-train", out_train, "FILE",
               "File for the rows to train on; if not given, NAME-train beside the data");
  visitor.Text("out-test", out_test, "FILE",
               "File for the rows to test on; if not given, NAME-test beside the data");
}

void DataSplitOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.One("DATA", spec.data, "The file to split");
}

void DataGenerateOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Number("rows", rows, {0, 1e9}, "How many rows; 0: as many as the set has");
  visitor.Number("features", features, {0, 1e7}, "How many features; 0: those of the set");
  visitor.Number("nonzeros", nonzeros, {0, 1e6},
                 "How many of them are not 0 in a row; 0: as in the set");
  visitor.Number("classes", classes, {0, 1e5}, "How many classes or labels; 0: those of the set");
  visitor.Number("seed", seed, kSeedRange, "Seed of the rows");
  VisitTarget(visitor, to);
}

void DataGenerateOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.One(
      "SET", shape,
      fmt::format("The set whose shape the rows have: {}", fmt::join(GeneratedSets(), ", ")));
  visitor.One("OUT", out, "The file to write");
}

void DataFetchOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Text("out", out, "DIR", "Folder for the files");
  visitor.Text("from", from, "URL", "Take the files from this address instead of their home");
  visitor.Number("timeout", timeout, {1, 1e6},
                 "Connect again after this many seconds without data");
  VisitQuiet(visitor, quiet);
}

void DataFetchOptions::Arguments(ArgumentVisitor& visitor) {
  std::string help = "One of these sets:";
  for (const fetch::KnownSet& known : fetch::KnownSets()) {
    help += fmt::format("\n{:10} {}", known.name, known.summary);
  }
  visitor.One("SET", set, help);
}

void InspectOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  VisitJson(visitor, json, "what the file holds");
}

void InspectOptions::Arguments(ArgumentVisitor& visitor) {
  visitor.One("FILE", path,
              "A model, a checkpoint, a file of the data cache, or the folder of a run");
}

void DevicesOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  VisitJson(visitor, json, "the list");
}

}  // namespace hogbatch
