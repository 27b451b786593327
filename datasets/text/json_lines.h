// JSON lines (one object per line) as a table with a header and commas.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/text/text_source.h"

namespace hogbatch {

// Whether a text begins as an object or a list of objects.
bool BeginsAsJson(std::string_view head);

// The names of columns, which stay where they are while others are added.
using JsonColumns = std::deque<std::string>;

// Every key becomes a column, in the order in which they appear; a key within an object is called
// outer.inner, an element of a list outer.0. Line i of the file is line i of the table, whose
// header is line 0. UserErrors name the line. The table must not take more than `max_bytes`.
// `columns` are those of earlier parts of the same file, to which new ones are added.
std::unique_ptr<TextSource> TableOfJsonLines(const TextSource& text, const std::string& source,
                                             std::size_t max_bytes, JsonColumns& columns);

}  // namespace hogbatch
