#include "training/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "algorithms/algorithms.h"
#include "datasets/schema.h"
#include "nn/initialize.h"
#include "runtime/store/merge.h"

namespace hogbatch {
namespace {

// The words of a choice that may be left to the program.
Words AutoOr(Words words, std::string also = "") {
  words.words.insert(words.words.begin(), "auto");
  words.also = std::move(also);
  return words;
}

void VisitData(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Data");
  v.Text("test", o.test, "FILE",
         "A file the training never learns from; its loss and quality are reported");
  v.Word("label", o.label, {{"auto", "first", "last"}, "NAME|N"},
         "The label's column in a CSV file: its name, its number from 1, first or last; auto is "
         "last. LIBSVM files need none");
  v.Text("positive", o.positive, "LABEL",
         "Learn this label against all others, as two classes, whatever labels the file has");
  v.Word("scale", o.scale, ScalingWords(),
         "How features are scaled; learnt on the training rows and saved in the model. standard: "
         "to mean 0 and deviation 1; minmax: to [0, 1]; maxabs: divided by the largest absolute "
         "value. auto is standard for every column that is not mostly 0; columns that are mostly 0 "
         "(one-hot columns, sparse data) keep their zeros: they are left alone if all of them lie "
         "within [-1, 1], else scaled by maxabs");
  v.Number("valid-fraction", o.valid_fraction, {0, 0.9},
           "Share of the rows set aside to choose the best model; 0 keeps none back");
  v.Text("class-weights", o.class_weights, "none|balanced|LABEL=W,...",
         "How much a row of each class counts; balanced lets rare classes count as much as "
         "frequent ones");
}

void VisitNetwork(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Network");
  v.Numbers("hidden", o.hidden, {0, 1 << 20},
            "Widths of the hidden layers, separated by commas; 0 alone is a linear model");
  v.Word("activation", o.activation, ActivationWords(), "What a hidden layer applies to its sums");
  v.Word("loss", o.loss, AutoOr(LossWords()),
         "What is made small: softmax for classes, sigmoid for several labels a row, squared for "
         "numbers; auto looks "
         "at the labels");
  v.Word("init", o.init, AutoOr(InitializationWords(), "FILE"),
         "Starting weights, or a model file to go on from; auto is he for relu and gelu, xavier "
         "otherwise; paper is the Hogbatch paper's, which deep sigmoid networks need");
}

void VisitWork(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Who computes");
  VisitDevices(v, o.devices, "every GPU, and the cores beside them");
  v.Word("algorithm", o.algorithm, AlgorithmWords(),
         fmt::format("How the workers share the model. {}", AlgorithmHelp()));
  v.Word("merge", o.merge, MergeWords(),
         "How an update of a GPU, made on a copy of the weights, joins what others wrote "
         "meanwhile. delta adds the change alone, so that all of theirs stays; average moves the "
         "weights towards the copy, one part in as many as there are teams, and takes back that "
         "part of theirs; overwrite puts the copy in place and loses theirs, as the Hogbatch "
         "paper's own program does");
  v.Number("merge-rows", o.merge_rows, {1, 1e9},
           "How many rows a GPU trains on at the most before it merges and takes the weights anew: "
           "as many whole updates are made in a row on its copy as these rows, or some 20 ms, have "
           "room for, fewer where others merge many times meanwhile, and one in any case. 1 merges "
           "every update, as is always done with adam, with momentum and with weight decay on "
           "sparse rows");
  o.batch.Visit(v);
  v.Number("min-utilization", o.min_utilization, {0.01, 1},
           "What --gpu-batch auto:MAX asks of a GPU: this share of its best rows a second");
  o.adaptive.Visit(v);
  v.Flag("no-pin", o.no_pin, "Let the system move threads between cores");
}

void VisitStopping(OptionVisitor& v, TrainingSpec& o) {
  v.Group("When to stop");
  v.Number("epochs", o.epochs, {0, 1e6},
           "Passes over the training rows, fractions allowed; 0 writes the starting weights");
  v.Text("max-time", o.max_time, "TIME", "Stop after this time: 90, 90s, 5m or 2h");
  v.Number("target-loss", o.target_loss, {0, 1e9},
           "Stop when the loss of the validation rows is this or lower; 0 is off");
  v.Number("patience", o.patience, {0, 1 << 20},
           "Stop after so many evaluations without a better model; 0 is off");
}

void VisitOutput(OptionVisitor& v, TrainingSpec& o) {
  v.Group("Output");
  v.Number("eval-every", o.eval_every, {1e-6, 1e6},
           "Epochs between exact losses, fractions allowed");
  v.Number("report-every", o.report_every, {0.01, 1e6}, "Seconds between reports");
  v.Number("seed", o.seed, {0, 9e15}, "Of the order of rows and the starting weights");
}

}  // namespace

void TrainingSpec::Visit(OptionVisitor& visitor) {
  VisitData(visitor, *this);
  VisitNetwork(visitor, *this);
  learning_rate.Visit(visitor);
  optimizer.Visit(visitor);
  VisitWork(visitor, *this);
  VisitStopping(visitor, *this);
  VisitOutput(visitor, *this);
}

bool StartsFromFile(const TrainingSpec& spec) {
  const Words words = InitializationWords();
  return spec.init != "auto" && std::ranges::find(words.words, spec.init) == words.words.end();
}

void VisitDevices(OptionVisitor& v, std::string& devices, std::string_view automatic) {
  constexpr std::string_view kNames =
      "What computes: cpu is every core this process may use (all but one beside a GPU, which "
      "needs one to feed it), cpu:N so many worker threads, cuda:N and opencl:N a GPU that "
      "'hogbatch devices' lists, cuda:* and opencl:* all of them; several are separated by commas";
  v.Word("devices", devices, {{"auto", "cpu"}, "cpu:N|cuda:N|opencl:N"},
         fmt::format("{}. auto takes {}", kNames, automatic));
}

}  // namespace hogbatch
