#include "datasets/cursor.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace hogbatch {
namespace {

std::int64_t CountRows(std::int64_t rows, double epochs) {
  constexpr double kMost = 0x1p62;
  return static_cast<std::int64_t>(
      std::min(kMost, std::round(static_cast<double>(rows) * std::max(epochs, 0.0))));
}

// No update is larger than a block, so blocks are large; rows lie in random order anyway.
std::int64_t BlockSize(std::int64_t rows) {
  return std::clamp<std::int64_t>(rows / 8, 1024, 65536);
}

// Takes a range off the front of `rows`, and a remainder too small to be an update with it.
RowRange TakeFront(RowRange& rows, std::int64_t max_rows, std::int64_t grain) {
  RowRange front{rows.begin, std::min(rows.end, rows.begin + max_rows)};
  if (2 * (rows.end - front.end) < grain) front.end = rows.end;
  rows.begin = front.end;
  return front;
}

}  // namespace

Cursor::Cursor(std::int64_t rows, double epochs, std::uint64_t seed)
    : rows_(rows), seed_(seed), total_(CountRows(rows, epochs)), remaining_(total_) {
  Check(rows >= 0, "a cursor has rows");
}

std::optional<Cursor::EpochRows> Cursor::Next(std::int64_t max_rows, std::int64_t grain) {
  Check(max_rows > 0, "a range has at least one row");
  if (remaining_ <= 0) return std::nullopt;
  EpochRows next;
  if (!returned_.empty()) {
    next.epoch = returned_.front().epoch;
    next.rows = TakeFront(returned_.front().rows, max_rows, grain);
    if (returned_.front().rows.size() == 0) returned_.pop_front();
  } else {
    if (blocks_.empty()) StartEpoch();
    // The last epoch may be a fraction and end within a block.
    RowRange& block = blocks_.back();
    RowRange wanted{block.begin, std::min(block.end, block.begin + remaining_)};
    next.epoch = epoch_;
    next.rows = TakeFront(wanted, max_rows, grain);
    block.begin = wanted.begin;
    if (block.size() == 0) blocks_.pop_back();
  }
  remaining_ -= next.rows.size();
  return next;
}

std::int64_t Cursor::NextBlockRows() {
  if (remaining_ <= 0) return 0;
  if (!returned_.empty()) return returned_.front().rows.size();
  if (blocks_.empty()) StartEpoch();
  return std::min(blocks_.back().size(), remaining_);
}

void Cursor::Return(EpochRows lost) {
  if (lost.rows.size() == 0) return;
  remaining_ += lost.rows.size();
  returned_.push_back(lost);
}

void Cursor::VisitState(StateVisitor& visitor) {
  std::int64_t handed_out = total_ - remaining_;
  Visit(visitor, "handed_out", handed_out);
  RequireState(handed_out >= 0, "handed_out");
  remaining_ = std::max<std::int64_t>(0, total_ - handed_out);
  Visit(visitor, "epoch", epoch_);
  Visit(visitor, "blocks", blocks_);
  Visit(visitor, "returned", returned_);
  RequireState(epoch_ >= -1, "epoch");
  const auto is_inside = [&](RowRange rows) {
    return rows.begin >= 0 && rows.begin < rows.end && rows.end <= rows_;
  };
  RequireState(std::ranges::all_of(blocks_, is_inside), "blocks");
  RequireState(std::ranges::all_of(returned_, is_inside, &EpochRows::rows), "returned");
}

void Cursor::StartEpoch() {
  ++epoch_;
  Random random(seed_, static_cast<std::uint64_t>(epoch_));
  const std::int64_t size = BlockSize(rows_);
  const std::int64_t phase = random.Below(size);
  // Pieces at both ends that are less than half a block go with their neighbours, or they would
  // make small updates.
  std::vector<RowRange> blocks;
  std::int64_t begin = 0;
  for (std::int64_t end = phase; begin < rows_; end += size) {
    if (2 * (end - begin) < size) continue;
    if (2 * (rows_ - end) < size) end = rows_;
    blocks.push_back({begin, end});
    begin = end;
  }
  for (const std::int64_t i : random.Permutation(static_cast<std::int64_t>(blocks.size()))) {
    blocks_.push_back(blocks[i]);
  }
}

}  // namespace hogbatch
