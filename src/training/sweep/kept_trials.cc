#include "training/sweep/kept_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/guard/json_text.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kGroupPrefix = "block-";

// The trials of a lane group, from the text that its checkpoints hold.
std::vector<std::size_t> TrialsOf(const std::string& path, std::size_t most) {
  std::vector<std::size_t> trials;
  const auto json = ParseJson<Json>(ReadCheckpoint(path).texts.options);
  const auto is_trial = [&](const Json& number) {
    return number.is_number_unsigned() && number >= 1 && number <= most;
  };
  if (!json.is_object() || !json.contains("trials") || !json["trials"].is_array() ||
      !std::ranges::all_of(json["trials"], is_trial)) {
    throw UserError(fmt::format("{} is damaged: it does not say of which trials it is", path));
  }
  for (const Json& number : json["trials"]) trials.push_back(number.get<std::size_t>() - 1);
  return trials;
}

}  // namespace

KeptTrials::KeptTrials(std::string folder, std::size_t trials, std::vector<std::string>& unneeded,
                       Warn warn)
    : folder_(std::move(folder)), unneeded_(unneeded), warn_(std::move(warn)), places_(trials) {
  std::map<std::int64_t, std::string> groups;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.is_symlink(error)) continue;  // it would be followed out of the sweep's folder
    const std::string name = entry.path().filename();
    std::int64_t number = 0;
    const bool is_lane_group = name.starts_with(kGroupPrefix);
    const std::size_t prefix = is_lane_group ? kGroupPrefix.size() : 0;
    if (!ReadAll(std::string_view(name).substr(prefix), number)) continue;
    if (is_lane_group) {
      groups[number] = entry.path();
    } else if (number >= 1 && number <= std::ssize(places_)) {
      Set(number - 1, {.folder = entry.path()});
    }
  }
  // A later lane group goes on with lanes of earlier ones.
  for (const auto& [number, path] : groups) FindLaneGroup(path, number);
}

void KeptTrials::FindLaneGroup(const std::string& folder, std::int64_t number) {
  last_group_ = std::max(last_group_, number);
  for (const std::string& path : CheckpointsIn(folder)) {
    try {
      const std::vector<std::size_t> trials = TrialsOf(path, places_.size());
      for (std::size_t i = 0; i < trials.size(); ++i) {
        Set(trials[i], {.folder = folder, .lane = static_cast<std::int64_t>(i), .is_lane = true});
      }
      return;
    } catch (const UserError& damaged) {
      warn_(damaged.what());
    }
  }
}

std::string KeptTrials::FolderOf(std::size_t trial) const {
  return fmt::format("{}/{}", folder_, trial + 1);
}

std::string KeptTrials::NewLaneGroup() {
  return fmt::format("{}/{}{}", folder_, kGroupPrefix, ++last_group_);
}

std::string KeptTrials::LaneGroupText(std::span<const std::size_t> trials) {
  Json json = {{"trials", Json::array()}};
  for (const std::size_t trial : trials) json["trials"].push_back(trial + 1);
  return json.dump();
}

std::vector<std::string> KeptTrials::CheckpointsIn(const std::string& folder) const {
  try {
    return ListCheckpoints(folder);
  } catch (const UserError& error) {
    warn_(error.what());
    return {};
  }
}

std::shared_ptr<const Checkpoint> KeptTrials::Read(std::size_t trial) {
  if (!places_[trial]) return nullptr;
  for (const std::string& path : CheckpointsIn(places_[trial]->folder)) {
    if (path == read_path_) return read_;
    try {
      read_ = std::make_shared<const Checkpoint>(ReadCheckpoint(path));
      read_path_ = path;
      return read_;
    } catch (const UserError& error) {
      warn_(fmt::format("trial {}: {}", trial + 1, error.what()));
    }
  }
  return nullptr;
}

void KeptTrials::Set(std::size_t trial, Place place) {
  const bool is_same = places_[trial] && places_[trial]->folder == place.folder;
  if (!is_same && CheckpointsIn(place.folder).empty()) return;
  if (!is_same) Forget(trial);
  places_[trial] = std::move(place);
}

void KeptTrials::Lose(std::size_t trial) {
  places_[trial].reset();
  read_path_.clear();  // its next checkpoint may have the same name
  read_.reset();
}

void KeptTrials::Forget(std::size_t trial) {
  if (!places_[trial]) return;
  const std::string folder = std::exchange(places_[trial], std::nullopt)->folder;
  const bool is_used = std::ranges::any_of(
      places_, [&](const auto& place) { return place && place->folder == folder; });
  if (!is_used) unneeded_.push_back(folder);
}

}  // namespace hogbatch
