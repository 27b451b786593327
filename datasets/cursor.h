// Hands out training rows. Every epoch they are cut into blocks, the blocks are shuffled, and
// workers get ranges from the front.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "core/state_visitor.h"

namespace hogbatch {

class Cursor {
 public:
  // Hands out `epochs` (a real number) times the rows [0, rows). Rows already lie in random order;
  // blocks begin at a new random place every epoch, so that the same rows do not always share an
  // update.
  Cursor(std::int64_t rows, double epochs, std::uint64_t seed);

  struct EpochRows {
    RowRange rows;
    std::int64_t epoch = 0;  // the one these rows belong to

    void VisitState(StateVisitor& visitor) {
      Visit(visitor, "rows", rows);
      Visit(visitor, "epoch", epoch);
    }
  };
  // The next range of at most `max_rows` rows, shorter where a block or the epoch ends; none when
  // all is handed out. A remainder of less than half of `grain` rows is handed out with the range
  // before it.
  std::optional<EpochRows> Next(std::int64_t max_rows, std::int64_t grain = 1);

  // The rows up to the end of the present block, which Next hands out at most; 0: none are left.
  std::int64_t NextBlockRows();

  // Rows whose worker failed: they are handed out again before any others.
  void Return(EpochRows lost);

  std::int64_t remaining() const { return remaining_; }  // rows not handed out yet, over all epochs
  std::int64_t handed_out() const { return total_ - remaining_; }
  std::int64_t rows() const { return rows_; }

  // A cursor that hands out another number of epochs goes on from the same place.
  void VisitState(StateVisitor& visitor);

 private:
  void StartEpoch();

  // not state: rows_, seed_, total_
  std::int64_t rows_;
  std::uint64_t seed_;
  std::int64_t total_;  // over all epochs
  std::int64_t remaining_;
  std::int64_t epoch_ = -1;
  std::vector<RowRange> blocks_;  // of this epoch, the next one last
  std::deque<EpochRows> returned_;
};

}  // namespace hogbatch
