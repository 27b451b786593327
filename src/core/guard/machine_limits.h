// What this process may use of the machine. Containers limit memory, processor time and threads
// through control groups (cgroups), of version 1 or 2; the physical memory says nothing about that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace hogbatch {

struct MachineLimits {
  std::optional<std::int64_t> memory_bytes;
  std::optional<double> cores;  // processor seconds per second
  std::optional<std::int64_t> threads;
};

// The tightest limits of the process's control groups and all groups around them. `root` is the
// folder that holds proc/ and sys/, for tests. What cannot be read limits nothing.
MachineLimits ReadCgroupLimits(const std::filesystem::path& root = "/");

// The physical memory, or less if a control group allows less.
std::int64_t UsableMemory();

// What is left of the address space that this process may use (ulimit -v); none: it has no limit.
std::optional<std::int64_t> AddressSpaceLeft();

// `cores`, or fewer if a control group allows less processor time; at least 1.
int UsableCores(int cores);

}  // namespace hogbatch
