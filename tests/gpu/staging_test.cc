#include "gpu/staging.h"

#include <gtest/gtest.h>

#include "tests/gpu/recording_driver.h"

namespace hogbatch::gpu {
namespace {

using Calls = std::vector<std::string>;

class StagingMemory : public testing::Test {
 protected:
  StagingMemory() { order_.Add(&block_); }

  Staging::Chunk& TakeOne(std::size_t bytes) {
    const auto chunks = staging_.Take(bytes);
    EXPECT_EQ(chunks.size(), 1u);
    EXPECT_EQ(chunks.front()->bytes(), bytes);
    return *chunks.front();
  }
  // Queues its transfer; events are numbered from 1.
  void Send(Staging::Chunk& chunk) {
    order_.Use(Stream::kUpload, &block_);
    staging_.ReturnAt(chunk, Stream::kUpload, order_.Close(Stream::kUpload));
  }

  RecordingDriver driver_;
  int block_ = 0;
  StreamOrder order_{driver_};
  Staging staging_{driver_, order_};
};

TEST_F(StagingMemory, ComesInPowersOfTwoFrom64KiB) {
  for (const std::size_t bytes : {1, 65536, 65537, 1000000}) TakeOne(bytes);
  EXPECT_EQ(driver_.Take(), (Calls{"pin 65536", "pin 65536", "pin 131072", "pin 1048576"}));
}

TEST_F(StagingMemory, IsUsedAgainWhenItsTransferHasEndedAndNotBefore) {
  Staging::Chunk& first = TakeOne(100);
  Send(first);
  Staging::Chunk& second = TakeOne(100);
  EXPECT_NE(first.memory(), second.memory());
  Send(second);
  driver_.come = {1};
  EXPECT_EQ(TakeOne(50).memory(), first.memory());
  driver_.come = {1, 2};
  EXPECT_EQ(TakeOne(50).memory(), second.memory());
}

TEST_F(StagingMemory, IsTheCallersUntilItIsReturned) {
  Staging::Chunk& first = TakeOne(100);
  order_.SetAllCompleted();
  Staging::Chunk& second = TakeOne(100);
  EXPECT_NE(first.memory(), second.memory());
  staging_.Return(first);
  EXPECT_EQ(TakeOne(100).memory(), first.memory());
}

TEST_F(StagingMemory, IsNotUsedForOtherSizes) {
  Staging::Chunk& small = TakeOne(100);
  staging_.Return(small);
  EXPECT_NE(TakeOne(70000).memory(), small.memory());
}

TEST_F(StagingMemory, OfALargeTransferComesInPieces) {
  const auto chunks = staging_.Take(2 * Staging::kLargest + 5);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0]->bytes(), Staging::kLargest);
  EXPECT_EQ(chunks[1]->bytes(), Staging::kLargest);
  EXPECT_EQ(chunks[2]->bytes(), 5u);
}

TEST_F(StagingMemory, OfNothingIsNone) {
  EXPECT_TRUE(staging_.Take(0).empty());
  EXPECT_EQ(driver_.Take(), Calls{});
}

TEST_F(StagingMemory, MakesRoomWithFreeChunksWhenMemoryIsShort) {
  driver_.most_pinned = 200000;
  staging_.Return(TakeOne(60000));
  Staging::Chunk& held = TakeOne(100);
  held.memory()[0] = std::byte{7};
  TakeOne(130000);  // 131072 more bytes than 200000 allow, unless the free chunk goes
  EXPECT_EQ(held.memory()[0], std::byte{7});
  EXPECT_THROW(TakeOne(70000), OutOfDeviceMemory);
  staging_.Return(held);
  EXPECT_EQ(TakeOne(100).memory(), held.memory()) << "after a failure it works on";
}

TEST_F(StagingMemory, OfATransferThatDoesNotFitIsNotKept) {
  driver_.most_pinned = 3 * Staging::kLargest / 2;
  EXPECT_THROW(staging_.Take(2 * Staging::kLargest), OutOfDeviceMemory);
  driver_.Take();
  EXPECT_EQ(staging_.Take(Staging::kLargest).size(), 1u);
  EXPECT_EQ(driver_.Take(), Calls{}) << "the first piece was free again";
}

TEST(StagingAtItsEnd, GivesAllMemoryBack) {
  RecordingDriver driver;
  StreamOrder order(driver);
  {
    Staging staging(driver, order);
    staging.Take(100);
    staging.Return(*staging.Take(1000000).front());
    EXPECT_GT(driver.pinned, 0u);
  }
  EXPECT_EQ(driver.pinned, 0u);
}

}  // namespace
}  // namespace hogbatch::gpu
