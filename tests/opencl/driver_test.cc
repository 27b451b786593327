#include "gpu/opencl/driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "core/random.h"
#include "tests/opencl/devices.h"
#include "tests/opencl/queued_work.h"

namespace hogbatch::opencl {
namespace {

using gpu::Product;
using gpu::Stream;

class OpenClDriver : public OnOpenCl {
 protected:
  void SetUp() override {
    OnOpenCl::SetUp();
    if (!IsSkipped()) driver_ = MakeDriver(device().info);
  }
  gpu::Driver& driver() { return *driver_; }

 private:
  std::unique_ptr<gpu::Driver> driver_;
};

TEST_F(OpenClDriver, NamesDeviceCallAndReasonOfAFailure) {
  const std::string sentence =
      SentenceOf<DeviceError>([&] { driver().Launch({gpu::Kernel::hb_fill, 1, {}, {}}); });
  EXPECT_EQ(sentence,
            "opencl.0 (" + device().hardware_name +
                "): clEnqueueNDRangeKernel of hb_fill failed: CL_INVALID_KERNEL_ARGS (-52)");
}

TEST_F(OpenClDriver, RefusesMemoryBeyondTheDevices) {
  const auto all = static_cast<std::size_t>(driver().info().memory_bytes);
  for (const std::size_t bytes : {all + 1, std::numeric_limits<std::size_t>::max()}) {
    const std::string sentence = SentenceOf<OutOfDeviceMemory>([&] { driver().Allocate(bytes); });
    EXPECT_NE(sentence.find("opencl.0 (" + device().hardware_name + "): no memory for"),
              std::string::npos)
        << sentence;
  }
  const Block block(driver(), 1, 8);  // and is still usable
  Fill(driver(), block.tensor(), 3);
  EXPECT_EQ(Fetch(driver(), block), std::vector<float>(8, 3));
}

// Also where memory is only taken when it is used.
TEST_F(OpenClDriver, RefusesMemoryThatIsInUse) {
  const auto tenth = static_cast<std::size_t>(driver().info().memory_bytes) / 10;
  std::vector<void*> blocks;
  const std::string sentence = SentenceOf<OutOfDeviceMemory>([&] {
    while (blocks.size() <= 10) blocks.push_back(driver().Allocate(tenth));
  });
  EXPECT_NE(sentence.find("no memory for"), std::string::npos) << sentence;
  for (void* block : blocks) driver().Free(block);
  driver().Free(driver().Allocate(tenth));
}

TEST_F(OpenClDriver, RefusesABlockBeyondTheLargest) {
  cl_ulong largest = 0;
  ASSERT_EQ(clGetDeviceInfo(device().id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest,
                            nullptr),
            CL_SUCCESS);
  if (largest >= static_cast<cl_ulong>(driver().info().memory_bytes)) {
    GTEST_SKIP() << "all of its memory may be one block";
  }
  const std::string sentence =
      SentenceOf<OutOfDeviceMemory>([&] { driver().Allocate(largest + 1); });
  EXPECT_NE(sentence.find("CL_INVALID_BUFFER_SIZE (-61)"), std::string::npos) << sentence;
}

TEST_F(OpenClDriver, MayBeDestroyedWithWorkQueued) {
  gpu::Driver& busy = driver();
  void* const block = busy.Allocate(4000000);
  for (int i = 0; i < 50; ++i) {
    Fill(busy, Tensor::Matrix({block, 0, 1000000}, 1000, 1000), 1);
  }
  busy.Free(block);
}

// Every step's three pieces run on three queues, and only events keep them in order: what is
// uploaded is used after it came, downloaded after it was computed, and its place is taken again
// after that. Large enough for one queue to overtake another.
void ExpectOrderedPipeline(gpu::Driver& driver, float sign) {
  constexpr int kSteps = 60;
  constexpr std::int64_t kSize = 300000;
  const Block input(driver, 1, kSize), sum(driver, 1, kSize), output(driver, 1, kSize);
  std::vector<std::unique_ptr<Pinned>> sent, received;
  for (int i = 0; i < kSteps; ++i) {
    sent.push_back(std::make_unique<Pinned>(driver, kSize));
    received.push_back(std::make_unique<Pinned>(driver, kSize));
    std::ranges::fill(sent[i]->values(), sign * static_cast<float>(i + 1));
    std::ranges::fill(received[i]->values(), 0.0f);
  }
  Fill(driver, sum.tensor(), 0);
  for (int i = 0; i < kSteps; ++i) {
    Order(driver, Stream::kCompute, Stream::kUpload);  // the last step has read `input`
    driver.Upload(sent[i]->values().data(), input.address(), 0, input.bytes());
    Order(driver, Stream::kUpload, Stream::kCompute);
    AddScaled(driver, input.tensor(), 1, 1, sum.tensor());
    Order(driver, Stream::kDownload, Stream::kCompute);  // the last step has left `output`
    AddScaled(driver, sum.tensor(), 2, 0, output.tensor());
    Order(driver, Stream::kCompute, Stream::kDownload);
    driver.Download(output.address(), 0, received[i]->values().data(), output.bytes());
  }
  driver.Synchronize();
  for (int i = 0; i < kSteps; ++i) {
    const auto expected = sign * static_cast<float>((i + 1) * (i + 2));
    const auto wrong =
        std::ranges::find_if(received[i]->values(), [&](float v) { return v != expected; });
    ASSERT_EQ(wrong, received[i]->values().end()) << "step " << i << " got " << *wrong;
  }
}

TEST_F(OpenClDriver, OrdersItsQueuesByEvents) {
  for (int round = 0; round < 2; ++round) ExpectOrderedPipeline(driver(), 1);
}

TEST_F(OpenClDriver, WorksBesideAnotherOfTheSameDevice) {
  std::jthread other([info = device().info] {
    const std::unique_ptr<gpu::Driver> second = MakeDriver(info);
    for (int round = 0; round < 2; ++round) ExpectOrderedPipeline(*second, -1);
  });
  for (int round = 0; round < 2; ++round) ExpectOrderedPipeline(driver(), 1);
}

// The end of a driver takes CLBlast's compiled kernels with it, also those that another one uses.
TEST_F(OpenClDriver, MayEndWhileAnotherMultiplies) {
  const auto expect_products = [](gpu::Driver& multiplying, int products) {
    const Block ones(multiplying, 20, 20), result(multiplying, 20, 20);
    Fill(multiplying, ones.tensor(), 1);
    for (int i = 0; i < products; ++i) {
      multiplying.Multiply({.rows = 20,
                            .cols = 20,
                            .inner = 20,
                            .a = ones.tensor(),
                            .b = ones.tensor(),
                            .c = result.tensor()});
    }
    EXPECT_EQ(Fetch(multiplying, result), std::vector<float>(400, 20));
  };
  std::jthread other([&, info = device().info] {
    for (int i = 0; i < 10; ++i) expect_products(*MakeDriver(info), 3);
  });
  for (int i = 0; i < 100; ++i) expect_products(driver(), 10);
}

// Where a matrix of a product lies: behind some floats, in wider rows.
struct Placed {
  Block block;
  Tensor tensor;

