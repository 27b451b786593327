// The PCI address of a device. It shows whether two interfaces list the same GPU.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <string>

namespace hogbatch::opencl {

// "0000:3b:00.0" by the first of three queries that the implementation knows; empty if it knows
// none.
std::string PciAddressOf(cl_device_id device);

// From NVIDIA's queries; `slot` combines device and function.
std::string PciAddressFromNvidia(cl_uint domain, cl_uint bus, cl_uint slot);

// From AMD's query: a type, 17 unused bytes, bus, device and function. Empty if the type is not PCI
// Express.
using AmdTopology = std::array<std::uint8_t, 24>;
std::string PciAddressFromAmd(const AmdTopology& topology);

}  // namespace hogbatch::opencl
