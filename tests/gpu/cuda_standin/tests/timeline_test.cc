#include <set>

#include "tests/gpu/cuda_standin/tests/fixture.h"

namespace hogbatch::standin {
namespace {

class StandinStreams : public Standin {
 protected:
  float* block = Allocate<float>(10);
  float* pinned = AllocatePinned<float>(10);
  cudaStream_t compute = MakeStream();
  cudaStream_t copies = MakeStream();
};

TEST_F(StandinStreams, NothingRunsBeforeTheHostWaits) {
  EXPECT_EQ(Fill(block, 7, 10, compute), cudaSuccess);
  EXPECT_EQ(Download(pinned, block, 10, compute), cudaSuccess);
  EXPECT_NE(pinned[0], 7);
  EXPECT_EQ(cudaStreamSynchronize(compute), cudaSuccess);
  EXPECT_EQ(pinned[0], 7);
  EXPECT_EQ(pinned[9], 7);
  ExpectNoViolation();
}

TEST_F(StandinStreams, WorkOfOneStreamRunsInOrder) {
  for (int i = 0; i < 100; ++i) Fill(block, static_cast<float>(i), 10, compute);
  cudaStreamSynchronize(compute);
  EXPECT_EQ(Read(block, 1)[0], 99);
  ExpectNoViolation();
}

TEST_F(StandinStreams, AnEventOrdersWhatItStandsBetween) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Restart({.seed = seed});
    block = Allocate<float>(10);
    pinned = AllocatePinned<float>(10);
    compute = MakeStream();
    copies = MakeStream();
    Fill(block, 1, 10, compute);
    const cudaEvent_t filled = RecordEvent(compute);
    cudaStreamWaitEvent(copies, filled, 0);
    Download(pinned, block, 10, copies);
    const cudaEvent_t read = RecordEvent(copies);
    cudaStreamWaitEvent(compute, read, 0);
    Fill(block, 2, 10, compute);
    cudaEventDestroy(filled);  // that does not undo the order
    cudaStreamSynchronize(copies);
    EXPECT_EQ(pinned[5], 1) << "with seed " << seed;
    cudaStreamSynchronize(compute);
    ExpectNoViolation();
  }
}

TEST_F(StandinStreams, TwoWritersThatNothingOrdersAreSeenWhateverWasDrawn) {
  std::set<float> last;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Restart({.seed = seed});
    block = Allocate<float>(10);
    compute = MakeStream();
    copies = MakeStream();
    Fill(block, 1, 10, compute);
    Fill(block, 2, 10, copies);
    cudaStreamSynchronize(compute);
    cudaStreamSynchronize(copies);
    last.insert(Read(block, 1)[0]);
    ExpectViolation("and no event orders the two");
  }
  EXPECT_EQ(last.size(), 2u) << "the seeds draw one order only";
}

TEST_F(StandinStreams, AReaderThatNothingOrdersIsSeen) {
  Fill(block, 1, 10, compute);
  Download(pinned, block, 10, copies);
  ExpectViolation("a download on stream 1 of device 0 reads");
}

TEST_F(StandinStreams, AWriterAfterAReaderIsSeenToo) {
  Download(pinned, block, 10, copies);
  Fill(block, 1, 10, compute);
  ExpectViolation("hb_fill on stream 0 of device 0 writes");
}

TEST_F(StandinStreams, AnEventRecordedTooEarlyOrdersNothing) {
  const cudaEvent_t early = RecordEvent(compute);
  Fill(block, 1, 10, compute);
  cudaStreamWaitEvent(copies, early, 0);
  Download(pinned, block, 10, copies);
  ExpectViolation("and no event orders the two");
}

TEST_F(StandinStreams, ReadersNeedNoOrder) {
  Fill(block, 1, 10, compute);
  cudaStreamSynchronize(compute);
  float* other = AllocatePinned<float>(10);
  Download(pinned, block, 10, copies);
  Download(other, block, 10, compute);
  ExpectNoViolation();
}

