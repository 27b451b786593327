// IDX files, such as MNIST's: a header with the type and the sizes of an array, then its numbers,
// all big-endian. Rows and their labels are two files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datasets/readers/parsed_file.h"

namespace hogbatch {

// Whether the bytes begin as an IDX file does: 0, 0, a known type, a number of dimensions.
bool IsIdx(std::string_view bytes);

// An array whose sizes agree with the bytes that are there.
struct IdxArray {
  enum class Type : std::uint8_t {
    kUnsignedByte = 0x08,
    kByte = 0x09,
    kShort = 0x0b,
    kInt = 0x0c,
    kFloat = 0x0d,
    kDouble = 0x0e,
  };
  std::string source;
  Type type = Type::kUnsignedByte;
  int dimensions = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 1;  // numbers in a row: the product of all sizes but the first
  std::size_t begin = 0;     // where the numbers begin in the file
  const TextSource* file = nullptr;
};

// Reads a header and checks every size. Throws UserError with the position of what is wrong.
// `file` must outlive the result.
IdxArray OpenIdx(const TextSource& file, const std::string& source);

// The file that holds the labels of a file of images, by its name: train-images-idx3-ubyte has
// train-labels-idx1-ubyte, both plain, .gz or .xz.
struct IdxLabelFile {
  std::string expected;              // the plain name; empty if `images` does not say "images"
  std::optional<std::string> found;  // one that exists
};
IdxLabelFile FindIdxLabels(const std::string& images);

// The rows of `rows`, with the numbers of `labels` if there are any. Throws UserError where the two
// do not fit or a number is not finite.
ParsedFile ParseIdx(const IdxArray& rows, const std::optional<IdxArray>& labels,
                    const ParseSettings& settings);

// "source: byte 17: what" for the label of a row.
[[noreturn]] void ThrowAtIdxLabel(const IdxArray& labels, std::int64_t row, std::string_view what);

}  // namespace hogbatch
