#include "cli/reports/team_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/reports/live_line.h"
#include "core/text.h"

namespace hogbatch {
namespace {

constexpr std::size_t kTeamsOnALine = 3;
constexpr double kRarelyBound = 0.1;  // of the reviews: the size is changing, not held
constexpr double kUneven = 0.1;       // from an equal share of the updates

// A whole percentage. 0 % and 100 % are shown only if they are exact.
std::string Percent(double share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return fmt::format("{:.0f}%", 100 * share);
}

// " (max)" for a team at a bound that held it. At the end of a block its latest update may be a
// little larger or smaller than the bound.
std::string Mark(const Progress& progress, TeamId team) {
  const std::int64_t rows = progress.teams[team].batch_size;
  for (const BoundTeam& bound : progress.bound_teams) {
    if (bound.team != team) continue;
    if (bound.by == BoundTeam::By::kMin ? rows <= bound.batch_size : rows >= bound.batch_size) {
      return fmt::format(" ({})", Name(bound.by));
    }
  }
  return "";
}

std::string TeamField(const Progress& progress, TeamId id) {
  const TeamProgress& team = progress.teams[id];
  std::string field = fmt::format("{} {}", team.name, Percent(team.update_share));
  if (team.batch_size > 0) field += fmt::format(" x{}", team.batch_size);
  return field + Mark(progress, id);
}

bool IsGpu(const TeamProgress& team) { return team.kind != DeviceKind::kCpu; }

// "8 GPUs 88% x512-2048", for more GPUs than a line holds.
std::string GpusField(const IndexedVector<TeamId, TeamProgress>& teams) {
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
    each.push_back(fmt::format("{} {} ({})", team.name, Plural(team.updates, "update", "updates"),
                               Percent(team.update_share)));
    if (team.updates == 0) continue;
    // A run's rates are over the time it trained.
    const double rows = team.rows_per_second * totals.train_seconds;
    const auto mean = std::llround(rows / static_cast<double>(team.updates));
    each.back() += fmt::format(" of {} on average, {} rows/s", Plural(mean, "row", "rows"),
                               ShortCount(team.rows_per_second));
  }
  return fmt::format("teams     {}", fmt::join(each, "; "));
}

// With --beta below 1 the algorithm evens counted updates, not all updates.
bool Uneven(const Progress& totals) {
  const double equal = 1.0 / static_cast<double>(totals.teams.size());
  return std::ranges::any_of(totals.bound_teams, [&](const BoundTeam& bound) {
    return std::abs(bound.count_share - equal) > kUneven;
  });
}

std::string BoundText(const BoundTeam& bound, const TeamProgress& team) {
  const std::string percent = fmt::format("in {} of its reviews", Percent(bound.share_of_reviews));
  if (bound.by == BoundTeam::By::kMemory) {
    return fmt::format("{} was limited to {} rows by its memory {}", team.name,
                       Grouped(bound.batch_size), percent);
  }
  return fmt::format("{} was limited by --{} {} {} {}", team.name,
                     IsGpu(team) ? "gpu-batch" : "cpu-batch", Name(bound.by), bound.batch_size,
                     percent);
}

// The option that would move the bound; empty for memory and for a single row.
std::string Remedy(const BoundTeam& bound, const TeamProgress& team) {
  const bool at_max = bound.by == BoundTeam::By::kMax;
  if (bound.by == BoundTeam::By::kMemory || (!at_max && bound.batch_size == 1)) return "";
  return fmt::format("{} of --{}", at_max ? "raise the maximum" : "lower the minimum",
                     IsGpu(team) ? "gpu-batch" : "cpu-batch");
}

std::string BoundsLine(const Progress& totals) {
  std::vector<std::string> bounds;
  std::vector<std::string> ways;
  for (const TeamId id : totals.teams.ids()) {
    const std::optional<BoundTeam> bound = MostBound(totals, id);
    if (!bound || bound->share_of_reviews < kRarelyBound) continue;
    bounds.push_back(BoundText(*bound, totals.teams[id]));
    const std::string way = Remedy(*bound, totals.teams[id]);
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

std::string_view Name(BoundTeam::By by) {
  switch (by) {
    case BoundTeam::By::kMin:
      return "min";
    case BoundTeam::By::kMax:
      return "max";
    case BoundTeam::By::kMemory:
      break;
  }
  return "memory";
}

std::optional<BoundTeam> MostBound(const Progress& progress, TeamId team) {
  std::optional<BoundTeam> most;
  for (const BoundTeam& bound : progress.bound_teams) {
    if (bound.team != team) continue;
    if (!most || bound.share_of_reviews > most->share_of_reviews) most = bound;
  }
  return most;
}

std::vector<std::string> TeamFields(const Progress& progress) {
  const IndexedVector<TeamId, TeamProgress>& teams = progress.teams;
  if (teams.size() < 2 || progress.updates == 0) return {};
  const bool many = teams.size() > kTeamsOnALine;
  std::vector<std::string> fields;
  for (const TeamId id : teams.ids()) {
    if (!many || !IsGpu(teams[id])) fields.push_back(TeamField(progress, id));
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
        "lost      {} of updates that failed when part of them was already in the model",
        Plural(totals.lost_rows, "row", "rows")));
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
