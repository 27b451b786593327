#include <cstdlib>
#include <iostream>

#include "gpu/opencl/pci_address.h"
#include "tests/gpu/opencl/devices.h"

namespace hogbatch::opencl {
namespace {

class OpenClListing : public OnOpenCl {};

TEST_F(OpenClListing, NumbersDevicesAndDescribesThem) {
  const std::vector<FoundDevice> all = FindDevices();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DeviceInfo& info = all[i].info;
    EXPECT_EQ(info.name, "opencl." + std::to_string(i));
    EXPECT_EQ(info.kind, DeviceKind::kOpenCl);
    EXPECT_FALSE(info.shares_host_memory);
    EXPECT_GT(info.memory_bytes, 1 << 20);
    EXPECT_NE(info.description.find(all[i].hardware_name), std::string::npos);
    EXPECT_NE(info.description.find(all[i].driver_version), std::string::npos);
    if (info.description.find("Portable Computing Language") != std::string::npos) {
      EXPECT_TRUE(info.on_processor);
      EXPECT_EQ(info.hardware, "");
    }
  }
}

TEST_F(OpenClListing, SaysThatANameIsNotThere) {
  const DeviceInfo unknown{.name = "opencl.77"};
  EXPECT_EQ(SentenceOf<DeviceError>([&] { FindUsable(unknown); }),
            "opencl.77: there is no such OpenCL device");
}

// In a process of its own, for a process looks for implementations once.
TEST(OpenClListingDeathTest, SaysWhatToInstallWhereThereIsNoImplementation) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto list_without_any = [] {
    ::setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
    std::cerr << SentenceOf<DeviceError>(FindDevices);
    std::exit(0);
  };
  EXPECT_EXIT(list_without_any(), testing::ExitedWithCode(0),
              "no OpenCL implementation is installed.*pocl-opencl-icd");
}

TEST(OpenClPciAddress, SplitsNvidiasSlotIntoDeviceAndFunction) {
  EXPECT_EQ(PciAddressFromNvidia(0, 0x3b, 0), "0000:3b:00.0");
  EXPECT_EQ(PciAddressFromNvidia(0x10000, 0xaf, (5 << 3) | 1), "10000:af:05.1");
}

TEST(OpenClPciAddress, ReadsAmdsTopologyFromItsLastBytes) {
  AmdTopology topology{};
  topology[21] = 0xc3, topology[22] = 0x1f, topology[23] = 7;
  EXPECT_EQ(PciAddressFromAmd(topology), "");  // not said to be PCI Express
  topology[0] = 1;
  EXPECT_EQ(PciAddressFromAmd(topology), "0000:c3:1f.7");
}

}  // namespace
}  // namespace hogbatch::opencl
