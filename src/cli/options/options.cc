#include "cli/options/options.h"

#include <string_view>

namespace hogbatch {
namespace {

// Cores beside a GPU hardly make inference faster. And the last digits of results would depend on
// which device was faster.
constexpr std::string_view kToInfer = "every GPU, or the cores where there is none";

}  // namespace

void TrainOptions::Visit(OptionVisitor& visitor) {
  spec.Visit(visitor);
  visitor.Group("Several networks");
  VisitEnsemble(visitor, ensemble,
                "Train this many networks with seeds from --seed on, together where they fit into "
                "the cache of a core; the saved model predicts their mean. 0: one network");
  VisitFolds(visitor, folds,
             "Cross-validation: train this many times, validated on another part of the rows each "
             "time, and report mean and spread. 0: train once");
  visitor.Group("Output");
  visitor.Text("out", out, "DIR",
               "Folder for the model and the records of the run; if not given, runs/DATE-TIME");
  checkpoints.Visit(visitor);
  visitor.Text(
      "resume", resume, "DIR|auto",
      "Go on with the run in this folder, from its latest checkpoint. It keeps its options; "
      "--epochs, --max-time, --target-loss, --patience and --devices may change. auto: the "
      "run in --out or else the latest under runs/; a new run if there is none");
  visitor.Flag("quiet", quiet, "Print errors only");
  visitor.Flag("json", json, "Print the summary as JSON and nothing else");
  visitor.Flag("report", report,
               "Write report.html into the folder at the end, as 'hogbatch report' would");
  visitor.Text("trace", trace, "FILE",
               "Write what every worker did when; ui.perfetto.dev opens the file");
  visitor.Flag("tensorboard", tensorboard,
               "Write an event file for TensorBoard into the folder as the run goes on");
}

void EvalOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  VisitFormat(visitor, format);
  visitor.Text("labels", labels, "FILE",
               "File with the labels of an IDX file; if not given, the one whose name says labels "
               "where DATA says images");
  VisitMissingColumns(visitor, missing_columns, "Columns of the model that a CSV file lacks");
  VisitMemoryLimit(visitor, memory_limit);
  VisitDevices(visitor, devices, kToInfer);
  visitor.Flag(
      "importance", importance,
      "Measure how much the model needs each column: the loss that random values of it add");
  visitor.Flag("json", json, "Print the result as JSON and nothing else");
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
  visitor.Number("threshold", threshold, {0, 1},
                 "Probability from which a label is printed or, with two classes, the second one "
                 "is chosen; 0: a half");
  visitor.Flag("json", json, "Print JSON lines: one object per row");
  visitor.Flag("with-input", with_input,
               "Repeat the columns of the input before the prediction: CSV for a CSV file, JSON "
               "lines for JSON lines");
  VisitFormat(visitor, format);
  VisitMissingColumns(visitor, missing_columns, "Columns of the model that a CSV file lacks");
  VisitMemoryLimit(visitor, memory_limit);
  VisitDevices(visitor, devices, kToInfer);
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
  visitor.Text("retry", retry, "NAME",
               "With --resume: run this job, which failed or diverged, again from its start");
  checkpoints.Visit(visitor);
  visitor.Flag("quiet", quiet, "Print errors only");
  visitor.Flag("json", json, "Print queue.json at the end and nothing else");
}

void SweepCommandOptions::Visit(OptionVisitor& visitor) {
  training.Visit(visitor);
  search.Visit(visitor);
  visitor.Group("Output of the sweep");
  visitor.Text("out", out, "DIR",
               "Folder for the best model and the records of the sweep; if not given, "
               "runs/DATE-TIME");
  visitor.Text(
      "resume", resume, "DIR",
      "Go on with the sweep in this folder. It keeps its options; --max-time and --devices "
      "may change");
  checkpoints.Visit(visitor);
  visitor.Flag("quiet", quiet, "Print errors only");
  visitor.Flag("json", json, "Print the best trial as JSON at the end and nothing else");
}

void ReportOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Text("out", out, "FILE",
               "The page to write; if not given, report.html in the folder of the run, or in the "
               "current folder for several runs");
}

void ExportOptions::Visit(OptionVisitor& visitor) {
  spec.VisitProblem(visitor);
  visitor.Numbers("init-seeds", init_seeds, {0, 9e15},
                  "Seeds of initial weights, each written to a file of its own; if not given, the "
                  "one of --seed");
  visitor.Text("out", out, "DIR", "Folder for rows and weights");
  visitor.Text("onnx", onnx, "FILE",
               "Write the model that is given instead of DATA as an ONNX file");
}

void CompareOptions::Visit(OptionVisitor& visitor) {
  spec.Visit(visitor);
  visitor.Flag("quiet", quiet, "Print errors only");
  visitor.Flag("json", json, "Print compare.json at the end and nothing else");
}

void DataInfoOptions::Visit(OptionVisitor& visitor) {
  spec.VisitReading(visitor);
  visitor.Flag("json", json, "Print what is found as JSON");
}

static void VisitTarget(OptionVisitor& visitor, std::string& to) {
  visitor.Word("to", to, {{"auto", "csv", "jsonl", "libsvm"}},
               "Format to write; auto goes by the name of the file: .csv, .jsonl, and LIBSVM for "
               "others");
}

void DataConvertOptions::Visit(OptionVisitor& visitor) {
  spec.VisitReading(visitor);
  VisitTarget(visitor, to);
}

void DataSplitOptions::Visit(OptionVisitor& visitor) {
  spec.VisitReading(visitor);
  visitor.Number("test-fraction", test_fraction, {0.0001, 0.9999}, "Share of the rows to test on");
  visitor.Text("split-by", spec.split_by, "COLUMN",
               "Rows of a CSV file that are equal in this column are in one of the two files");
  visitor.Text("split-time", spec.split_time, "COLUMN",
               "The rows of a CSV file that are latest by this column, a date or a number, are to "
               "test on");
  visitor.Number("seed", spec.seed, {0, 9e15}, "Seed of the choice");
  visitor.Text("out-train", out_train, "FILE",
               "File for the rows to train on; if not given, NAME-train beside the data");
  visitor.Text("out-test", out_test, "FILE",
               "File for the rows to test on; if not given, NAME-test beside the data");
}

void DataGenerateOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Number("rows", rows, {0, 1e9}, "How many rows; 0: as many as the set has");
  visitor.Number("features", features, {0, 1e7}, "How many features; 0: those of the set");
  visitor.Number("nonzeros", nonzeros, {0, 1e6},
                 "How many of them are not 0 in a row; 0: as in the set");
  visitor.Number("classes", classes, {0, 1e5}, "How many classes or labels; 0: those of the set");
  visitor.Number("seed", seed, {0, 9e15}, "Seed of the rows");
  VisitTarget(visitor, to);
}

void DataFetchOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Text("out", out, "DIR", "Folder for the files");
  visitor.Text("from", from, "URL", "Take the files from this address instead of their home");
  visitor.Number("timeout", timeout, {1, 1e6},
                 "Seconds without a byte after which a connection is tried again");
  visitor.Flag("quiet", quiet, "Print errors only");
}

void InspectOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Flag("json", json, "Print it as JSON");
}

void DevicesOptions::Visit(OptionVisitor& visitor) {
  visitor.Group("Options");
  visitor.Flag("json", json, "Print the list as JSON");
}

}  // namespace hogbatch
