#include "core/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "core/guard/machine_limits.h"

namespace hogbatch {

const char* WhatOf(const std::exception& error) noexcept {
  return dynamic_cast<const std::bad_alloc*>(&error) ? "out of memory" : error.what();
}

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

void ThrowNoThread(const std::system_error& error) {
  std::vector<std::string> limits;
  rlimit user{};
  if (::getrlimit(RLIMIT_NPROC, &user) == 0 && user.rlim_cur != RLIM_INFINITY) {
    limits.push_back(fmt::format("{} for this user (ulimit -u)", user.rlim_cur));
  }
  if (const auto threads = ReadCgroupLimits().threads) {
    limits.push_back(fmt::format("{} for this container (pids.max)", *threads));
  }
  rlimit memory{};
  if (::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
    limits.push_back(fmt::format("{} MB of memory (ulimit -v)", memory.rlim_cur >> 20));
  }
  throw Error(
      fmt::format("cannot start a thread: {}; {}use fewer workers (--devices cpu:2) or raise the "
                  "limit",
                  error.code().message(),
                  limits.empty() ? "" : fmt::format("limits: {}; ", fmt::join(limits, ", "))));
}

}  // namespace hogbatch
