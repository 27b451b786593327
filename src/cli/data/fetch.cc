#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/error.h"

namespace hogbatch {

// Becomes hogbatch-fetch, which lies beside the program or in lib/hogbatch of its installation.
int FetchData(const DataFetchOptions& options) {
  namespace fs = std::filesystem;
  if (options.set.empty()) {
    throw UserError("data fetch needs the name of a set; for example: hogbatch data fetch covtype");
  }
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path :
       {folder / "hogbatch-fetch", folder.parent_path() / "lib/hogbatch/hogbatch-fetch"}) {
    if (::access(path.c_str(), X_OK) != 0) continue;
    std::vector<std::string> words = {path.string(),
                                      options.set,
                                      options.out,
                                      options.from,
                                      fmt::format("{}", options.timeout),
                                      options.quiet ? "quiet" : ""};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(path.c_str(), argv.data());
    ThrowErrno("start", path.string());
  }
  throw UserError(
      "this hogbatch was built without libcurl, which data fetch needs; install "
      "libcurl4-openssl-dev and build it again, or fetch the file with a browser");
}

}  // namespace hogbatch
