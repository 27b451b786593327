// Resolves --devices on a machine. Works on plain values and touches no back end.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_info.h"
#include "gpu/gpu.h"

namespace hogbatch {

// What there is to choose from.
struct Machine {
  DeviceInfo processor;
  int cores = 1;
  // Called only if the answer matters: looking for GPUs may take seconds.
  std::function<gpu::DetectedDevices(gpu::Interface)> ask;
};

std::string_view Name(gpu::Interface interface);  // "CUDA"
std::string_view Name(DeviceKind kind);           // "cuda", as --devices names it

// What --devices calls it: "cuda:0" for the device "cuda.0".
std::string OptionName(const DeviceInfo& info);

// A GPU, and whether "auto" takes it.
struct Candidate {
  DeviceInfo info;
  std::string why_not;  // empty: it is taken
};
// A GPU that several interfaces list is taken once, and a processor listed as a GPU is not taken.
std::vector<Candidate> JudgeForAuto(const gpu::DetectedDevices& cuda,
                                    const gpu::DetectedDevices& opencl);

// What the devices are for: "auto" trains on cores and GPUs together, and infers on GPUs alone.
enum class Purpose : std::uint8_t { kTraining, kInference };

// The devices of a list such as "auto", "cpu:4" or "cpu,cuda:0,cuda:1" in its order, one worker
// each. "cpu" without a number means all cores, or all but one if there are GPUs to feed. UserError
// for a device that is misspelt, named twice or missing.
std::vector<DeviceInfo> Choose(std::string_view devices, const Machine& machine,
                               Purpose purpose = Purpose::kTraining);

// How many of `cores` a list such as "cpu:1,opencl:0" leaves to an OpenCL device that is the
// processor itself: at least one, and all if the list names no cores or no OpenCL device.
std::int64_t CoresLeftToOpenCl(std::string_view devices, std::int64_t cores);

}  // namespace hogbatch
