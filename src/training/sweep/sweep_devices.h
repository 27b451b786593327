// The devices of a sweep by their kind: how a trial trains on each, and how many train together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "training/devices/devices.h"
#include "training/plan.h"
#include "training/sweep/sweep_plan.h"
#include "training/sweep/trials.h"

namespace hogbatch {

class SweepDevices {
 public:
  // `inputs`: by Trial::fold. `core_cache_bytes`: L2 of a core. What it refers to outlives it.
  SweepDevices(const Devices& devices, std::span<const SweepInput> inputs,
               std::span<const Trial> trials, std::int64_t core_cache_bytes);

  std::size_t kinds() const { return kinds_.size(); }
  std::size_t workers(std::size_t kind) const { return kinds_[kind].devices.chosen.size(); }
  std::size_t workers() const;

  const std::vector<std::size_t>& shape_of() const { return shape_of_; }  // by trial
  // Trials of these shapes are never lanes.
  bool trains_alone(std::size_t shape) const { return alone_[shape]; }
  // Of a lane group, by shape.
  std::span<const std::size_t> lanes(std::size_t kind) const { return kinds_[kind].lanes; }

  // The plan of a trial on devices of a kind, alone. If the sweep has cores, an update has as many
  // rows as on a core, whatever the device is. It pauses after `pause_epoch`. UserError as for
  // PlanInQueue.
  TrainingPlan PlanOf(const Trial& trial, std::size_t kind, double pause_epoch) const;

  // How trials are fused, in words.
  std::string Text() const;

 private:
  struct Kind {
    Devices devices;
    std::vector<std::size_t> lanes = {};
  };
  std::size_t MostLanes(const Trial& trial, std::size_t kind, std::size_t trials) const;

  std::span<const SweepInput> inputs_;
  std::int64_t core_cache_bytes_;
  std::vector<Kind> kinds_;  // cores first
  std::vector<std::size_t> shape_of_;
  std::vector<bool> alone_;  // by shape
};

}  // namespace hogbatch
