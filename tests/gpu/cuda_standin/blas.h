// What cuBLAS and cublasLt share: matrices in column-major order, and how calls on them are
// checked.
#pragma once

#include <cublas_api.h>

#include <functional>
#include <string_view>

#include "tests/gpu/cuda_standin/machine.h"
#include "tests/gpu/cuda_standin/sgemm.h"

namespace hogbatch::standin {

// Run() in cuBLAS's codes.
cublasStatus_t RunBlas(const char* call, Purpose purpose,
                       const std::function<void(Machine&)>& body);

// As a caller describes it: in memory rows × cols, and then transposed or not.
struct ColumnMajor {
  std::string_view name;  // "A"
  const void* address = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t leading = 0;
  bool transposed = false;
  // Of a batch: so many matrices, which begin so many floats apart.
  std::int64_t count = 1, apart = 0;

  // Misuse unless cuBLAS takes it.
  void CheckLeading() const;
  // Misuse if an element belongs to two matrices of the batch.
  void CheckApart() const;
  // The memory it takes, all in live memory of that device.
  Range In(Memory& memory, int device) const;
  // Over the memory that In() gave.
  template <typename T>
  Strided<T> Over(const Range& range) const {
    T* data = range.as<float>();
    return transposed ? Strided<T>{data, leading, 1} : Strided<T>{data, 1, leading};
  }
};

// Misuse unless it is a host's number; alpha and beta are read when the call is made.
float HostNumber(const Machine& machine, const void* number, std::string_view name);

// Misuse unless the handle's device is the thread's.
void CheckDevice(const Library& library, std::string_view kind);

// A library writes to its workspace what it likes.
void Scribble(const Range& range);

}  // namespace hogbatch::standin
