// Fields of protocol buffers, as bytes that are put one after the other. A message in a message is
// a field of bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hogbatch::protobuf {

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes(sizeof value, '\0');
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes[i] = static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return bytes;
}

// Seven bits a byte, the lowest first; the highest bit says that more follow.
inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

inline std::string Key(int field, Wire wire) {
  return Varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire));
}
inline std::string Integer(int field, std::int64_t value) {
  return Key(field, Wire::kVarint) + Varint(static_cast<std::uint64_t>(value));
}
inline std::string Double(int field, double value) {
  return Key(field, Wire::kFixed64) + LittleEndian(std::bit_cast<std::uint64_t>(value));
}
inline std::string Float(int field, float value) {
  return Key(field, Wire::kFixed32) + LittleEndian(std::bit_cast<std::uint32_t>(value));
}
inline std::string Bytes(int field, std::string_view bytes) {
  return Key(field, Wire::kBytes) + Varint(bytes.size()) + std::string(bytes);
}

}  // namespace hogbatch::protobuf
