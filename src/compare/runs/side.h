// The sides of a comparison: hogbatch's own methods and the baselines in other frameworks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hogbatch::compare {

// Whether workers update the model independently of each other. Then a batch size counts for each
// of them, and as many rows times workers are in flight.
enum class Updates : std::uint8_t { kSynchronous, kAsynchronous };

// One competitor. Its variants compute the same updates by different means (eager or compiled), so
// they share a batch size and a learning rate, and the fastest stands for all.
struct Side {
  std::string name;       // "tensorflow", "hogbatch sync"
  std::string framework;  // "tensorflow"; "hogbatch"
  std::string script;     // empty: this program
  std::string version;
  Updates updates = Updates::kSynchronous;
  std::vector<std::string> variants;  // at least one
};

// The side all others are compared with.
inline constexpr const char* kReference = "hogbatch";

inline bool IsOwn(const Side& side) { return side.script.empty(); }

// "pytorch compile"; the side alone where it has one variant.
std::string VariantName(const Side& side, const std::string& variant);

// Left out, and what to do about it.
struct Absent {
  std::string name;
  std::string why;
};

}  // namespace hogbatch::compare
