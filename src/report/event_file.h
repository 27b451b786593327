// TensorBoard's event files. Such a file is a row of TFRecords, each with a protobuf message Event:
//
//   record   length (8 bytes), masked CRC-32C of these, message, masked CRC-32C of the message
//   Event    1: wall_time (double)  2: step (int64)  3: file_version (string)  5: summary (Summary)
//   Summary  1: value (repeated Value)
//   Value    1: tag (string)  2: simple_value (float)
//
// All numbers are little-endian.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hogbatch::report {

struct Scalar {
  std::string tag;  // "loss/valid": TensorBoard groups by what stands before the slash
  double value = 0;
};

// The record that every file begins with. Times are seconds since 1970.
std::string FirstEvent(double wall_time);
std::string ScalarsEvent(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

// Drops what follows the last whole record of a file: one that was cut off when a run was killed or
// a disk was full. Readers stop there, and would not see what a resumed run adds. UserError if the
// file is a link or no plain file.
void CutEvents(const std::string& path);

std::uint32_t Crc32c(std::string_view bytes);

}  // namespace hogbatch::report
