// hogbatch as a library: trains one neural network on everything a server has.
//
//   hogbatch::Network network = hogbatch::Train("mine.csv", {{"epochs", "3"}});
//   network.Save("mine.safetensors");
//   for (const std::string& label : network.PredictFile("new.csv")) std::puts(label.c_str());
//
// Every failure is a std::runtime_error whose text is a sentence for the user: what is wrong,
// where, what to do. Nothing is printed. A Network may be used by several threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hogbatch {

// Options by their names on the command line, without dashes: {"hidden", "256,256"}, {"lr", "0.1"}.
// `hogbatch train --help` lists them, and also those that Train does not know. A flag takes "true"
// or "false".
using Options = std::map<std::string, std::string, std::less<>>;

// Losses and metrics over all rows of a file or of a part of it.
struct Scores {
  std::int64_t rows = 0;
  double loss = 0;                                      // mean over the rows
  std::vector<std::pair<std::string, double>> metrics;  // "accuracy", "precision_at_1", "rmse"
};

// How far a training is. Evaluations come with the report that ends them.
struct TrainingReport {
  double seconds = 0;  // since training began
  double epoch = 0;
  std::int64_t examples = 0;
  std::int64_t updates = 0;
  double examples_per_second = 0;      // since the last report
  std::optional<double> running_loss;  // mean over the rows trained since the last report
  std::optional<Scores> train, valid, test;
};

// Calls come on the thread that called Train and must not take long.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;
  virtual void OnReport(const TrainingReport&) {}
  // Training goes on, but not quite as asked, or slower than necessary: a device failed or could
  // not be measured, an option has no effect, or there are more workers than cores.
  virtual void OnWarning(std::string_view /*sentence*/) {}
};

// A trained network with all that is needed to use it on new rows: columns, scaling, labels.
class Network {
 public:
  // A file that Save, or the program, wrote.
  static Network Load(const std::string& path);
  // Replaces the file atomically.
  void Save(const std::string& path) const;

  // The names of the classes or labels in the order of the outputs; empty for numbers.
  const std::vector<std::string>& labels() const;

  // For every row of a file, in its order: the label, the labels separated by spaces, or the
  // number.
  std::vector<std::string> PredictFile(const std::string& path) const;
  // For every row of a file, in its order, one value per output: probabilities, or the number.
  std::vector<float> OutputsForFile(const std::string& path) const;
  // How good the network is on a file with labels.
  Scores EvaluateFile(const std::string& path) const;

 private:
  struct Parts;
  explicit Network(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend Network Train(const std::string&, const Options&, TrainingListener*, std::stop_token);

  std::shared_ptr<const Parts> parts_;
};

// Trains on a file of rows with labels; an empty path is the data set that ships with hogbatch.
// Returns the network with the lowest validation loss. After a stop request it returns soon, with
// the best network so far. Options of the program are not known here: the group 'Several networks'
// of `hogbatch train --help`, and of the group 'Output' all but eval-every, eval-rows, report-every
// and seed.
Network Train(const std::string& data, const Options& options = {},
              TrainingListener* listener = nullptr, std::stop_token stop = {});

}  // namespace hogbatch
