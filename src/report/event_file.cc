#include "report/event_file.h"

#include "core/protobuf.h"

namespace hogbatch::report {
namespace {

std::string MaskedCrc(std::string_view bytes) {
  const std::uint32_t crc = Crc32c(bytes);
  return protobuf::LittleEndian((crc >> 15 | crc << 17) + 0xA282EAD8u);
}

std::string Record(std::string_view message) {
  const std::string length = protobuf::LittleEndian(static_cast<std::uint64_t>(message.size()));
  return length + MaskedCrc(length) + std::string(message) + MaskedCrc(message);
}

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

}  // namespace hogbatch::report
