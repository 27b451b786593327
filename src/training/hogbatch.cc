// Implements the public header with the training library.
#include "hogbatch/hogbatch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "nn/metric_values.h"
#include "training/model/labels.h"
#include "training/plan_notes.h"
#include "training/predict.h"
#include "training/train.h"

namespace hogbatch {
namespace {

Scores ScoresOf(const EvaluationSums& sums, const MetricScale& scale) {
  Scores scores{.rows = sums.rows, .loss = sums.mean_loss(), .metrics = {}};
  for (const Metric& metric : MetricsOf(sums, scale)) {
    scores.metrics.emplace_back(metric.name, metric.value);
  }
  return scores;
}

// Passes reports on to a listener.
class Forwarder final : public TrainingObserver {
 public:
  explicit Forwarder(TrainingListener& listener) : listener_(listener) {}

  void set_scale(const MetricScale& scale) { scale_ = scale; }

  void OnProgress(const Progress& progress) override {
    TrainingReport report{.seconds = progress.seconds,
                          .epoch = progress.epoch,
                          .examples = progress.examples,
                          .updates = progress.updates,
                          .examples_per_second = progress.examples_per_second,
                          .running_loss = progress.running_loss,
                          .train = {},
                          .valid = {},
                          .test = {}};
    if (progress.evaluation) {
      report.train = Of(progress.evaluation->train);
      report.valid = Of(progress.evaluation->valid);
      report.test = Of(progress.evaluation->test);
    }
    listener_.OnReport(report);
  }
  void OnWorkerFailed(std::string_view worker, std::string_view what) override {
    OnWarning(fmt::format("worker {} failed: {}", worker, what));
  }
  void OnWarning(std::string_view sentence) override { listener_.OnWarning(sentence); }

 private:
  std::optional<Scores> Of(const std::optional<EvaluationSums>& sums) const {
    if (!sums || sums->rows == 0) return std::nullopt;
    return ScoresOf(*sums, scale_);
  }

  TrainingListener& listener_;
  MetricScale scale_;
};

TrainingSpec SpecOf(const std::string& data, const Options& options) {
  TrainingSpec spec;
  spec.data = data;
  for (const auto& [name, text] : options) SetOption(spec, name, text);
  Validate(spec);
  return spec;
}

// What a training reads. The thread of a worker that hangs may use it for ever.
struct TrainedFrom {
  std::unique_ptr<TrainingInput> input;
  std::unique_ptr<TrainingPlan> plan;
  bool has_hanging_worker = false;

  ~TrainedFrom() {
    if (!has_hanging_worker) return;
    static_cast<void>(input.release());
    static_cast<void>(plan.release());
  }
};

}  // namespace

struct Network::Parts {
  SavedModel model;
};

Network Train(const std::string& data, const Options& options, TrainingListener* listener,
              std::stop_token stop) {
  TrainingListener silent;
  Forwarder observer(listener ? *listener : silent);
  const TrainingSpec spec = SpecOf(data, options);
  const Devices devices = DevicesToTrain(spec.devices);
  for (const std::string& note : NotesOn(devices)) observer.OnWarning(note);
  TrainedFrom from{.input = std::make_unique<TrainingInput>(ReadInput(spec, observer)), .plan = {}};
  from.plan = std::make_unique<TrainingPlan>(Plan(spec, *from.input, devices, observer));
  for (const std::string& note : NotesOn(spec, *from.plan)) observer.OnWarning(note);
  observer.set_scale(ScaleOf(from.plan->work.model, from.input->training.schema));
  TrainedModel trained = Train(*from.plan, *from.input, observer,
                               {.stop_requested = [&stop] { return stop.stop_requested(); },
                                .has_hanging_worker = &from.has_hanging_worker});
  if (!trained.model) {
    throw Error(trained.run.stopped_because == StopReason::kDiverged
                    ? "training diverged before there was a model; try a lower lr"
                    : "training ended without a model because its last worker failed");
  }
  return Network(
      std::make_shared<Network::Parts>(Network::Parts{.model = std::move(*trained.model)}));
}

Network Network::Load(const std::string& path) {
  return Network(std::make_shared<Parts>(Parts{.model = LoadModel(path)}));
}

void Network::Save(const std::string& path) const {
  SaveModel(path, parts_->model, NamedBy::kUser);
}

const std::vector<std::string>& Network::labels() const { return parts_->model.schema.label_names; }

std::vector<float> Network::OutputsForFile(const std::string& path) const {
  const SavedModel& model = parts_->model;
  const std::vector<DeviceChoice> devices = DevicesToInfer("auto", model.spec);
  const Dataset data = ReadWithSchema(path, model.schema, Labels::kOptional);
  std::vector<float> values(data.rows * model.spec.outputs);
  Predict(devices, model, data, [&](RowRange rows, std::span<const float> outputs) {
    std::ranges::copy(OutputValues(model.schema, model.spec.loss, outputs),
                      values.begin() + rows.begin * model.spec.outputs);
  });
  return values;
}

std::vector<std::string> Network::PredictFile(const std::string& path) const {
  const std::vector<float> values = OutputsForFile(path);
  const std::size_t columns = parts_->model.spec.outputs;
  std::vector<std::string> labels;
  for (std::size_t at = 0; at < values.size(); at += columns) {
    labels.push_back(
        LabelText(parts_->model.schema, std::span<const float>(values).subspan(at, columns)));
  }
  return labels;
}

Scores Network::EvaluateFile(const std::string& path) const {
  const SavedModel& model = parts_->model;
  const std::vector<DeviceChoice> devices = DevicesToInfer("auto", model.spec);
  const Dataset data = ReadWithSchema(path, model.schema, Labels::kRequired);
  const ModelQuality quality = Evaluate(devices, model, data);
  return ScoresOf(quality.sums, ScaleOf(model.spec, model.schema));
}

}  // namespace hogbatch
