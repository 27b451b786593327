#include "report/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/protobuf.h"
#include "core/replaced_file.h"

namespace hogbatch::report {
namespace {

constexpr std::size_t kLengthBytes = 8, kCrcBytes = 4;
constexpr std::uint64_t kLongestMessage = std::uint64_t{16} << 20;  // far more than any we write

std::string MaskedCrc(std::string_view bytes) {
  const std::uint32_t crc = Crc32c(bytes);
  return protobuf::LittleEndian((crc >> 15 | crc << 17) + 0xA282EAD8u);
}

std::string Record(std::string_view message) {
  const std::string length = protobuf::LittleEndian(static_cast<std::uint64_t>(message.size()));
  return length + MaskedCrc(length) + std::string(message) + MaskedCrc(message);
}

// Reads a file from its beginning on.
class EventReader {
 public:
  explicit EventReader(const std::string& path) : path_(path), descriptor_(OpenOwn(path, O_RDWR)) {}
  ~EventReader() { ::close(descriptor_); }
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // Passes one record. False: no whole one follows.
  bool Pass() {
    const std::string length = Read(kLengthBytes);
    if (length.size() < kLengthBytes || Read(kCrcBytes) != MaskedCrc(length)) return false;
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, length.data(), kLengthBytes);
    if (bytes > kLongestMessage) return false;
    const std::string message = Read(bytes);
    if (message.size() < bytes || Read(kCrcBytes) != MaskedCrc(message)) return false;
    passed_ = at_;
    return true;
  }
  // Removes what follows the records passed: no reader goes on behind a record that is not whole.
  void CutBehindPassed() {
    if (::ftruncate(descriptor_, passed_) != 0) ThrowErrno("shorten", path_);
  }

 private:
  // Fewer bytes at the end of the file.
  std::string Read(std::size_t bytes) {
    std::string text(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t more = ::pread(descriptor_, text.data() + got, bytes - got, at_);
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) ThrowErrno("read", path_);
      if (more == 0) break;
      got += static_cast<std::size_t>(more);
      at_ += more;
    }
    text.resize(got);
    return text;
  }

  std::string path_;
  int descriptor_;
  off_t at_ = 0;
  off_t passed_ = 0;  // the end of the last whole record
};

}  // namespace

std::uint32_t Crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

std::string FirstEvent(double wall_time) {
  return Record(protobuf::Double(1, wall_time) + protobuf::Bytes(3, "brain.Event:2"));
}

std::string ScalarsEvent(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    summary += protobuf::Bytes(
        1, protobuf::Bytes(1, scalar.tag) + protobuf::Float(2, static_cast<float>(scalar.value)));
  }
  return Record(protobuf::Double(1, wall_time) + protobuf::Integer(2, step) +
                protobuf::Bytes(5, summary));
}

void CutEvents(const std::string& path) {
  EventReader reader(path);
  while (reader.Pass()) {
  }
  reader.CutBehindPassed();
}

}  // namespace hogbatch::report