  Placed(gpu::Driver& driver, std::int64_t rows, std::int64_t cols)
      : block(driver, rows + 1, cols + 3),
        tensor{{block.address(), 5, rows * (cols + 3)}, rows, cols, cols + 3} {}
  static std::int64_t At(std::int64_t row, std::int64_t col, std::int64_t cols) {
    return 5 + row * (cols + 3) + col;
  }
};

// Small whole numbers: their products and sums are exact in float, in any order.
std::vector<float> WholeNumbers(const Block& block, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(block.bytes() / sizeof(float));
  for (float& value : values) value = static_cast<float>(random.Below(7) - 3);
  return values;
}

// Both of CLBlast's ways: one kernel for small products, copies into panels for large ones.
TEST_F(OpenClDriver, MultipliesInAllFormsAndForgetsWhatWasThereBefore) {
  using enum Product::Form;
  struct Size {
    std::int64_t rows, cols, inner;
  };
  for (const auto& [rows, cols, inner] :
       {Size{1, 1, 1}, Size{3, 70, 129}, Size{1050, 1100, 1130}}) {
    for (const Product::Form form : {kPlain, kTransposeA, kTransposeB}) {
      const bool a_turned = form == kTransposeA, b_turned = form == kTransposeB;
      const Placed a(driver(), a_turned ? inner : rows, a_turned ? rows : inner);
      const Placed b(driver(), b_turned ? cols : inner, b_turned ? inner : cols);
      const Placed c(driver(), rows, cols);
      const std::vector<float> a_values = WholeNumbers(a.block, 1),
                               b_values = WholeNumbers(b.block, 2);
      Send(driver(), a_values, a.block);
      Send(driver(), b_values, b.block);
      const std::vector<float> before(c.block.bytes() / sizeof(float), NAN);
      Send(driver(), before, c.block);

      driver().Multiply({form, rows, cols, inner, 2, a.tensor, b.tensor, 0, c.tensor});
      driver().Multiply({form, rows, cols, inner, -1, a.tensor, b.tensor, 3, c.tensor});

      const std::vector<float> result = Fetch(driver(), c.block);
      Random random(3);
      for (int sample = 0; sample < 500; ++sample) {
        const std::int64_t i = random.Below(rows), j = random.Below(cols);
        float sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          sum += a_values[a_turned ? Placed::At(k, i, rows) : Placed::At(i, k, inner)] *
                 b_values[b_turned ? Placed::At(j, k, inner) : Placed::At(k, j, cols)];
        }
        ASSERT_EQ(result[Placed::At(i, j, cols)], 5 * sum) << "at row " << i << ", column " << j;
      }
      for (std::int64_t i = 0; i < rows; ++i) {
        ASSERT_TRUE(std::isnan(result[Placed::At(i, cols, cols)])) << "written after row " << i;
      }
    }
  }
}

// Every object of OpenCL holds its context; so does CLBlast, for the kernels it compiled.
TEST_F(OpenClDriver, LeavesNothingBehind) {
  std::unique_ptr<gpu::Driver> passing = MakeDriver(device().info);
  Context context;
  {
    constexpr std::int64_t kSize = 1030;  // large enough for CLBlast to need scratch
    const Block block(*passing, kSize, kSize);
    cl_context used = nullptr;
    ASSERT_EQ(clGetMemObjectInfo(static_cast<cl_mem>(block.address()), CL_MEM_CONTEXT, sizeof(used),
                                 &used, nullptr),
              CL_SUCCESS);
    clRetainContext(used);
    context.reset(used);
    Send(*passing, std::vector<float>(kSize * kSize, 1), block);
    Fill(*passing, block.tensor(), 1);
    Order(*passing, Stream::kCompute, Stream::kDownload);
    const Tensor all = block.tensor();
    passing->Multiply({.rows = kSize, .cols = kSize, .inner = kSize, .a = all, .b = all, .c = all});
    Fetch(*passing, block);
  }
  passing.reset();
  const auto holders = [&] {
    cl_uint count = 0;
    clGetContextInfo(context.get(), CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
    return count;
  };
  // PoCL's threads put away what they worked on a little after clFinish returned.
  for (int i = 0; i < 1000 && holders() > 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(holders(), 1u) << "beside this test";
}

TEST_F(OpenClDriver, RefusesProductsThatClBlastWouldMiscount) {
  const Block block(driver(), 1, 8);
  Tensor far = block.tensor();
  far.data.offset = std::int64_t{1} << 31;
  const std::string sentence = SentenceOf<DeviceError>(
      [&] { driver().Multiply({.rows = 1, .cols = 1, .inner = 1, .a = far, .b = far, .c = far}); });
  EXPECT_NE(sentence.find("where CLBlast cannot reach"), std::string::npos) << sentence;
}

TEST_F(OpenClDriver, RunsKernelsFromTheCache) {
  const std::string folder = testing::TempDir() + "/hogbatch_RunsKernelsFromTheCache";
  for (const float value : {4.0f, 5.0f}) {
    const auto cached = MakeDriver(device().info, {.cache = ProgramCache(folder)});
    const Block block(*cached, 3, 100);
    Fill(*cached, block.tensor(), value);
    EXPECT_EQ(Fetch(*cached, block), std::vector<float>(300, value));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hogbatch::opencl
