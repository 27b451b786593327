// The table of commands, one row each: its name, a summary for --help, its own help with examples,
// and the function that runs it. What a user may give to it is in its options (options.h).
#pragma once

#include <string>
#include <tuple>
#include <variant>

#include "cli/commands.h"
#include "cli/options/options.h"

namespace hogbatch {

template <typename Options>
struct CommandRow {
  const char* name;  // "train"; "data info" of the group "data"
  const char* summary;
  const char* help;
  int (*run)(const Options&);
};

// Commands whose names begin with "data " are shown as one.
inline constexpr const char* kDataGroup = "data";
inline constexpr const char* kDataSummary = "show, convert, split, generate or fetch data files";

// clang-format off
inline constexpr std::tuple kCommandTable = {
CommandRow<TrainOptions>{"train", "train a network on rows with labels",
R"(Trains a network on rows with labels and saves the best model.

Examples:
  hogbatch train                                    the data set that ships with the program
  hogbatch train mine.csv --label price             a CSV file; the column 'price' is the label
  hogbatch train mine.svm.xz --test test.svm.xz --hidden 256,256 --epochs 5
  hogbatch train mine.csv --init runs/first/model.safetensors --lr 0.01     continue from a model
  hogbatch train mine.csv --devices cuda:0          on one GPU; 'hogbatch devices' lists them
  hogbatch train mine.csv --devices cpu,cuda:0      on that GPU and the cores

The folder of results holds model.safetensors, summary.json, metrics.jsonl (one line per report) and
options.json (all options, the machine, the data). Ctrl-C stops the training and saves the model.
)", Train},

CommandRow<QueueCommandOptions>{"queue", "train many networks in one run, on shared devices",
R"(Trains many networks in one run, on the same devices. A TOML file has one [[job]] table per job:
its name, data and any option of train; arrives (seconds), exclusive, priority. [defaults] is for
all jobs.

Examples:
  hogbatch queue jobs.toml --scheduler srtf --devices cpu:4,cuda:0 --out runs/tonight
  hogbatch queue --resume runs/tonight              go on with a queue that was stopped
  hogbatch queue --resume runs/tonight --retry first
  hogbatch queue --watch jobs --out runs/server     take files of jobs as they come

Each job has a folder with the files that train writes. queue.json says when each job arrived,
started and ended, and how long each device served it. Ctrl-C stops and saves all jobs.
)", RunQueue},

CommandRow<SweepCommandOptions>{"sweep", "try many values of options, and keep the best model",
R"(Trains a network many times with different options and keeps the best one. Any number or word
among the options of train may be a list, with | between values, or a distribution: lin:LOW:HIGH or,
evenly over orders of magnitude, log:LOW:HIGH.

Examples:
  hogbatch sweep mine.csv --lr '0.01|0.03|0.1' --momentum '0|0.9' --hidden '64,64|256'
  hogbatch sweep mine.csv --lr log:1e-4:1 --weight-decay '0|1e-4' --search random --trials 50
  hogbatch sweep mine.csv --lr log:1e-4:1 --seed '1|2|3' --search asha --trials 81 --epochs 27
  hogbatch sweep --resume runs/DATE-TIME            go on with a sweep that was stopped

Each trial trains on one device at a time, so its result is the same on every run. The folder of
results holds the best model (model.safetensors), a table (trials.csv), everything about each trial
(trials.jsonl) and a page with curves (sweep.html). Ctrl-C saves what there is.
)", RunSweep},

CommandRow<EvalOptions>{"eval", "measure a model on rows with labels",
R"(Measures a model on rows with labels: loss and accuracy, and for classes AUC, F1 and the confusion
matrix.

Examples:
  hogbatch eval runs/first/model.safetensors test.csv
  hogbatch eval runs/first/model.safetensors test.csv --json
)", Eval},

CommandRow<PredictOptions>{"predict", "print the label of every row of a file",
R"(Prints one line per row: its label, or its number. Several labels per row are separated by
spaces. The file needs no labels. Rows are read block by block, so that a pipe of any length takes
little memory.

Examples:
  hogbatch predict runs/first/model.safetensors new.csv > labels.txt
  hogbatch predict runs/first/model.safetensors new.csv --probabilities --out predicted.csv
  tail -f rows.jsonl | hogbatch predict runs/first/model.safetensors - --with-input
)", Predict},

CommandRow<ReportOptions>{"report", "show one or several runs in a page",
R"(Writes one HTML page about one or several runs: loss and metric against time and epochs, throughput,
batch sizes, how busy each worker was, staleness, data, machine and options. The page needs no
network and opens in any browser. A run that is still going on can be shown, too.

Examples:
  hogbatch report runs/first
  hogbatch report runs/first runs/second --out both.html
  hogbatch report slow=runs/first fast=runs/second
)", WriteReport},

CommandRow<ExportOptions>{"export", "write encoded rows and initial weights for other programs",
R"(Writes a model as an ONNX file (--onnx), which other programs run: filling, categories and scaling
are in it. Or writes the rows of a file as train encodes them, and the weights that train starts
from, so that other programs can learn the same problem from the same start (--out).

Examples:
  hogbatch export runs/…/model.safetensors --onnx model.onnx
  hogbatch export mine.csv --out exported --hidden 256,256
  hogbatch export mine.csv --test other.csv --out exported --init-seeds 1,2,3
  hogbatch train mine.csv --hidden 256,256 --init exported/initial-1.safetensors

The folder then holds data.safetensors, initial-SEED.safetensors (models) and export.json.
)", Export},

CommandRow<CompareOptions>{"compare", "compare with TensorFlow, PyTorch and others on your data",
R"(Compares hogbatch with TensorFlow, PyTorch, Keras and scikit-learn on one data set: rows per second,
time to a loss, memory, processor time and start-up. Every side learns the same network from
the same initial weights, at its own best batch size and learning rate.

Examples:
  hogbatch compare                                   the data set that ships with the program
  hogbatch compare mine.csv --test other.csv --hidden 256,256 --out compared
  hogbatch compare mine.svm --against pytorch --budget 15m

scripts/baselines installs the frameworks; one that is missing is left out. The folder of results
holds compare.html, compare.json, compare.svg and one folder per run. Ctrl-C keeps what is done; the
same command goes on from there. docs/comparison.md has the rules.
)", Compare},

CommandRow<DataInfoOptions>{"data info", "rows, columns, labels, and how they were understood",
R"(Reads a file as train would and prints what it found: format, rows, labels and how often each
occurs, columns with their kind, range, words and missing cells, and what is left out and why.

Examples:
  hogbatch data info mine.csv --label price
  hogbatch data info mine.svm.xz --json
)", ShowData},

CommandRow<DataConvertOptions>{"data convert", "another format: CSV, JSON lines or LIBSVM",
R"(Writes a file in another format. Tables (CSV, JSON lines) keep their cells. In LIBSVM, and from
LIBSVM or IDX to CSV, rows are written as a network sees them before scaling: words are columns of 0
and 1, missing cells are filled.

Examples:
  hogbatch data convert rows.jsonl rows.csv
  hogbatch data convert rows.csv rows.svm --label price
  hogbatch data convert train-images-idx3-ubyte.gz mnist.csv
)", ConvertData},

CommandRow<DataSplitOptions>{"data split", "a file to train on and one to test on",
R"(Splits a file of text into one to train on and one to test on. Lines are copied as they are, in
their order, and every class has its share of both files.

Examples:
  hogbatch data split mine.csv --test-fraction 0.1 --seed 7
  hogbatch data split visits.csv --split-by patient --out-train a.csv --out-test b.csv
)", SplitData},

CommandRow<DataGenerateOptions>{"data generate", "made-up rows with the shape of a known set",
R"(Makes up rows with the shape of a set of the Hogbatch papers. A hidden linear rule gives the labels,
so that they can be learnt.

Examples:
  hogbatch data generate covtype made.csv
  hogbatch data generate real-sim made.svm --rows 1000000
)", GenerateData},

CommandRow<DataFetchOptions>{"data fetch", "a public set, by its name",
R"(Fetches a public data set by its name (SET).

A broken connection is taken up again, also by the same command later. Proxies of the environment
(http_proxy, https_proxy, no_proxy) are used. w8a and mnist are verified by SHA-256; the others are
not, and the output says so. delicious needs --from URL.
)", FetchData},

CommandRow<InspectOptions>{"inspect", "show what is in a model, a checkpoint, a run or a cache",
R"(Shows what is in a model, a checkpoint, the folder of a run or a file of the data cache. Checks each
file and reports damage.

Examples:
  hogbatch inspect runs/first/model.safetensors
  hogbatch inspect runs/first
  hogbatch inspect ~/.cache/hogbatch/data/NAME.data
)", Inspect},

CommandRow<DevicesOptions>{"devices", "list what this machine can compute with",
R"(Lists the devices of this machine by the names that --devices takes. Says what is missing to use
a GPU, what to do about it, and what --devices auto would choose.
)", ListDevices}};
// clang-format on

// Calls `use` with every row.
template <typename Use>
void ForEachCommand(Use use) {
  std::apply([&](const auto&... rows) { (use(rows), ...); }, kCommandTable);
}

// Text to print, such as help or the version, instead of running a command.
struct PrintText {
  std::string text;
};

template <typename... Options>
std::variant<PrintText, Options...> OneOf(const std::tuple<CommandRow<Options>...>&);
// The options of a command that was parsed.
using Command = decltype(OneOf(kCommandTable));

}  // namespace hogbatch
