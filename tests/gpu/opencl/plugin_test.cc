#include "gpu/plugin.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "device/buffer.h"
#include "tests/support/paths.h"

namespace hogbatch {
namespace {

// The plug-in as the program opens it. It stays open, as in the program.
gpu::PluginEntry Entry() {
  void* const library = ::dlopen(InBuild("libhogbatch_opencl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  return library ? reinterpret_cast<gpu::PluginEntry>(::dlsym(library, gpu::kPluginEntry))
                 : nullptr;
}

TEST(OpenClPlugin, RefusesAProgramOfAnotherVersion) {
  const gpu::PluginEntry entry = Entry();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry("0.0.0"), nullptr);
  EXPECT_EQ(entry(""), nullptr);
  EXPECT_NE(entry(HOGBATCH_VERSION), nullptr);
}

TEST(OpenClPlugin, ListsDevicesAndMakesThem) {
  const gpu::PluginEntry entry = Entry();
  ASSERT_NE(entry, nullptr);
  const gpu::Plugin* const plugin = entry(HOGBATCH_VERSION);
  ASSERT_NE(plugin, nullptr);
  std::vector<DeviceInfo> devices;
  try {
    devices = plugin->list();
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  if (devices.empty()) GTEST_SKIP() << "there is no OpenCL device here";
  EXPECT_EQ(devices.front().name, "opencl.0");

  const std::unique_ptr<Device> device = plugin->make(devices.front());
  const std::vector<float> sent = {1, 2, 3};
  std::vector<float> received(3);
  const Buffer buffer(*device, 3 * sizeof(float));
  device->Upload(std::as_bytes(std::span(sent)), buffer.span<float>().base, 0);
  device->Download(buffer.span<float>().base, 0, std::as_writable_bytes(std::span(received)));
  device->Wait();
  EXPECT_EQ(received, sent);
}

TEST(OpenClPlugin, ThrowsWhatTheProgramCatches) {
  const gpu::PluginEntry entry = Entry();
  ASSERT_NE(entry, nullptr);
  EXPECT_THROW(entry(HOGBATCH_VERSION)->make(DeviceInfo{.name = "opencl.77"}), DeviceError);
}

}  // namespace
}  // namespace hogbatch
