// What nvcc made of the kernels: whether the addresses that the driver launches are those under
// which CUDA knows them, and which GPUs they can run on. The object file tells CUDA both when the
// program starts; the linker leads these calls through here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector_types.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "gpu/cuda/kernel_table.h"

namespace {

struct Registered {
  std::vector<const void*> fat_binaries;
  std::map<std::string, const void*> kernels;
};

// A function's own, because other static objects fill it.
Registered& registered() {
  static Registered all;
  return all;
}

}  // namespace

extern "C" {
void** __real___cudaRegisterFatBinary(void* binary);
void** __wrap___cudaRegisterFatBinary(void* binary) {
  registered().fat_binaries.push_back(binary);
  return __real___cudaRegisterFatBinary(binary);
}

void __real___cudaRegisterFunction(void** module, const char* host, char* device, const char* name,
                                   int threads, uint3* thread, uint3* block, dim3* block_size,
                                   dim3* grid_size, int* warp);
void __wrap___cudaRegisterFunction(void** module, const char* host, char* device, const char* name,
                                   int threads, uint3* thread, uint3* block, dim3* block_size,
                                   dim3* grid_size, int* warp) {
  registered().kernels[name] = host;
  __real___cudaRegisterFunction(module, host, device, name, threads, thread, block, block_size,
                                grid_size, warp);
}
}

namespace hogbatch::cuda {
namespace {

TEST(CudaKernels, AreKnownToCudaUnderTheAddressesThatAreLaunched) {
  std::map<std::string, const void*> launched;
  for (std::size_t i = 0; i < gpu::kKernelNames.size(); ++i) {
    launched[std::string(gpu::kKernelNames[i])] = StandsFor(static_cast<gpu::Kernel>(i));
  }
  EXPECT_EQ(registered().kernels, launched);
}

// A fat binary as nvcc lays it out: a header, then images with a header each.
struct Image {
  enum class Kind : std::uint16_t { kPtx = 1, kMachineCode = 2 };
  Kind kind;
  std::uint32_t architecture;  // 75 for sm_75
};
template <typename T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
std::vector<Image> ImagesIn(const void* fat_binary) {
  struct Wrapper {  // __fatBinC_Wrapper_t of fatbinary_section.h
    int magic, version;
    const std::byte* data;
  };
  const std::byte* at = static_cast<const Wrapper*>(fat_binary)->data;
  EXPECT_EQ(Read<std::uint32_t>(at), 0xba55ed50u);
  const std::byte* const end = at + Read<std::uint16_t>(at + 6) + Read<std::uint64_t>(at + 8);
  std::vector<Image> images;
  for (at += Read<std::uint16_t>(at + 6); at < end;) {
    images.push_back({Read<Image::Kind>(at), Read<std::uint32_t>(at + 28)});
    at += Read<std::uint32_t>(at + 4) + Read<std::uint64_t>(at + 8);
  }
  return images;
}

TEST(CudaKernels, RunOnEveryMajorArchitectureAndCompileForThoseToCome) {
  ASSERT_EQ(registered().fat_binaries.size(), 1u);
  std::vector<std::uint32_t> machine_code, ptx;
  for (const Image& image : ImagesIn(registered().fat_binaries[0])) {
    (image.kind == Image::Kind::kPtx ? ptx : machine_code).push_back(image.architecture);
  }
  EXPECT_THAT(machine_code, testing::IsSupersetOf({80u, 90u}));
  ASSERT_EQ(ptx.size(), 1u);
  EXPECT_EQ(ptx[0], *std::ranges::max_element(machine_code));
}

}  // namespace
}  // namespace hogbatch::cuda