TEST_F(StandinStreams, WhatTheHostSawTheEndOfIsOrdered) {
  Fill(block, 1, 10, compute);
  cudaStreamSynchronize(compute);
  Fill(block, 2, 10, copies);
  const cudaEvent_t event = RecordEvent(copies);
  while (cudaEventQuery(event) == cudaErrorNotReady) continue;
  Fill(block, 3, 10, compute);
  ExpectNoViolation();
}

TEST_F(StandinStreams, AnEventIsNotReadyBeforeItIs) {
  int refused = 0, at_once = 0;
  for (int i = 0; i < 50; ++i) {
    Fill(block, 1, 10, compute);
    const cudaEvent_t event = RecordEvent(compute);
    if (cudaEventQuery(event) == cudaSuccess) {
      ++at_once;
      continue;
    }
    ++refused;
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady) << "an answer, but kept as an error";
    while (cudaEventQuery(event) == cudaErrorNotReady) continue;
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  }
  EXPECT_GT(refused, 5);
  EXPECT_GT(at_once, 5);
  ExpectNoViolation();
}

TEST_F(StandinStreams, TheHostThatAwaitsAnEventSeesWhatCameBeforeItAndNoMore) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Restart({.seed = seed});
    block = Allocate<float>(10);
    float *first = AllocatePinned<float>(10), *second = AllocatePinned<float>(10);
    compute = MakeStream();
    copies = MakeStream();
    Fill(block, 1, 10, compute);
    cudaStreamWaitEvent(copies, RecordEvent(compute), 0);
    Download(first, block, 10, copies);
    const cudaEvent_t event = RecordEvent(copies);
    Download(second, block, 10, copies);
    EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
    EXPECT_EQ(first[0], 1) << "with seed " << seed;
    EXPECT_NE(second[0], 1) << "with seed " << seed;
    first[0] = 7;  // is the host's again
    cudaStreamSynchronize(copies);
    EXPECT_EQ(first[0], 7);
    EXPECT_EQ(second[0], 1);
    ExpectNoViolation();
  }
}

TEST_F(StandinStreams, WhatWasNotAwaitedIsStillUnderWay) {
  Fill(block, 1, 10, compute);
  const cudaEvent_t event = RecordEvent(compute);
  Fill(block, 2, 10, compute);
  cudaEventSynchronize(event);
  Fill(block, 3, 10, copies);
  ExpectViolation("and no event orders the two");
}

TEST_F(StandinStreams, MemoryOfACopyThatTheHostDidNotAwaitIsNotTheHosts) {
  const cudaEvent_t event = RecordEvent(copies);
  Download(pinned, block, 10, copies);
  cudaEventSynchronize(event);
  pinned[0] = 7;
  cudaStreamSynchronize(copies);
  ExpectViolation("were written to before anybody knew that their download was done");
}

TEST_F(StandinStreams, TheHostDoesNotAwaitWhatWasNeverRecorded) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  ExpectViolation("never recorded");
  EXPECT_EQ(cudaEventSynchronize(reinterpret_cast<cudaEvent_t>(MakeStream())),
            cudaErrorInvalidResourceHandle);
  ExpectViolation("this is no event");
}

TEST_F(StandinStreams, AwaitingWhatWasNeverRecordedIsAMistake) {
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(copies, event, 0), cudaSuccess);
  ExpectViolation("never recorded");
}

TEST_F(StandinStreams, AnEventIsRecordedOnItsOwnDevice) {
  const cudaEvent_t event = RecordEvent(compute);
  cudaSetDevice(1);
  EXPECT_EQ(cudaEventRecord(event, MakeStream()), cudaErrorInvalidResourceHandle);
  ExpectViolation("an event of device 0 is recorded on stream 2 of device 1");
}

TEST_F(StandinStreams, ADestroyedStreamFinishesItsWorkAndTheDeviceKnowsOfIt) {
  Fill(block, 5, 10, compute);
  Download(pinned, block, 10, compute);
  cudaStreamDestroy(compute);
  EXPECT_NE(pinned[0], 5) << "nobody waited";
  cudaFree(Allocate<float>(1));  // waits for all of the device
  EXPECT_EQ(pinned[0], 5);
  Fill(block, 6, 10, copies);
  ExpectNoViolation();
}

}  // namespace
}  // namespace hogbatch::standin
