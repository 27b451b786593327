#include "cli/options/help_text.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace hogbatch {

namespace {

constexpr std::array kSummaries = {
    std::pair{"train", "train a network on rows with labels"},
    std::pair{"queue", "train many networks in one run, on shared devices"},
    std::pair{"sweep", "try many values of options, and keep the best model"},
    std::pair{"eval", "measure a model on rows with labels"},
    std::pair{"predict", "print the label of every row of a file"},
    std::pair{"report", "show one or several runs in a page"},
    std::pair{"export", "write encoded rows and initial weights for other programs"},
    std::pair{"compare", "compare with TensorFlow, PyTorch and others on your data"},
    std::pair{"data", "look at, convert, split or make files of data"},
    std::pair{"inspect", "show what is in a model, a checkpoint, a run or a cache"},
    std::pair{"devices", "list what this machine can compute with"},
};

}  // namespace

const char* const kProgramHelp =
    R"(hogbatch trains one neural network with every core and every GPU of this machine at once.

Begin with one of these:
  hogbatch train                               the data set that ships with the program
  hogbatch train mine.csv --test other.csv     your own data: CSV, JSON lines, LIBSVM or IDX
  hogbatch eval runs/DATE-TIME/model.safetensors other.csv
  hogbatch predict runs/DATE-TIME/model.safetensors new.csv > labels.txt
  hogbatch report runs/DATE-TIME               a page with curves and figures of the run

'hogbatch COMMAND --help' explains the options of a command.
)";

const char* const kTrainHelp =
    R"(Trains a network on rows with labels and saves the best model.

Examples:
  hogbatch train                                    the data set that ships with the program
  hogbatch train mine.csv --label price             a CSV file; the column 'price' is the label
  hogbatch train mine.svm.xz --test test.svm.xz --hidden 256,256 --epochs 5
  hogbatch train mine.csv --init runs/first/model.safetensors --lr 0.01     continue from a model
  hogbatch train mine.csv --devices cuda:0          on one GPU; 'hogbatch devices' lists them
  hogbatch train mine.csv --devices cpu,cuda:0      on that GPU and the cores

The folder of results holds model.safetensors, summary.json, metrics.jsonl (one line per report)
and options.json (all options, the machine, the data). Ctrl-C stops the training and saves the model.
)";

const char* const kQueueHelp =
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
)";

const char* const kSweepHelp =
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
)";

const char* const kEvalHelp =
    R"(Measures a model on rows with labels: loss and accuracy, and for classes AUC, F1 and the confusion
matrix.

Examples:
  hogbatch eval runs/first/model.safetensors test.csv
  hogbatch eval runs/first/model.safetensors test.csv --json
)";

const char* const kPredictHelp =
    R"(Prints one line per row: its label, or its number. Several labels per row are separated by
spaces. The file needs no labels. Rows are read block by block, so that a pipe of any length takes
little memory.

Examples:
  hogbatch predict runs/first/model.safetensors new.csv > labels.txt
  hogbatch predict runs/first/model.safetensors new.csv --probabilities --out predicted.csv
  tail -f rows.jsonl | hogbatch predict runs/first/model.safetensors - --with-input
)";

const char* const kReportHelp =
    R"(Writes one HTML page about one or several runs: loss and metric against time and epochs, throughput,
batch sizes, how busy each worker was, staleness, data, machine and options. The page needs no
network and opens in any browser. A run that is still going on can be shown, too.

Examples:
  hogbatch report runs/first
  hogbatch report runs/first runs/second --out both.html
  hogbatch report slow=runs/first fast=runs/second
)";

const char* const kExportHelp =
    R"(Writes a model as an ONNX file (--onnx), which other programs run: filling, categories and scaling
are in it. Or writes the rows of a file as train encodes them, and the weights that train starts
from, so that other programs can learn the same problem from the same start (--out).

Examples:
  hogbatch export runs/…/model.safetensors --onnx model.onnx
  hogbatch export mine.csv --out exported --hidden 256,256
  hogbatch export mine.csv --test other.csv --out exported --init-seeds 1,2,3
  hogbatch train mine.csv --hidden 256,256 --init exported/initial-1.safetensors

