#include <cudnn.h>

#include <cmath>

#include "tests/gpu/cuda_standin/tests/numbers.h"

namespace hogbatch::standin {
namespace {

class StandinDnn : public Standin {
 protected:
  StandinDnn() { Begin(); }
  void Begin() {
    cudaSetDevice(0);
    stream = MakeStream();
    cudnnCreate(&handle);
    cudnnSetStream(handle, stream);
    cudnnCreateTensorDescriptor(&x_shape);
    cudnnCreateTensorDescriptor(&y_shape);
    Describe(x_shape, 3, 4, 5);
    Describe(y_shape, 3, 4, 4);
    x = Numbers(5, 3, 5).OnDevice();
    y = Allocate<float>(12);
  }
  static cudnnStatus_t Describe(cudnnTensorDescriptor_t shape, int rows, int cols, int stride) {
    return cudnnSetTensor4dDescriptorEx(shape, CUDNN_DATA_FLOAT, rows, cols, 1, 1, stride, 1, 1, 1);
  }
  cudnnStatus_t Softmax() {
    const float one = 1, zero = 0;
    return cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
                               x_shape, x, &zero, y_shape, y);
  }

  cudnnHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cudnnTensorDescriptor_t x_shape = nullptr, y_shape = nullptr;
  float *x = nullptr, *y = nullptr;
};

TEST_F(StandinDnn, LogSoftmaxGoesRowByRow) {
  ASSERT_EQ(Softmax(), CUDNN_STATUS_SUCCESS);
  cudaStreamSynchronize(stream);
  const std::vector<float> result = Read(y, 12);
  const Numbers given(5, 3, 5);
  for (int r = 0; r < 3; ++r) {
    double sum = 0;
    for (int c = 0; c < 4; ++c) sum += std::exp(double{given.values[r * 5 + c]});
    for (int c = 0; c < 4; ++c) {
      EXPECT_NEAR(result[r * 4 + c], given.values[r * 5 + c] - std::log(sum), 1e-6);
    }
  }
  ExpectNoViolation();
}

TEST_F(StandinDnn, DescriptorsMustFitAndBeSet) {
  Describe(y_shape, 3, 3, 4);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("different sides");
  Begin();
  cudnnCreateTensorDescriptor(&x_shape);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("never set");
  Begin();
  EXPECT_EQ(Describe(x_shape, 0, 4, 4), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("not positive");
  Begin();
  EXPECT_EQ(Describe(x_shape, 3, 4, 3), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("overlap");
  Begin();
  y = x;
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("described alike");
  Begin();
  Describe(y_shape, 3, 4, 5);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_EXECUTION_FAILED);
  ExpectViolation("y reaches 8 bytes past 48 bytes");
}

TEST_F(StandinDnn, AHandleNeedsAStreamOfItsDevice) {
  cudnnCreate(&handle);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("has no stream");
  Begin();
  cudaSetDevice(1);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("a cuDNN handle of device 0 is used on device 1");
  Begin();
  cudnnDestroy(handle);
  EXPECT_EQ(Softmax(), CUDNN_STATUS_BAD_PARAM);
  ExpectViolation("the cuDNN handle was destroyed before");
}

}  // namespace
}  // namespace hogbatch::standin
