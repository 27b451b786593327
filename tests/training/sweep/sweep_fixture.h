// A small sweep on two cores, for tests of how it runs.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/cpu.h"
#include "datasets/synthetic.h"
#include "training/sweep/sweep_run.h"

namespace hogbatch {

class SweepLog final : public SweepObserver {
 public:
  void OnTrial(std::size_t) override {
    ++trials;
    if (on_change) on_change();
  }
  void OnBest(std::size_t trial) override {
    best.push_back(trial);
    if (on_change) on_change();
  }
  void OnWarning(std::string_view sentence) override { warnings.emplace_back(sentence); }

  int trials = 0;
  std::vector<std::size_t> best;
  std::vector<std::string> warnings;
  std::function<void()> on_change = {};
};

class SweepRunTest : public testing::Test {
 protected:
  SweepRunTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("sweep-test-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    auto input = std::make_shared<TrainingInput>();
    input->training = MakeSynthetic({.rows = 3000, .features = 20, .valid_fraction = 0.2});
    input_ = input;
  }
  ~SweepRunTest() override { std::filesystem::remove_all(folder_); }

  SweepPlan PlanOf(const std::vector<double>& rates, std::vector<double> rungs) {
    SweepPlan plan{.rungs = std::move(rungs), .eta = 2, .inputs = {{input_, "rows"}}};
    for (const double rate : rates) {
      Trial trial{.values = {{"lr", OptionText(rate)}}};
      trial.spec.hidden = {16};
      trial.spec.epochs = plan.rungs.back();
      trial.spec.learning_rate.lr = rate;
      trial.spec.optimizer.momentum = 0.9;
      trial.spec.no_pin = true;
      plan.trials.push_back(trial);
    }
    for (int i = 0; i < 2; ++i) {
      const DeviceInfo info{.name = "cpu." + std::to_string(i), .description = "test"};
      plan.devices.chosen.push_back({info, [info] { return cpu::MakeDevice(info); }});
    }
    plan.devices.cores = 2;
    return plan;
  }

  SweepFolder FolderOf(const std::string& name) {
    std::filesystem::create_directories(folder_ / name);
    return {.path = (folder_ / name).string(), .checkpoint_every = 0.02};
  }

  std::filesystem::path folder_;
  std::shared_ptr<const TrainingInput> input_;
  SweepLog log_;
};

}  // namespace hogbatch
