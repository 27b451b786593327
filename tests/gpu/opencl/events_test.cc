// Events of a driver: when they come, and who waits for them.
#include <algorithm>
#include <string>

#include "gpu/opencl/driver.h"
#include "tests/gpu/opencl/devices.h"
#include "tests/gpu/opencl/queued_work.h"

namespace hogbatch::opencl {
namespace {

using gpu::Stream;

class OpenClEvents : public OnOpenCl {
 protected:
  void SetUp() override {
    OnOpenCl::SetUp();
    if (!IsSkipped()) driver_ = MakeDriver(device().info);
  }
  gpu::Driver& driver() { return *driver_; }
  // One that comes, or fails, when the test says so; in the context of the block.
  static cl_event MakeUserEvent(const Block& block) {
    cl_context context = nullptr;
    cl_int code = clGetMemObjectInfo(static_cast<cl_mem>(block.address()), CL_MEM_CONTEXT,
                                     sizeof(context), &context, nullptr);
    EXPECT_EQ(code, CL_SUCCESS);
    const cl_event event = clCreateUserEvent(context, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return event;
  }

 private:
  std::unique_ptr<gpu::Driver> driver_;
};

TEST_F(OpenClEvents, TellsWhenAnEventHasCompleted) {
  const Block block(driver(), 1000, 1000);
  for (int i = 0; i < 20; ++i) Fill(driver(), block.tensor(), 1);
  const gpu::Event event = driver().Record(Stream::kCompute);
  driver().HasCompleted(event);  // either answer is right
  driver().Synchronize();
  EXPECT_TRUE(driver().HasCompleted(event));
  driver().Release(event);
}

TEST_F(OpenClEvents, WaitsForAnEvent) {
  const Block block(driver(), 1000, 1000);
  const Pinned received(driver(), 1000000);
  for (int i = 1; i <= 20; ++i) Fill(driver(), block.tensor(), static_cast<float>(i));
  Order(driver(), Stream::kCompute, Stream::kDownload);
  driver().Download(block.address(), 0, received.values().data(), block.bytes());
  const gpu::Event event = driver().Record(Stream::kDownload);
  driver().Synchronize(event);
  EXPECT_TRUE(driver().HasCompleted(event));
  EXPECT_EQ(std::ranges::count(received.values(), 20.0f), 1000000);
  driver().Synchronize(event);  // again, at once
  driver().Release(event);
}

// The work waits for an event of the test's own: a call that waits for other work waits for ever.
TEST_F(OpenClEvents, DoesNotWaitForWhatAnEventDoesNotCover) {
  const Block block(driver(), 1, 8), other(driver(), 1, 8);
  const Pinned received(driver(), 8);
  Fill(driver(), block.tensor(), 2);
  Order(driver(), Stream::kCompute, Stream::kDownload);
  driver().Download(block.address(), 0, received.values().data(), block.bytes());
  const gpu::Event event = driver().Record(Stream::kDownload);
  const cl_event gate = MakeUserEvent(block);
  for (const Stream stream : {Stream::kCompute, Stream::kUpload, Stream::kDownload}) {
    driver().Await(stream, gate);
  }
  Fill(driver(), other.tensor(), 1);
  const gpu::Event later = driver().Record(Stream::kCompute);
  driver().Synchronize(event);
  EXPECT_EQ(received.values()[7], 2);
  EXPECT_FALSE(driver().HasCompleted(later));
  clSetUserEventStatus(gate, CL_COMPLETE);
  driver().Synchronize(later);
  EXPECT_TRUE(driver().HasCompleted(later));
  for (const gpu::Event each : {event, later, gpu::Event{gate}}) driver().Release(each);
  driver().Synchronize();
}

TEST_F(OpenClEvents, TellsWhyAnEventWillNotCome) {
  const Block block(driver(), 1, 8);
  const cl_event failed = MakeUserEvent(block);
  clSetUserEventStatus(failed, CL_INVALID_OPERATION);
  const auto sentence = SentenceOf<DeviceError>([&] { driver().Synchronize(failed); });
  EXPECT_NE(sentence.find("a queued command failed: CL_INVALID_OPERATION"), std::string::npos)
      << sentence;
  driver().Release(failed);
}

}  // namespace
}  // namespace hogbatch::opencl
