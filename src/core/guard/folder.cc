#include "core/guard/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/error.h"

namespace hogbatch {

namespace fs = std::filesystem;

bool MakeFolder(const std::string& folder, NamedBy named_by) {
  std::string path = folder;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string above = fs::path(path).parent_path();
  bool made = ::mkdir(path.c_str(), 0777) == 0;
  if (!made && errno == ENOENT && !above.empty() && above != path) {
    MakeFolder(above, NamedBy::kUser);
    made = ::mkdir(path.c_str(), 0777) == 0;
  }
  if (made) {
    SyncFolder(above);
    return true;
  }
  const int reason = errno;
  if (reason == EEXIST && named_by == NamedBy::kProgram) RefuseLink(path);
  std::error_code error;
  if (fs::is_directory(path, error)) return false;
  errno = reason;
  ThrowErrno("make the folder", folder);
}

void RefuseLink(const std::string& folder) {
  std::error_code error;
  if (!fs::is_symlink(folder, error)) return;
  throw UserError(
      fmt::format("{} is a link, and nothing is written or deleted through one: replace it by the "
                  "folder that it links to",
                  folder));
}

void SyncFolder(const std::string& folder) {
  const int opened =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

}  // namespace hogbatch
