#include "report/event_file.h"

#include <bit>
#include <cstddef>

namespace hogbatch::report {
namespace {

// The kinds of fields that the messages above have, and how protobuf numbers them.
enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes[i] = static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return bytes;
}

// Seven bits a byte, the lowest first; the highest bit says that more follow.
std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string Key(int field, Wire wire) {
  return Varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}

std::string DoubleField(int field, double value) {
  return Key(field, Wire::kFixed64) + LittleEndian(std::bit_cast<std::uint64_t>(value));
}

std::string FloatField(int field, float value) {
  return Key(field, Wire::kFixed32) + LittleEndian(std::bit_cast<std::uint32_t>(value));
}

std::string BytesField(int field, std::string_view bytes) {
  return Key(field, Wire::kBytes) + Varint(bytes.size()) + std::string(bytes);
}

std::string MaskedCrc(std::string_view bytes) {
  const std::uint32_t crc = Crc32c(bytes);
  return LittleEndian((crc >> 15 | crc << 17) + 0xA282EAD8u);
}

std::string Record(std::string_view message) {
  const std::string length = LittleEndian(static_cast<std::uint64_t>(message.size()));
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
  return Record(DoubleField(1, wall_time) + BytesField(3, "brain.Event:2"));
}

std::string ScalarsEvent(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    summary +=
        BytesField(1, BytesField(1, scalar.tag) + FloatField(2, static_cast<float>(scalar.value)));
  }
  return Record(DoubleField(1, wall_time) + Key(2, Wire::kVarint) +
                Varint(static_cast<std::uint64_t>(step)) + BytesField(5, summary));
}

}  // namespace hogbatch::report
