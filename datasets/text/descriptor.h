// An open file, pipe or terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace hogbatch {

inline constexpr std::string_view kStandardInput = "-";
// A path as errors name it: "standard input" for -.
std::string SourceName(const std::string& path);

class Descriptor {
 public:
  // Does not wait for the writer of a pipe; - is standard input.
  explicit Descriptor(const std::string& path);
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int value() const { return value_; }

 private:
  int value_;
};

// UserError for folders and devices.
enum class FileKind : std::uint8_t { kRegular, kPipe };  // a terminal is like a pipe
FileKind KindOf(const Descriptor& file, const std::string& path);

std::size_t SizeOf(const Descriptor& file, const std::string& path);

// Waits for bytes, or for the end of what a writer wrote. False if neither comes in time; -1 is for
// ever.
bool AwaitBytes(const Descriptor& file, int milliseconds);

// One read, which waits for bytes; 0 at the end. A pipe that no program has opened for writing
// reads as if it had ended: a writer that starts at the same time gets a second, and one that is
// there is waited for.
enum class PipePosition : std::uint8_t { kBeginOfPipe, kLater };
std::size_t ReadSome(const Descriptor& file, const std::string& path, std::span<char> to,
                     PipePosition position);

}  // namespace hogbatch
