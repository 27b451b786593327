// Text in older encodings.
#pragma once

#include <string>
#include <string_view>

namespace hogbatch {

bool IsUtf8(std::string_view text);

// The text itself if it is UTF-8; else what it is in UTF-8 if it was written as Windows-1252, which
// has the letters of Latin-1. Every byte is a character there, so that different texts stay
// different.
std::string ToUtf8(std::string_view text);

}  // namespace hogbatch
