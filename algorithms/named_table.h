// Tables whose rows have a name and a summary: those of algorithms and of schedulers.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace hogbatch {

template <typename Row>
std::vector<std::string> NamesIn(std::span<const Row> table) {
  std::vector<std::string> names;
  for (const Row& row : table) names.emplace_back(row.name);
  return names;
}

// UserError, which says `what` the rows are, for an unknown name.
template <typename Row>
const Row& FindIn(std::span<const Row> table, std::string_view what, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Row::name);
  if (found != table.end()) return *found;
  throw UserError(fmt::format("there is no {} '{}'; there are: {}", what, name,
                              fmt::join(NamesIn(table), ", ")));
}

// For --help: "fifo: jobs run in order of arrival; …".
template <typename Row>
std::string SummariesIn(std::span<const Row> table) {
  std::vector<std::string> all;
  for (const Row& row : table) all.push_back(fmt::format("{}: {}", row.name, row.summary));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace hogbatch
