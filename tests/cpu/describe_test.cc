#include <gtest/gtest.h>

#include "cpu/cpu.h"
#include "device/buffer.h"

namespace hogbatch {
namespace {

TEST(CpuDevice, DescribesTheProcessor) {
  const DeviceInfo info = cpu::Describe();
  EXPECT_EQ(info.name, "cpu");
  EXPECT_EQ(info.kind, DeviceKind::kCpu);
  EXPECT_TRUE(info.shares_host_memory);
  EXPECT_GT(info.memory_bytes, 0);
  EXPECT_NE(info.description.find(", "), std::string::npos) << info.description;
}

TEST(CpuDevice, CarriesTheNameItWasGiven) {
  DeviceInfo info = cpu::Describe();
  info.name = "cpu.7";
  EXPECT_EQ(cpu::MakeDevice(info)->info().name, "cpu.7");
}

TEST(CpuDevice, RefusesShapesThatDoNotFit) {
  const auto device = cpu::MakeDevice(cpu::Describe());
  const Buffer buffer(*device, 4096);
  const Tensor a = Tensor::Matrix(buffer.span<float>(), 4, 5);
  const Tensor b = Tensor::Matrix(buffer.span<float>(), 6, 7);
  EXPECT_THROW(device->DenseForward(a, b, {}, Activation::kRelu, b, {}), Error);
  EXPECT_THROW(device->AddScaled(a, 1, 1, b), Error);
}

}  // namespace
}  // namespace hogbatch
