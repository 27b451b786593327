// How a call of an entry point ends when it does not end well.
#pragma once

#include <cstdint>
#include <string>

namespace hogbatch::standin {

// What each library says in its own codes; statuses.cc translates.
enum class Fault : std::uint8_t {
  kValue,          // a parameter out of its range
  kHandle,         // no such object, or it was destroyed
  kAddress,        // memory that is not there
  kConfiguration,  // a grid that no device runs
  kFunction,       // no kernel
  kUnsupported,    // allowed, but nothing the library does
  kNoMemory,
  kNotReady,
  kNoDevice,
  kOldDriver,
  kBadDevice,
  kDead,  // an earlier failure ended the device
};

// The caller broke a rule: the test fails with the sentence, and the call with the fault.
struct Misuse {
  Fault fault;
  std::string sentence;
};

// The call fails and nobody did wrong: memory is full, a device has died.
struct Failure {
  Fault fault;
};

}  // namespace hogbatch::standin
