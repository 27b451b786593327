#include <algorithm>

#include "tests/gpu/cuda_standin/tests/fixture.h"

namespace hogbatch::standin {
namespace {

class StandinCopies : public Standin {
 protected:
  float* block = Allocate<float>(10);
  float* pinned = AllocatePinned<float>(10);
  cudaStream_t stream = MakeStream();
};

TEST_F(StandinCopies, BytesGoThereAndBack) {
  for (int i = 0; i < 10; ++i) pinned[i] = static_cast<float>(i);
  EXPECT_EQ(Upload(block, pinned, 10, stream), cudaSuccess);
  cudaStreamSynchronize(stream);
  EXPECT_THAT(Read(block + 2, 3), testing::ElementsAre(2, 3, 4));
  ExpectNoViolation();
}

TEST_F(StandinCopies, AnUploadReadsItsSourceWhenItRuns) {
  std::fill_n(pinned, 10, 1.0f);
  Upload(block, pinned, 10, stream);
  pinned[3] = 2;  // too early
  cudaStreamSynchronize(stream);
  EXPECT_EQ(Read(block, 10)[3], 2);
  ExpectViolation("before anybody knew that their upload was done");
}

TEST_F(StandinCopies, ASourceIsFreeOnlyOnceTheHostKnows) {
  std::fill_n(pinned, 10, 1.0f);
  Upload(block, pinned, 10, stream);
  // The work of the other stream runs while the first may, or may not, have run: nobody knows.
  const cudaStream_t other = MakeStream();
  float* more = Allocate<float>(10);
  for (int i = 0; i < 20; ++i) Fill(more, 1, 10, other);
  cudaStreamSynchronize(other);
  pinned[3] = 2;
  cudaStreamSynchronize(stream);
  ExpectViolation("before anybody knew that their upload was done");
}

TEST_F(StandinCopies, ASourceIsFreeOnceItsEventHasCompleted) {
  Upload(block, pinned, 10, stream);
  const cudaEvent_t event = RecordEvent(stream);
  while (cudaEventQuery(event) == cudaErrorNotReady) continue;
  pinned[3] = 2;
  Upload(block, pinned, 10, stream);
  cudaStreamSynchronize(stream);
  EXPECT_EQ(Read(block, 10)[3], 2);
  ExpectNoViolation();
}

TEST_F(StandinCopies, ATargetIsNotTheHostsBeforeItKnows) {
  Fill(block, 1, 10, stream);
  Download(pinned, block, 10, stream);
  pinned[3] = 2;
  cudaStreamSynchronize(stream);
  EXPECT_EQ(pinned[3], 1);
  ExpectViolation("before anybody knew that their download was done");
}

TEST_F(StandinCopies, TwoCopiesThroughOneBufferNeedAnOrder) {
  float* other = Allocate<float>(10);
  Upload(block, pinned, 10, stream);
  Download(pinned, other, 10, MakeStream());
  ExpectViolation("of pinned memory, which an upload on stream 0 of device 0 reads");
}

TEST_F(StandinCopies, OnlyPinnedMemoryIsTaken) {
  std::vector<float> pageable(10);
  EXPECT_EQ(Upload(block, pageable.data(), 10, stream), cudaErrorInvalidValue);
  ExpectViolation("is not pinned");
}

TEST_F(StandinCopies, FreedPinnedMemoryIsNotTaken) {
  cudaFreeHost(pinned);
  EXPECT_EQ(Upload(block, pinned, 10, stream), cudaErrorInvalidValue);
  ExpectViolation("is not pinned");
}

TEST_F(StandinCopies, PinnedMemoryIsNotFreedUnderACopy) {
  Upload(block, pinned, 10, stream);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  ExpectViolation("are freed while a copy that nobody waited for uses them");
}

TEST_F(StandinCopies, NeitherSideIsOverrun) {
  EXPECT_EQ(Upload(block + 1, pinned, 10, stream), cudaErrorIllegalAddress);
  ExpectViolation("the target reaches 4 bytes past 40 bytes");
  block = Allocate<float>(10);
  pinned = AllocatePinned<float>(10);
  stream = MakeStream();
  EXPECT_EQ(Download(pinned + 1, block, 10, stream), cudaErrorInvalidValue);
  ExpectViolation("the host's side reaches past 40 bytes");
}

TEST_F(StandinCopies, TheDirectionMustBeRight) {
  EXPECT_EQ(cudaMemcpyAsync(pinned, block, 4, cudaMemcpyHostToDevice, stream),
            cudaErrorInvalidValue);
  ExpectViolation("is not pinned");
}

TEST_F(StandinCopies, FreedMemoryIsNotReached) {
  cudaFree(block);
  EXPECT_EQ(Upload(block, pinned, 10, stream), cudaErrorIllegalAddress);
  ExpectViolation("lies in freed 40 bytes");
}

TEST_F(StandinCopies, MemoryOfAnotherDeviceIsNotReached) {
  cudaSetDevice(1);
  EXPECT_EQ(Upload(block, pinned, 10, MakeStream()), cudaErrorIllegalAddress);
  ExpectViolation("of device 0, the work is device 1's");
}

TEST_F(StandinCopies, FreeingWaitsForTheWorkOfTheDevice) {
  Fill(block, 3, 10, stream);
  Download(pinned, block, 10, stream);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(pinned[0], 3);
  ExpectNoViolation();
}

}  // namespace
}  // namespace hogbatch::standin