The folder then holds data.safetensors, initial-SEED.safetensors (models) and export.json.
)";

const char* const kCompareHelp =
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
)";

const char* const kDataHelp =
    R"(Looks at files of data, and makes others of them.

  hogbatch data info DATA            rows, columns, labels, and how they were understood
  hogbatch data convert DATA OUT     another format: CSV, JSON lines or LIBSVM
  hogbatch data split DATA           a file to train on and one to test on
  hogbatch data generate SET OUT     made-up rows with the shape of a known set
  hogbatch data fetch SET            a public set: covtype, w8a, real-sim, delicious, mnist

'hogbatch data COMMAND --help' explains the options of each.
)";

const char* const kDataInfoHelp =
    R"(Reads a file as train would and prints what it found: format, rows, labels and how often each
occurs, columns with their kind, range, words and missing cells, and what is left out and why.

Examples:
  hogbatch data info mine.csv --label price
  hogbatch data info mine.svm.xz --json
)";

const char* const kDataConvertHelp =
    R"(Writes a file in another format. Tables (CSV, JSON lines) keep their cells. In LIBSVM, and from
LIBSVM or IDX to CSV, rows are written as a network sees them before scaling: words are columns of 0
and 1, missing cells are filled.

Examples:
  hogbatch data convert rows.jsonl rows.csv
  hogbatch data convert rows.csv rows.svm --label price
  hogbatch data convert train-images-idx3-ubyte.gz mnist.csv
)";

const char* const kDataSplitHelp =
    R"(Splits a file of text into one to train on and one to test on. Lines are copied as they are, in
their order, and every class has its share of both files.

Examples:
  hogbatch data split mine.csv --test-fraction 0.1 --seed 7
  hogbatch data split visits.csv --split-by patient --out-train a.csv --out-test b.csv
)";

const char* const kDataGenerateHelp =
    R"(Makes up rows with the shape of a set of the Hogbatch papers. A hidden linear rule gives the labels,
so that they can be learnt.

Examples:
  hogbatch data generate covtype made.csv
  hogbatch data generate real-sim made.svm --rows 1000000
)";

const char* const kDataFetchHelp =
    R"(Fetches a public data set by its name:

  covtype    forest cover types, 581,012 rows, 7 classes (UCI)
  w8a        web pages, 49,749 rows and 14,951 to test on, 2 classes (LIBSVM)
  real-sim   articles, 72,309 rows, 20,958 features, 2 classes (LIBSVM)
  delicious  bookmarks, 983 labels, several per row
  mnist      handwritten digits, 60,000 rows and 10,000 to test on, 10 classes

A broken connection is taken up again, also by the same command later. Proxies of the environment
(http_proxy, https_proxy, no_proxy) are used. w8a and mnist are verified by SHA-256; the others are
not, and the output says so. delicious needs --from URL.
)";

const char* const kInspectHelp =
    R"(Shows what is in a model, a checkpoint, the folder of a run or a file of the data cache. Checks each
file and reports damage.

Examples:
  hogbatch inspect runs/first/model.safetensors
  hogbatch inspect runs/first
  hogbatch inspect ~/.cache/hogbatch/data/NAME.data
)";

const char* const kDevicesHelp =
    R"(Lists the devices of this machine by the names that --devices takes. Says what is missing to use
a GPU, what to do about it, and what --devices auto would choose.
)";

std::string TidyHelp(std::string help) {
  for (std::size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
  return help;
}

std::string ProgramHelp() {
  std::string text = kProgramHelp;
  text += "\nCommands:\n";
  for (const auto& [name, summary] : kSummaries) text += fmt::format("  {:9} {}\n", name, summary);
  return text +
         "\nOptions:\n  --help     print this\n  --version  print the version\n\n"
         "'hogbatch completion bash' and 'zsh' print what completes commands in a shell; 'hogbatch "
         "man'\n"
         "prints the manual page.\n";
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const auto& [name, summary] : kSummaries) names.emplace_back(name);
  return names;
}

}  // namespace hogbatch
