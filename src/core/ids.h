// Names of things that messages carry by value.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "core/state_visitor.h"

namespace hogbatch {

// A number that names one of a kind, counted from 0. Ids of different kinds do not mix, and an id
// does not become a number by itself. core/indexed_vector.h is a vector that is indexed by ids.
template <typename Kind>
class Id {
 public:
  constexpr Id() = default;
  constexpr Id(std::integral auto number) : number_(static_cast<std::int32_t>(number)) {}

  constexpr explicit operator std::size_t() const { return static_cast<std::size_t>(number_); }
  constexpr auto operator<=>(const Id&) const = default;
  void VisitState(StateVisitor& visitor) { Visit(visitor, "id", number_); }

  template <typename Stream>
  friend Stream& operator<<(Stream& out, Id id) {
    out << id.number_;
    return out;
  }

 private:
  std::int32_t number_ = 0;
};

using WorkerId = Id<struct WorkerKind>;
using TeamId = Id<struct TeamKind>;
using SnapshotId = Id<struct SnapshotKind>;
using JobId = Id<struct JobKind>;
using TaskId = std::int64_t;  // a count, never an index

// Rows [begin, end) of a data set, in its stored order.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
  void VisitState(StateVisitor& visitor) {
    Visit(visitor, "begin", begin);
    Visit(visitor, "end", end);
  }
};

// Part `index` of `parts` nearly equal pieces: sizes differ by at most one row, so no tail is left
// over.
inline RowRange Part(RowRange rows, std::int64_t index, std::int64_t parts) {
  return {rows.begin + rows.size() * index / parts, rows.begin + rows.size() * (index + 1) / parts};
}

// The rows of a job: to learn from, to choose the best model by, and to test the result on.
enum class Split : std::uint8_t { kTrain, kValid, kTest };

}  // namespace hogbatch
