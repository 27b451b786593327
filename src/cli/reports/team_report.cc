#include "cli/reports/team_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/reports/live_line.h"

namespace hogbatch {
namespace {

constexpr std::size_t kTeamsOnALine = 3;
constexpr double kRarelyHeld = 0.1;  // of the reviews: the size is changing, not held
constexpr double kUneven = 0.1;      // from an equal share of the updates

// A whole percentage. 0 % and 100 % are shown only if they are exact.
std::string Percent(double share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return fmt::format("{:.0f}%", 100 * share);
}

// " (max)" for a team at a bound that held it. At the end of a block its latest update may be a
// little larger or smaller than the bound.
std::string Mark(const Progress& progress, std::size_t team) {
  const std::int64_t rows = progress.teams[team].batch_size;
  for (const HeldTeam& held : progress.held_teams) {
    if (held.team != static_cast<int>(team)) continue;
    if (held.by == HeldTeam::By::kMin ? rows <= held.rows : rows >= held.rows) {
      return fmt::format(" ({})", Name(held.by));
    }
  }
  return "";
}

std::string TeamField(const Progress& progress, std::size_t index) {
  const TeamProgress& team = progress.teams[index];
  std::string field = fmt::format("{} {}", team.name, Percent(team.update_share));
  if (team.batch_size > 0) field += fmt::format(" x{}", team.batch_size);
  return field + Mark(progress, index);
}

bool IsGpu(const TeamProgress& team) { return team.name != "cpu"; }

// "8 GPUs 88% x512-2048", for more GPUs than a line holds.
std::string GpusField(std::span<const TeamProgress> teams) {
  int count = 0;
  double share = 0;
  std::vector<std::int64_t> rows;
  for (const TeamProgress& team : teams) {
    if (!IsGpu(team)) continue;
    ++count;
    share += team.update_share;
    if (team.batch_size > 0) rows.push_back(team.batch_size);
  }
  std::string field = fmt::format("{} GPUs {}", count, Percent(std::min(share, 1.0)));
  if (rows.empty()) return field;
  const auto [least, most] = std::ranges::minmax(rows);
  return field + (least == most ? fmt::format(" x{}", least) : fmt::format(" x{}-{}", least, most));
}

std::string ShareLine(const Progress& totals) {
  std::vector<std::string> each;
  for (const TeamProgress& team : totals.teams) {
    each.push_back(fmt::format("{} {} update{} ({})", team.name, Grouped(team.updates),
                               team.updates == 1 ? "" : "s", Percent(team.update_share)));
    if (team.updates == 0) continue;
    // A run's rates are over the time it trained.
    const double rows = team.rows_per_second * totals.train_seconds;
    const auto mean = std::llround(rows / static_cast<double>(team.updates));
    each.back() += fmt::format(" of {} row{} on average, {} rows/s", Grouped(mean),
                               mean == 1 ? "" : "s", ShortCount(team.rows_per_second));
  }
  return fmt::format("teams     {}", fmt::join(each, "; "));
}

// With --beta below 1 the algorithm evens counted updates, not all updates.
bool Uneven(const Progress& totals) {
  const double equal = 1.0 / static_cast<double>(totals.teams.size());
  return std::ranges::any_of(totals.held_teams, [&](const HeldTeam& held) {
    return std::abs(held.count_share - equal) > kUneven;
  });
}

std::string HeldText(const HeldTeam& held, const TeamProgress& team) {
  const std::string percent = fmt::format("in {} of its reviews", Percent(held.share_of_reviews));
  if (held.by == HeldTeam::By::kMemory) {
    return fmt::format("{} was limited to {} rows by its memory {}", team.name, Grouped(held.rows),
                       percent);
  }
  return fmt::format("{} was limited by --{} {} {} {}", team.name,
                     IsGpu(team) ? "gpu-batch" : "cpu-batch", Name(held.by), held.rows, percent);
}

// The option that would move the bound; empty for memory and for a single row.
std::string Remedy(const HeldTeam& held, const TeamProgress& team) {
  const bool at_max = held.by == HeldTeam::By::kMax;
  if (held.by == HeldTeam::By::kMemory || (!at_max && held.rows == 1)) return "";
  return fmt::format("{} of --{}", at_max ? "raise the maximum" : "lower the minimum",
                     IsGpu(team) ? "gpu-batch" : "cpu-batch");
}

std::string BoundsLine(const Progress& totals) {
  std::vector<std::string> bounds;
  std::vector<std::string> ways;
  for (std::size_t i = 0; i < totals.teams.size(); ++i) {
    const std::optional<HeldTeam> held = MostHeld(totals, static_cast<int>(i));
    if (!held || held->share_of_reviews < kRarelyHeld) continue;
    bounds.push_back(HeldText(*held, totals.teams[i]));
    const std::string way = Remedy(*held, totals.teams[i]);
    if (!way.empty() && std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
  }
  if (bounds.empty()) return "";
  std::string line = fmt::format("bounds    {}", fmt::join(bounds, ", "));
  if (!Uneven(totals)) return line;
  line += ", so updates are not balanced";
  return ways.empty() ? line : fmt::format("{}; {}", line, fmt::join(ways, " or "));
}

// The median staleness of all merges; empty if none was counted.
std::string StalenessText(const StalenessHistogram& staleness) {
  const auto& counts = staleness.merges;
  const std::int64_t all = staleness.count();
  if (all == 0) return "";
  std::size_t bucket = 0;
  for (std::int64_t so_far = counts[0]; 2 * so_far < all; so_far += counts[bucket]) ++bucket;
  std::string median = "0";
  if (bucket + 1 == counts.size()) {
    median = fmt::format("{} or more", Grouped(StalenessHistogram::From(bucket)));
  } else if (bucket > 0) {
    median = fmt::format("at most {}", Grouped(StalenessHistogram::From(bucket + 1) - 1));
  }
  return fmt::format("half of all merges had a staleness of {}", median);
}

std::string MergingLine(const Progress& totals) {
  std::vector<std::string> parts = {StalenessText(totals.staleness)};
  if (totals.beta) {
    parts.push_back(fmt::format(
        "beta {:.2f}: this share of what updates added is still in the model", *totals.beta));
  }
  std::erase(parts, "");
  return parts.empty() ? "" : fmt::format("merging   {}", fmt::join(parts, "; "));
}

}  // namespace

std::string_view Name(HeldTeam::By by) {
  switch (by) {
    case HeldTeam::By::kMin:
      return "min";
    case HeldTeam::By::kMax:
      return "max";
    case HeldTeam::By::kMemory:
      break;
  }
  return "memory";
}

std::optional<HeldTeam> MostHeld(const Progress& progress, int team) {
  std::optional<HeldTeam> most;
  for (const HeldTeam& held : progress.held_teams) {
    if (held.team != team) continue;
    if (!most || held.share_of_reviews > most->share_of_reviews) most = held;
  }
  return most;
}

std::vector<std::string> TeamFields(const Progress& progress) {
  const std::vector<TeamProgress>& teams = progress.teams;
  if (teams.size() < 2 || progress.updates == 0) return {};
  const bool many = teams.size() > kTeamsOnALine;
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < teams.size(); ++i) {
    if (!many || !IsGpu(teams[i])) fields.push_back(TeamField(progress, i));
  }
  if (many) fields.push_back(GpusField(teams));
  if (progress.beta) fields.push_back(fmt::format("beta {:.2f}", *progress.beta));
  return fields;
}

std::vector<std::string> TeamLines(const Progress& totals) {
  std::vector<std::string> lines;
  if (totals.teams.size() > 1) {
    lines = {ShareLine(totals), BoundsLine(totals), MergingLine(totals)};
  }
  if (totals.lost_rows > 0) {
    lines.push_back(fmt::format(
        "lost      {} row{} of updates that failed when part of them was already in the model",
        Grouped(totals.lost_rows), totals.lost_rows == 1 ? "" : "s"));
  }
  for (const WorkerTotals& worker : totals.workers) {
    if (worker.failure.empty()) continue;
    lines.push_back(fmt::format("failed    {} after {} updates: {}", worker.name,
                                Grouped(worker.updates), worker.failure));
  }
  std::erase(lines, "");
  return lines;
}

}  // namespace hogbatch
