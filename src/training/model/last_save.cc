#include "training/model/last_save.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/text.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kBetweenTries(500);

// A model that does not fit is not begun: it would fill the disk for others until it fails.
void CheckSpace(const SavedModel& model, const std::string& folder) {
  struct statvfs space{};
  if (::statvfs(folder.c_str(), &space) != 0 || space.f_blocks == 0) return;  // the save will tell
  // Of some file systems the product is beyond 64 bits.
  const double has = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const std::size_t needs = BytesInFile(model);
  if (has >= static_cast<double>(needs)) return;
  throw Error(fmt::format("the disk of {} is full: the model needs {} bytes, and {} are free",
                          folder, Grouped(static_cast<std::int64_t>(needs)),
                          Grouped(static_cast<std::int64_t>(has))));
}

// Empty: it is saved. Otherwise the reason why not.
std::string TrySave(const SavedModel& model, const std::string& folder) {
  try {
    CheckSpace(model, folder);
    SaveModel(ModelPath(folder), model);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Names for mkdtemp: a folder of this user alone, which no other user can have put there.
std::vector<std::string> OtherFolders(const std::string& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  const fs::path place = whole.has_filename() ? whole : whole.parent_path();
  const fs::path temporary = fs::temp_directory_path(error);
  return {
      fmt::format("{}-rescued-XXXXXX", place.string()),
      fmt::format("{}/hogbatch-rescued-XXXXXX", temporary.empty() ? "/tmp" : temporary.string())};
}

}  // namespace

std::string SaveLast(const SavedModel& model, const std::string& folder, TrainingObserver& observer,
                     double seconds) {
  std::string reason = TrySave(model, folder);
  if (reason.empty()) return folder;
  if (seconds > 0) observer.OnWarning(fmt::format("{}; trying again for {:g} s", reason, seconds));
  for (const double end = SteadySeconds() + seconds; SteadySeconds() < end;) {
    std::this_thread::sleep_for(kBetweenTries);
    reason = TrySave(model, folder);
    if (reason.empty()) return folder;
  }
  for (std::string& other : OtherFolders(folder)) {
    if (!::mkdtemp(other.data())) continue;
    if (!TrySave(model, other).empty()) {
      std::error_code error;
      fs::remove(other, error);
      continue;
    }
    observer.OnWarning(fmt::format("the model was saved in {} instead, because {}", other, reason));
    return other;
  }
  throw Error(fmt::format("the model was not saved: {}; other folders failed, too", reason));
}

}  // namespace hogbatch
