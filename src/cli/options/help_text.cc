#include "cli/options/help_text.h"

namespace hogbatch {

const char* const kProgramHelp =
    R"(hogbatch trains one neural network with every core and every GPU of this machine at once.

Begin with one of these:
  hogbatch train                               the data set that ships with the program
  hogbatch train mine.csv --test other.csv     your own data: LIBSVM, CSV or IDX, plain or packed
  hogbatch eval runs/DATE-TIME/model.safetensors other.csv
  hogbatch predict runs/DATE-TIME/model.safetensors new.csv > labels.txt
  hogbatch report runs/DATE-TIME               a page with curves and figures of the run

'hogbatch COMMAND --help' explains the options of a command.
)";

const char* const kTrainHelp =
    R"(Trains a network on a file of examples and saves the best model.

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

const char* const kEvalHelp =
    R"(Measures a model on a file of examples with labels: loss and accuracy, and for classes AUC, F1
and the confusion matrix.

Examples:
  hogbatch eval runs/first/model.safetensors test.csv
  hogbatch eval runs/first/model.safetensors test.csv --json
)";

const char* const kPredictHelp =
    R"(Prints one line per row: its label, or its number. Several labels per row are separated by
spaces. The file needs no labels.

Examples:
  hogbatch predict runs/first/model.safetensors new.csv > labels.txt
  hogbatch predict runs/first/model.safetensors new.csv --probabilities --out predicted.csv
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
    R"(Compares hogbatch with TensorFlow, PyTorch, Keras and scikit-learn on one data set: examples per
second, time to a loss, memory, processor time and start-up. Every side learns the same network from
the same initial weights, at its own best batch size and learning rate.

Examples:
  hogbatch compare                                   the data set that ships with the program
  hogbatch compare mine.csv --test other.csv --hidden 256,256 --out compared
  hogbatch compare mine.svm --against pytorch --budget 15m

scripts/baselines installs the frameworks; one that is missing is left out. The folder of results
holds compare.html, compare.json, compare.svg and one folder per run. Ctrl-C keeps what is done; the
same command goes on from there. docs/comparison.md has the rules.
)";

const char* const kDevicesHelp =
    R"(Lists the devices of this machine by the names that --devices takes. Says what is missing to use
a GPU, what to do about it, and what --devices auto would choose.
)";

}  // namespace hogbatch
