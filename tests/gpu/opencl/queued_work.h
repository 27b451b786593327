// Work for a driver in few words: blocks of floats, and the kernels that the tests launch.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "gpu/driver.h"

namespace hogbatch::opencl {

// Device memory as a contiguous matrix.
class Block {
 public:
  Block(gpu::Driver& driver, std::int64_t rows, std::int64_t cols)
      : driver_(driver),
        address_(driver.Allocate(rows * cols * sizeof(float))),
        rows_(rows),
        cols_(cols) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { driver_.Free(address_); }

  void* address() const { return address_; }
  std::size_t bytes() const { return rows_ * cols_ * sizeof(float); }
  Tensor tensor() const { return Tensor::Matrix({address_, 0, rows_ * cols_}, rows_, cols_); }

 private:
  gpu::Driver& driver_;
  void* address_;
  std::int64_t rows_, cols_;
};

// Pinned host memory.
class Pinned {
 public:
  Pinned(gpu::Driver& driver, std::int64_t floats)
      : driver_(driver),
        memory_(static_cast<float*>(driver.AllocatePinned(floats * sizeof(float)))),
        size_(floats) {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { driver_.FreePinned(memory_); }

  std::span<float> values() const { return {memory_, static_cast<std::size_t>(size_)}; }

 private:
  gpu::Driver& driver_;
  float* memory_;
  std::int64_t size_;
};

// `waiter` goes on when what is queued on `awaited` by now is done.
inline void Order(gpu::Driver& driver, gpu::Stream awaited, gpu::Stream waiter) {
  const gpu::Event event = driver.Record(awaited);
  driver.Await(waiter, event);
  driver.Release(event);
}

// One work item an element: PoCL goes through a work item's own elements one after the other, and
// they lie far apart.
inline std::int64_t GroupsFor(const Tensor& y) { return y.rows * y.cols / gpu::kItems + 1; }

// y = value
inline void Fill(gpu::Driver& driver, const Tensor& y, float value) {
  using enum gpu::ArgumentType;
  const gpu::KernelArgument arguments[] = {{.address = y.data.base}, {.integer = y.data.offset},
                                           {.integer = y.stride},    {.number = value},
                                           {.integer = y.rows},      {.integer = y.cols}};
  const gpu::ArgumentType types[] = {kAddress, kLong, kLong, kFloat, kLong, kLong};
  driver.Launch({gpu::Kernel::hb_fill, GroupsFor(y), arguments, types});
}

// y = keep · y + scale · x
inline void AddScaled(gpu::Driver& driver, const Tensor& x, float scale, float keep,
                      const Tensor& y) {
  using enum gpu::ArgumentType;
  const gpu::KernelArgument arguments[] = {{.address = x.data.base},   {.integer = x.data.offset},
                                           {.integer = x.stride},      {.number = scale},
                                           {.number = keep},           {.address = y.data.base},
                                           {.integer = y.data.offset}, {.integer = y.stride},
                                           {.integer = y.rows},        {.integer = y.cols}};
  const gpu::ArgumentType types[] = {kAddress, kLong, kLong, kFloat, kFloat,
                                     kAddress, kLong, kLong, kLong,  kLong};
  driver.Launch({gpu::Kernel::hb_add_scaled, GroupsFor(y), arguments, types});
}

// Waits for everything.
inline std::vector<float> Fetch(gpu::Driver& driver, const Block& block) {
  const Pinned staging(driver, block.bytes() / sizeof(float));
  driver.Synchronize();
  driver.Download(block.address(), 0, staging.values().data(), block.bytes());
  driver.Synchronize();
  return {staging.values().begin(), staging.values().end()};
}

inline void Send(gpu::Driver& driver, std::span<const float> values, const Block& block) {
  const Pinned staging(driver, values.size());
  std::memcpy(staging.values().data(), values.data(), values.size_bytes());
  driver.Upload(staging.values().data(), block.address(), 0, values.size_bytes());
  driver.Synchronize();
}

}  // namespace hogbatch::opencl
