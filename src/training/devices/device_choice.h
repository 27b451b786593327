// Which devices --devices means on a machine. Plain values: no back end is touched here.
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
  // Called only when the answer matters: to look for GPUs may take seconds.
  std::function<gpu::Offer(gpu::Interface)> ask;
};

std::string_view Name(gpu::Interface interface);  // "CUDA"

// What --devices calls it: "cuda:0" for the device "cuda.0".
std::string OptionName(const DeviceInfo& info);

// A GPU, and whether "auto" takes it.
struct Candidate {
  DeviceInfo info;
  std::string why_not;  // empty: it is taken
};
// No GPU twice, though it be seen through several interfaces, and no processor that poses as one.
std::vector<Candidate> JudgeForAuto(const gpu::Offer& cuda, const gpu::Offer& opencl);

// What the devices are for: "auto" trains on cores and GPUs together, and infers on GPUs alone.
enum class Purpose : std::uint8_t { kTraining, kInference };

// The devices of a list such as "auto", "cpu:4" or "cpu,cuda:0,cuda:1" in its order, one worker
// each. Cores that are not counted out are all, less one that feeds the GPUs where there are any.
// UserError for what is misspelt, named twice or not there.
std::vector<DeviceInfo> Choose(std::string_view devices, const Machine& machine,
                               Purpose purpose = Purpose::kTraining);

// How many of `cores` a list such as "cpu:1,opencl:0" leaves to an OpenCL device that is the
// processor itself: at least one, and all if the list names no cores or no OpenCL device.
std::int64_t CoresLeftToOpenCl(std::string_view devices, std::int64_t cores);

}  // namespace hogbatch
