// What the fuzz targets share. Each feeds any bytes to one reader: they are read, or refused with a
// UserError. Anything else ends the fuzzer.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace hogbatch {

inline std::string_view TextOf(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// The result of a fuzz target: `read` may throw UserError and nothing else. Seeds that are meant to
// be read must not be refused: a target whose seeds are refused reaches nothing.
template <typename Read>
int ReadOrRefused(const Read& read) {
  try {
    read();
  } catch (const UserError&) {
    if (std::getenv("HOGBATCH_FUZZ_GOOD") != nullptr) throw;
  }
  return 0;
}

// A folder for readers that take a file. In memory where the system has such a place.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/fuzz_XXXXXX" : "/tmp/fuzz_XXXXXX";
    Check(::mkdtemp(name.data()) != nullptr, "a scratch folder can be made");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  // Without a stream, whose buffer costs more than most readers.
  void Write(const std::string& name, std::string_view content) const {
    const int file = ::open((path_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const ssize_t written = ::write(file, content.data(), content.size());
    Check(written == static_cast<ssize_t>(content.size()), "a scratch file can be written");
    ::close(file);
  }

 private:
  std::string path_;
};

}  // namespace hogbatch
