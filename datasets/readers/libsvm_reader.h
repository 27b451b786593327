// LIBSVM text: "label index:value …", indices from 1, labels "3,17" in multi-label files.
#pragma once

#include <cstdint>
#include <string_view>

#include "datasets/dataset.h"
#include "datasets/readers/parsed_file.h"

namespace hogbatch {

inline constexpr std::int64_t kLargestIndex = std::int64_t{1} << 31;

// Reads whole lines. An index above `known_columns` is refused as one the model does not know. A
// row that begins with a feature, not with a space, is legal where labels are optional. Throws
// ParseFailure.
void ParseLibsvm(std::string_view text, std::int64_t known_columns, Labels labels, ParsedRows& out);

// Where the `label`-th label of the `row`-th row begins in a text that ParseLibsvm accepts.
const char* FindLibsvmLabel(std::string_view text, std::int64_t row, std::int64_t label);

}  // namespace hogbatch
