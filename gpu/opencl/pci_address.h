// Where a device sits in the machine: what tells that two interfaces show the same GPU.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <string>

namespace hogbatch::opencl {

// "0000:3b:00.0" by whichever of the three queries the implementation knows; empty if none.
std::string PciAddressOf(cl_device_id device);

// What NVIDIA's queries say: the slot is device and function in one.
std::string PciAddressFromNvidia(cl_uint domain, cl_uint bus, cl_uint slot);

// What AMD's query says: a type, 17 unused bytes, bus, device and function. Empty if the type is
// not PCI Express.
using AmdTopology = std::array<std::uint8_t, 24>;
std::string PciAddressFromAmd(const AmdTopology& topology);

}  // namespace hogbatch::opencl
