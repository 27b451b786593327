#include "gpu/plugin_trust.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "core/error.h"

namespace hogbatch::gpu {
namespace {

namespace fs = std::filesystem;

// Many systems give each user a group of the same name, and let it write what the user makes.
bool IsOwnGroup(gid_t group, uid_t owner) {
  std::array<char, 16384> user_text{};
  std::array<char, 16384> group_text{};
  passwd user{};
  passwd* found_user = nullptr;
  ::group entry{};
  ::group* found = nullptr;
  ::getpwuid_r(owner, &user, user_text.data(), user_text.size(), &found_user);
  ::getgrgid_r(group, &entry, group_text.data(), group_text.size(), &found);
  if (!found_user || !found) return false;
  const std::string_view name = user.pw_name;
  if (name != entry.gr_name) return false;
  for (char** member = entry.gr_mem; *member; ++member) {
    if (name != *member) return false;
  }
  return true;
}

bool OthersCanWrite(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return true;
  return (status.st_mode & S_IWGRP) != 0 && !IsOwnGroup(status.st_gid, status.st_uid);
}

bool IsTrustedOwner(uid_t owner) {
  struct stat program{};
  return owner == 0 || owner == ::geteuid() ||
         (::stat("/proc/self/exe", &program) == 0 && owner == program.st_uid);
}

[[noreturn]] void Refuse(const fs::path& plugin, const std::string& why) {
  throw DeviceError(fmt::format("{} is not opened: {}", plugin.string(), why));
}

}  // namespace

fs::path TrustedPlugin(const fs::path& plugin) {
  std::error_code error;
  const fs::path file = fs::canonical(plugin, error);
  if (error) Refuse(plugin, error.message());
  for (fs::path path = file;; path = path.parent_path()) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) Refuse(file, fmt::format("{} is gone", path.string()));
    const bool is_above = path != file && path != file.parent_path();
    if (!IsTrustedOwner(status.st_uid)) {
      Refuse(file, fmt::format("{} belongs to another user; use one of your own", path.string()));
    }
    // In a sticky folder, such as /tmp, no user can replace another's files.
    const bool keeps = is_above && (status.st_mode & S_ISVTX) != 0;
    if (!keeps && OthersCanWrite(status)) {
      Refuse(file, fmt::format("others can write into {0}; chmod go-w {0}", path.string()));
    }
    if (path == path.root_path()) return file;
  }
}

}  // namespace hogbatch::gpu
