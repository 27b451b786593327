#include "core/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace hogbatch {

void Check(bool holds, std::string_view what, std::source_location where) {
  if (holds) return;
  throw Error(fmt::format("internal error: {} ({}:{}); please report it", what, where.file_name(),
                          where.line()));
}

void ThrowErrno(std::string_view what, std::string_view path) {
  const int code = errno;
  const std::string sentence = fmt::format("cannot {} {}: {}", what, path, std::strerror(code));
  // What a path names is the user's to put right; a full or broken disk is the machine's.
  if (code == ENOSPC || code == EIO || code == ENOMEM || code == EDQUOT) throw Error(sentence);
  throw UserError(sentence);
}

}  // namespace hogbatch
