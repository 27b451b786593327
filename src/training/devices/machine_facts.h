// What this machine has beside devices, and what of it may stand in the way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace hogbatch {

struct DiskSpace {
  std::string what;  // "this folder"
  std::string path;
  std::int64_t free_bytes = 0;
};

// Something that a user may want to change, and how.
struct Finding {
  std::string what;
  std::string remedy;
};

struct MachineFacts {
  std::vector<std::string> caches;  // "L1d 32K", "L2 1024K", … of the first core
  int numa_nodes = 1;
  int physical_cores = 0;            // 0: not known
  std::int64_t memory_bytes = 0;     // that this process may use
  std::int64_t available_bytes = 0;  // of it now; 0: not known
  std::vector<DiskSpace> disks;
  std::vector<Finding> findings;
};

// The L2 cache of a core, or its share of one that several cores have; 1 MiB if it is not known.
std::int64_t CoreCacheBytes(const std::filesystem::path& root = "/");

// `root` is the folder that holds proc/ and sys/, for tests.
MachineFacts LookAtMachine(const std::filesystem::path& root = "/");

}  // namespace hogbatch
