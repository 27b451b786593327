#include "gpu/stream_order.h"

#include <gtest/gtest.h>

#include "tests/gpu/recording_driver.h"

namespace hogbatch::gpu {
namespace {

using Calls = std::vector<std::string>;

class Order : public testing::Test {
 protected:
  Order() {
    for (int& block : blocks_) order_.Add(&block);
  }
  void Use(Stream stream, int block) { order_.Use(stream, &blocks_[block]); }
  // A copy is followed by its event.
  StreamOrder::Mark Copy(Stream stream, int block) {
    Use(stream, block);
    return order_.Close(stream);
  }

  RecordingDriver driver_;
  int blocks_[3] = {};
  StreamOrder order_{driver_};
};

TEST_F(Order, WorkOfOneStreamNeedsNoEvents) {
  for (int i = 0; i < 5; ++i) Use(Stream::kCompute, i % 3);
  EXPECT_EQ(driver_.Take(), Calls{});
}

TEST_F(Order, ComputingAwaitsTheUploadOfWhatItReads) {
  Copy(Stream::kUpload, 0);
  Use(Stream::kCompute, 0);
  EXPECT_EQ(driver_.Take(), (Calls{"record upload 1", "compute awaits 1"}));
}

TEST_F(Order, AnEventIsAwaitedOnce) {
  Copy(Stream::kUpload, 0);
  Copy(Stream::kUpload, 1);
  Use(Stream::kCompute, 1);
  driver_.Take();
  Use(Stream::kCompute, 1);
  Use(Stream::kCompute, 0);  // its upload came before that of 1
  EXPECT_EQ(driver_.Take(), Calls{});
}

TEST_F(Order, BlocksThatNobodyElseTouchesAreNotAwaited) {
  Use(Stream::kCompute, 0);
  Copy(Stream::kUpload, 1);
  Copy(Stream::kDownload, 2);
  EXPECT_EQ(driver_.Take(), (Calls{"record compute 1", "record upload 2", "record download 3"}));
}

TEST_F(Order, AnUploadAwaitsTheComputingThatReadsItsBlock) {
  Use(Stream::kCompute, 0);
  Copy(Stream::kUpload, 0);
  EXPECT_EQ(driver_.Take(), (Calls{"record compute 1", "upload awaits 1", "record upload 2"}));
}

TEST_F(Order, AnUploadAwaitsTheDownloadOfWhatItOverwrites) {
  Copy(Stream::kDownload, 0);
  Copy(Stream::kUpload, 0);
  EXPECT_EQ(driver_.Take(), (Calls{"record download 1", "upload awaits 1", "record upload 2"}));
}

// The first batch is computed from block 0 and the second from block 1. The third travels into
// block 0 while the second computes.
TEST_F(Order, ATransferAwaitsOnlyWhatWasComputedBeforeTheTransferBefore) {
  Use(Stream::kCompute, 0);
  Copy(Stream::kUpload, 1);
  Use(Stream::kCompute, 1);
  driver_.Take();
  Copy(Stream::kUpload, 0);
  const Calls calls = driver_.Take();
  EXPECT_EQ(calls, (Calls{"record compute 3", "upload awaits 1", "record upload 4"}));
}

TEST_F(Order, EventsThatHaveComeAreReleasedAndNotAwaited) {
  const StreamOrder::Mark mark = Copy(Stream::kUpload, 0);
  EXPECT_FALSE(order_.HasCompleted(Stream::kUpload, mark));
  order_.PollEvents();
  EXPECT_FALSE(order_.HasCompleted(Stream::kUpload, mark));
  driver_.come = {1};
  driver_.Take();
  order_.PollEvents();
  EXPECT_TRUE(order_.HasCompleted(Stream::kUpload, mark));
  Use(Stream::kCompute, 0);
  EXPECT_EQ(driver_.Take(), (Calls{"release 1"}));
}

TEST_F(Order, LaterEventsDoNotComeBeforeEarlierOnes) {
  Copy(Stream::kUpload, 0);
  const StreamOrder::Mark second = Copy(Stream::kUpload, 1);
  driver_.come = {2};
  order_.PollEvents();
  EXPECT_FALSE(order_.HasCompleted(Stream::kUpload, second));
  driver_.come = {1, 2};
  order_.PollEvents();
  EXPECT_TRUE(order_.HasCompleted(Stream::kUpload, second));
  const StreamOrder::Mark third = Copy(Stream::kUpload, 2);
  EXPECT_GT(third, second);
  EXPECT_FALSE(order_.HasCompleted(Stream::kUpload, third));
}

TEST_F(Order, NothingIsAwaitedThatWasDoneBeforeTheDeviceWasIdle) {
  Copy(Stream::kUpload, 0);
  Use(Stream::kCompute, 1);
  order_.SetAllCompleted();
  EXPECT_EQ(driver_.Take(), (Calls{"record upload 1", "release 1"}));
  Use(Stream::kCompute, 0);
  Copy(Stream::kDownload, 1);
  EXPECT_EQ(driver_.Take(), (Calls{"record compute 2", "record download 3"}));
  Copy(Stream::kUpload, 0);  // but what came after is
  EXPECT_EQ(driver_.Take(), (Calls{"upload awaits 2", "record upload 4"}));
}

TEST_F(Order, AMarkOfAllStreamsTakesEventsWhereThereWasWork) {
  order_.CloseAll();
  EXPECT_EQ(driver_.Take(), Calls{}) << "nothing is queued";
  Copy(Stream::kUpload, 0);
  Use(Stream::kCompute, 1);
  driver_.Take();
  order_.CloseAll();
  EXPECT_EQ(driver_.Take(), Calls{"record compute 2"}) << "a copy has its event";
  order_.CloseAll();
  EXPECT_EQ(driver_.Take(), Calls{}) << "nothing came after";
}

TEST_F(Order, WaitingForAMarkWaitsForAllBeforeItAndForNothingAfter) {
  Copy(Stream::kUpload, 0);
  Copy(Stream::kUpload, 1);
  Use(Stream::kCompute, 2);
  const StreamOrder::Mark download = Copy(Stream::kDownload, 2);
  const StreamOrder::Marks marks = order_.CloseAll();
  const StreamOrder::Mark later = Copy(Stream::kDownload, 0);
  Use(Stream::kCompute, 1);
  order_.Close(Stream::kCompute);
  driver_.Take();
  order_.WaitFor(marks);
  EXPECT_EQ(driver_.Take(), (Calls{"host awaits 3", "release 3", "host awaits 2", "host awaits 1",
                                   "release 1", "release 2", "host awaits 4", "release 4"}));
  EXPECT_TRUE(order_.HasCompleted(Stream::kDownload, download));
  EXPECT_FALSE(order_.HasCompleted(Stream::kDownload, later));
}

TEST_F(Order, AMarkThatHasComeIsNotWaitedFor) {
  Copy(Stream::kUpload, 0);
  const StreamOrder::Marks first = order_.CloseAll();
  Copy(Stream::kUpload, 1);
  const StreamOrder::Marks second = order_.CloseAll();
  order_.WaitFor(second);
  driver_.Take();
  order_.WaitFor(first);
  order_.WaitFor(second);
  EXPECT_EQ(driver_.Take(), Calls{});
  Copy(Stream::kUpload, 0);
  const StreamOrder::Marks third = order_.CloseAll();
  order_.SetAllCompleted();
  driver_.Take();
  order_.WaitFor(third);
  EXPECT_EQ(driver_.Take(), Calls{}) << "the device was idle since";
}

TEST_F(Order, MemoryOfAnotherDeviceIsRefused) {
  int other = 0;
  EXPECT_THROW(order_.Use(Stream::kCompute, &other), Error);
  order_.Remove(&blocks_[0]);
  EXPECT_THROW(Use(Stream::kCompute, 0), Error);
}

TEST(OrderAtItsEnd, ReleasesEveryEvent) {
  RecordingDriver driver;
  {
    StreamOrder order(driver);
    int block = 0;
    order.Add(&block);
    for (Stream stream : {Stream::kUpload, Stream::kCompute, Stream::kDownload}) {
      order.Use(stream, &block);
      order.Close(stream);
    }
    driver.Take();
  }
  EXPECT_EQ(driver.Take().size(), 3u);
}

}  // namespace
}  // namespace hogbatch::gpu
