// cudaMemcpyAsync. The host's side must be pinned, and must stay as it is until the host has seen
// the copy's end: an upload reads it when it runs, a download fills it when the host waits.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "tests/gpu/cuda_standin/runtime.h"

namespace hogbatch::standin {
namespace {

constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kLargeRange = 1 << 17;

// Differs, but for luck, when the bytes do; of a large range every eighth line of a cache stands
// for its neighbours. Four parts side by side, for none then waits for the product of another.
std::uint64_t Fingerprint(const Range& range) {
  using Words = std::array<std::uint64_t, 4>;
  const auto stir = [](std::uint64_t hash, std::uint64_t word) {
    return (hash ^ word ^ (hash >> 29)) * kPrime;
  };
  Words parts = {range.bytes, 1, 2, 3};
  const std::byte* bytes = range.data();
  std::size_t at = 0;
  const std::size_t step = range.bytes < kLargeRange ? sizeof(Words) : 8 * kCacheLine;
  for (; at + sizeof(Words) <= range.bytes; at += step) {
    Words words;
    std::memcpy(words.data(), bytes + at, sizeof(words));
    for (std::size_t i = 0; i < words.size(); ++i) parts[i] = stir(parts[i], words[i]);
  }
  std::uint64_t hash = 0;
  for (const std::uint64_t part : parts) hash = stir(hash, part);
  for (; at < range.bytes; ++at) hash = stir(hash, std::uint64_t(bytes[at]));
  return hash;
}

// What Work::seen says if the range is not as it was.
std::string WhyChanged(const Range& range, std::uint64_t before, const char* sentence) {
  if (Fingerprint(range) == before) return {};
  return "cudaMemcpyAsync: " + range.block->Name() + sentence;
}

Work Upload(const Range& from, const Range& to) {
  return {.what = "an upload",
          .touches = {{from, Touch::How::kReads}, {to, Touch::How::kWrites}},
          .run = [=] { std::memcpy(to.data(), from.data(), from.bytes); },
          .seen =
              [=, before = Fingerprint(from)] {
                return WhyChanged(
                    from, before,
                    " were written to before anybody knew that their upload was done");
              }};
}

Work Download(const Range& from, const Range& to) {
  // Whoever reads too early finds no numbers, and the data only arrive when they may be read.
  std::memset(to.data(), 0xff, to.bytes);
  const std::shared_ptr<std::byte[]> data = std::make_shared_for_overwrite<std::byte[]>(to.bytes);
  return {.what = "a download",
          .touches = {{from, Touch::How::kReads}, {to, Touch::How::kWrites}},
          .run = [=] { std::memcpy(data.get(), from.data(), from.bytes); },
          .seen =
              [=, before = Fingerprint(to)] {
                std::string wrong =
                    WhyChanged(to, before,
                               " were written to before anybody knew that their download was done");
                std::memcpy(to.data(), data.get(), to.bytes);
                return wrong;
              }};
}

}  // namespace
}  // namespace hogbatch::standin

using namespace hogbatch::standin;

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return RunCuda("cudaMemcpyAsync", Purpose::kUse, [&](Machine& machine) {
    const int device = machine.timeline.DeviceOf(stream);
    if (bytes == 0) return;
    Memory& memory = machine.memory;
    if (kind == cudaMemcpyHostToDevice) {
      const Range host = memory.Pinned(from, bytes);
      machine.timeline.Queue(stream, Upload(host, memory.At(to, bytes, device, "the target")));
    } else if (kind == cudaMemcpyDeviceToHost) {
      const Range block = memory.At(from, bytes, device, "the source");
      machine.timeline.Queue(stream, Download(block, memory.Pinned(to, bytes)));
    } else {
      throw Misuse{Fault::kValue, "only copies from host to device and back are feigned"};
    }
  });
}
