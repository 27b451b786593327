// The files of a folder that a queue watches.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hogbatch {

class WatchedFiles {
 public:
  explicit WatchedFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Changes {
    std::vector<std::string> settled;  // new or changed, and the same as at the last look
    std::vector<std::string> gone;
  };
  // Nothing has changed if the folder cannot be read.
  Changes Look();

 private:
  // Which content a file has.
  struct Stamp {
    ino_t file = 0;
    off_t bytes = 0;
    std::int64_t written = 0;  // nanoseconds
    bool operator==(const Stamp&) const = default;
  };
  struct Seen {
    Stamp stamp;
    bool is_told = false;
  };

  std::string folder_;
  std::map<std::string, Seen> seen_;  // by path
};

}  // namespace hogbatch
