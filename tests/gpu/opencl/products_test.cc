#include "gpu/opencl/products.h"

#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "core/random.h"
#include "gpu/opencl/driver.h"
#include "tests/gpu/opencl/devices.h"
#include "tests/gpu/opencl/queued_work.h"

namespace hogbatch::opencl {
namespace {

using gpu::Product;
using gpu::Stream;

// As the device does them, and as GPUs do.
class OpenClProducts : public OnOpenCl, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    OnOpenCl::SetUp();
    if (!IsSkipped()) driver_ = MakeDriver(device().info, options());
  }
  static DriverOptions options() { return {.as_gpu = GetParam()}; }
  gpu::Driver& driver() { return *driver_; }

 private:
  std::unique_ptr<gpu::Driver> driver_;
};
INSTANTIATE_TEST_SUITE_P(, OpenClProducts, testing::Bool(),
                         [](const auto& as_gpu) { return as_gpu.param ? "AsGpu" : "OfDevice"; });

// The end of a driver takes CLBlast's compiled kernels with it, also those that another one uses.
TEST_P(OpenClProducts, SurviveTheEndOfAnotherDriver) {
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
    for (int i = 0; i < 10; ++i) expect_products(*MakeDriver(info, options()), 3);
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

// Both of CLBlast's ways (one kernel for small products, copies into panels for large ones), and
// the processor's tiles of every width with rows left over.
TEST_P(OpenClProducts, ComeInAllFormsAndForgetWhatWasThereBefore) {
  using enum Product::Form;
  struct Size {
    std::int64_t rows, cols, inner;
  };
  for (const auto& [rows, cols, inner] :
       {Size{1, 1, 1}, Size{3, 70, 129}, Size{66, 23, 7}, Size{1050, 1100, 1130}}) {
    for (const Product::Form form : {kPlain, kTransposeA, kTransposeB}) {
      const bool is_a_transposed = form == kTransposeA, is_b_transposed = form == kTransposeB;
      const Placed a(driver(), is_a_transposed ? inner : rows, is_a_transposed ? rows : inner);
      const Placed b(driver(), is_b_transposed ? cols : inner, is_b_transposed ? inner : cols);
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
          sum += a_values[is_a_transposed ? Placed::At(k, i, rows) : Placed::At(i, k, inner)] *
                 b_values[is_b_transposed ? Placed::At(j, k, inner) : Placed::At(k, j, cols)];
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
TEST_P(OpenClProducts, LeaveNothingBehind) {
  std::unique_ptr<gpu::Driver> passing = MakeDriver(device().info, options());
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

using OpenClBlastProducts = OnOpenCl;
TEST_F(OpenClBlastProducts, AreRefusedWhereItWouldMiscount) {
  const auto driver = MakeDriver(device().info, {.as_gpu = true});
  const Block block(*driver, 1, 8);
  Tensor far = block.tensor();
  far.data.offset = std::int64_t{1} << 31;
  const std::string sentence = SentenceOf<DeviceError>(
      [&] { driver->Multiply({.rows = 1, .cols = 1, .inner = 1, .a = far, .b = far, .c = far}); });
  EXPECT_NE(sentence.find("where CLBlast cannot reach"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace hogbatch::opencl
