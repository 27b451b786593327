// The feigned machine as a whole, and the frame around every entry point.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/gpu/cuda_standin/handles.h"
#include "tests/gpu/cuda_standin/memory.h"
#include "tests/gpu/cuda_standin/standin.h"
#include "tests/gpu/cuda_standin/timeline.h"

namespace hogbatch::standin {

// A cuBLAS handle, a cublasLt handle or a cuDNN handle.
struct Library {
  int device = 0;
  void* stream = nullptr;  // null: none was set
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

// Descriptors are defined where they are used.
struct Matmul;
struct Layout;
struct Preference;
struct TensorShape;

class Machine {
 public:
  explicit Machine(const Settings& settings);

  const Settings settings;
  Memory memory;
  Timeline timeline;
  Handles<Library> blas{Kind::kBlas, "cuBLAS handle"};
  Handles<Library> blas_lt{Kind::kBlasLt, "cublasLt handle"};
  Handles<Library> dnn{Kind::kDnn, "cuDNN handle"};
  Handles<std::shared_ptr<Matmul>> matmuls{Kind::kMatmul, "matmul descriptor"};
  Handles<std::shared_ptr<Layout>> layouts{Kind::kLayout, "matrix layout"};
  Handles<std::shared_ptr<Preference>> preferences{Kind::kPreference, "matmul preference"};
  Handles<std::shared_ptr<TensorShape>> tensors{Kind::kTensor, "tensor descriptor"};

  // Whether the call that begins is the one that shall fail; kills the device if so.
  bool IsTimeToFail(int device);
  // Failure unless there are a driver and devices.
  void RequireDriver() const;
  // Failure unless the device lives, too.
  void RequireAlive(int device) const;
  // Failure if the request for memory that begins is one that shall find none.
  void RequireRoom();
  std::int64_t calls() const { return calls_; }
  std::int64_t memory_requests() const { return memory_requests_; }
  void Violate(std::string sentence) { violations_.push_back(std::move(sentence)); }
  // The violations so far, and what was not given back.
  std::vector<std::string> TakeViolations();

 private:
  std::int64_t calls_ = 0;
  std::int64_t memory_requests_ = 0;
  std::vector<char> is_dead_;  // by device
  std::vector<std::string> violations_;
};

// What a call answers goes somewhere.
template <typename T>
void Give(T* result, std::type_identity_t<T> value) {
  if (result == nullptr) throw Misuse{Fault::kValue, "the result has no place to go"};
  *result = value;
}

// What the calling thread has chosen with cudaSetDevice.
int& CurrentDevice();

enum class Purpose : std::uint8_t {
  kLook,      // works without a driver
  kAsk,       // of the machine: needs no living device
  kUse,       // of the thread's device
  kGiveBack,  // works on a dead device, too, and then reports its death
};

// Runs `body` as the call named so, one call at a time in the whole process. What it throws becomes
// a fault, and a violation if it is a Misuse.
std::optional<Fault> Run(const char* call, Purpose purpose,
                         const std::function<void(Machine&)>& body);

}  // namespace hogbatch::standin
