// The plug-in as the program meets it: opened in a process of its own, with the real libraries,
// with or without a driver.
#include "gpu/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "tests/support/paths.h"

namespace hogbatch::gpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

PluginEntry OpenEntry() {
  void* const library = ::dlopen(InBuild("libhogbatch_cuda.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(::dlerror());
  return reinterpret_cast<PluginEntry>(::dlsym(library, kPluginEntry));
}

TEST(CudaPlugin, ResolvesAgainstTheRealLibraries) {
  const PluginEntry entry = OpenEntry();
  ASSERT_NE(entry, nullptr);
  const Plugin* const plugin = entry(HOGBATCH_VERSION);
  ASSERT_NE(plugin, nullptr);
  EXPECT_NE(plugin->list, nullptr);
  EXPECT_NE(plugin->make, nullptr);
}

TEST(CudaPlugin, RefusesAProgramOfAnotherVersion) {
  EXPECT_EQ(OpenEntry()(HOGBATCH_VERSION "-other"), nullptr);
}

TEST(CudaPlugin, ListsDevicesOrSaysWhatIsWrongWithTheDriver) {
  const Plugin& plugin = *OpenEntry()(HOGBATCH_VERSION);
  try {
    for (const DeviceInfo& info : plugin.list()) {
      EXPECT_THAT(info.name, StartsWith("cuda."));
      EXPECT_EQ(info.kind, DeviceKind::kCuda);
      EXPECT_FALSE(info.shares_host_memory);
      EXPECT_GT(info.memory_bytes, 0);
      EXPECT_THAT(info.hardware, testing::MatchesRegex("....:..:...."));
    }
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("CUDA: "), HasSubstr("driver")));
  }
}

TEST(CudaPlugin, NamesTheDeviceThatItCannotMake) {
  const Plugin& plugin = *OpenEntry()(HOGBATCH_VERSION);
  try {
    plugin.make({.name = "cuda.999", .kind = DeviceKind::kCuda});
    FAIL() << "there is no such device";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("cuda.999: "), HasSubstr(" failed: cudaError")));
  }
}

}  // namespace
}  // namespace hogbatch::gpu
