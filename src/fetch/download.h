// One file from the network to the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace hogbatch::fetch {

struct DownloadOptions {
  std::string url;
  std::string path;
  // Bytes so far and in all (0: not known). Returns false to stop.
  std::function<bool(std::int64_t done, std::int64_t all)> progress = {};
  int tries = 5;                // in a row without a new byte
  double stalled_seconds = 30;  // after which a try is given up
};

// Writes PATH.partial and leaves it there for the next call if the connection breaks: that one asks
// for the rest, if the file is still the same one. Proxies of the environment (https_proxy and the
// like) are used. UserError or Error with the address and what to do. The result is at
// PATH.partial.
std::string Download(const DownloadOptions& options);

}  // namespace hogbatch::fetch
