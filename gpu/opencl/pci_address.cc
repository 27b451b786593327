#include "gpu/opencl/pci_address.h"

#include <CL/cl_ext.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace hogbatch::opencl {
namespace {

// Queries of NVIDIA and AMD, which not all versions of the headers have.
constexpr cl_device_info kNvidiaBus = 0x4008;
constexpr cl_device_info kNvidiaSlot = 0x4009;
constexpr cl_device_info kNvidiaDomain = 0x400A;
constexpr cl_device_info kAmdTopology = 0x4037;

// None where the implementation does not know the query.
template <typename T>
std::optional<T> Ask(cl_device_id device, cl_device_info query) {
  T answer{};
  std::size_t size = 0;
  const cl_int code = clGetDeviceInfo(device, query, sizeof(T), &answer, &size);
  if (code != CL_SUCCESS || size != sizeof(T)) return std::nullopt;
  return answer;
}

std::string Format(cl_uint domain, cl_uint bus, cl_uint device, cl_uint function) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

}  // namespace

std::string PciAddressFromNvidia(cl_uint domain, cl_uint bus, cl_uint slot) {
  return Format(domain, bus, slot >> 3, slot & 7);
}

std::string PciAddressFromAmd(const AmdTopology& topology) {
  constexpr cl_uint kPciExpress = 1;
  cl_uint type = 0;
  std::memcpy(&type, topology.data(), sizeof(type));
  return type == kPciExpress ? Format(0, topology[21], topology[22], topology[23]) : "";
}

std::string PciAddressOf(cl_device_id device) {
  if (const auto at = Ask<cl_device_pci_bus_info_khr>(device, CL_DEVICE_PCI_BUS_INFO_KHR)) {
    return Format(at->pci_domain, at->pci_bus, at->pci_device, at->pci_function);
  }
  const auto bus = Ask<cl_uint>(device, kNvidiaBus);
  const auto slot = Ask<cl_uint>(device, kNvidiaSlot);
  if (bus && slot) {
    return PciAddressFromNvidia(Ask<cl_uint>(device, kNvidiaDomain).value_or(0), *bus, *slot);
  }
  const auto topology = Ask<AmdTopology>(device, kAmdTopology);
  return topology ? PciAddressFromAmd(*topology) : "";
}

}  // namespace hogbatch::opencl
