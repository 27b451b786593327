// The last save of a run whose folder can no longer be written.

#include "training/model/last_save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "core/error.h"
#include "core/text.h"
#include "tests/support/observers.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

SavedModel SmallModel() {
  const ModelSpec spec{.inputs = 1, .hidden = {}, .outputs = 2};
  SavedModel model{.spec = spec, .schema = {}, .parameters = {}};
  model.schema.features = 1;
  model.schema.file_columns = 1;
  model.schema.label_names = {"a", "b"};
  model.parameters.resize(static_cast<std::size_t>(Layout(spec).floats));
  return model;
}

struct Saved {
  std::string folder;
  std::string told;
};
Saved Save(const std::string& folder) {
  QuietObserver observer;
  const std::string saved = SaveLast(SmallModel(), folder, observer, 0);
  return {.folder = saved, .told = observer.warnings};
}

TEST(LastSave, GoesIntoTheFolderOfTheRun) {
  const TemporaryFolder folder;
  const Saved saved = Save(folder.path());
  EXPECT_EQ(saved.folder, folder.path());
  EXPECT_EQ(saved.told, "");
  EXPECT_TRUE(folder.Has("model.safetensors"));
}

TEST(LastSave, GoesBesideAFolderThatWasRemoved) {
  const TemporaryFolder folder;
  const Saved saved = Save(folder.path() + "/removed/");
  EXPECT_THAT(saved.folder, HasSubstr(folder.path() + "/removed-rescued-"));
  EXPECT_THAT(saved.told, HasSubstr("No such file or directory"));
  EXPECT_THAT(saved.told, HasSubstr("the model was saved in " + saved.folder + " instead"));
  EXPECT_TRUE(fs::exists(saved.folder + "/model.safetensors"));
  EXPECT_EQ(fs::status(saved.folder).permissions(), fs::perms(0700)) << "the user's alone";
}

TEST(LastSave, GoesIntoTheTemporaryFolderIfThatFailsToo) {
  // Nothing can be made below a file, whoever runs the test.
  const TemporaryFolder folder;
  folder.Write("file", "");
  const ScopedVariable variable("TMPDIR", folder.path());
  const Saved saved = Save(folder.path() + "/file/run");
  EXPECT_THAT(saved.folder, HasSubstr(folder.path() + "/hogbatch-rescued-"));
  EXPECT_TRUE(fs::exists(saved.folder + "/model.safetensors"));
}

// A file system of this size at `folder`, as this thread alone sees it. False: that is not
// permitted here.
bool Mount(const std::string& folder, unsigned long flags, const char* size) {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", flags, size) == 0;
}

// Saves into a folder on a file system of its own, which goes away with the thread and has only
// `free` bytes left. None: mounting is not permitted here.
std::optional<Saved> SaveMounted(const std::string& run, unsigned long flags, std::size_t free) {
  constexpr std::size_t kBytes = 64 << 10;
  fs::create_directory(run);
  std::optional<Saved> saved;
  std::jthread([&] {
    if (!Mount(run, flags, "size=64k")) return;
    std::ofstream(run + "/rest") << std::string(kBytes - free, '.');
    saved = Save(run);
  }).join();
  return saved;
}

void ExpectSavedBeside(unsigned long flags, const char* reason) {
  const TemporaryFolder folder;
  const std::string run = folder.path() + "/run";
  const std::optional<Saved> saved = SaveMounted(run, flags, 0);
  if (!saved) GTEST_SKIP() << "mounting needs root";
  EXPECT_THAT(saved->folder, HasSubstr(run + "-rescued-"));
  EXPECT_THAT(saved->told, HasSubstr(reason));
  EXPECT_TRUE(fs::exists(saved->folder + "/model.safetensors"));
}

TEST(LastSave, GoesBesideAFolderOnAFullDisk) {
  const std::string needs = Grouped(static_cast<std::int64_t>(BytesInFile(SmallModel())));
  ExpectSavedBeside(0, ("is full: the model needs " + needs + " bytes, and 0 are free").c_str());
}

TEST(LastSave, GoesBesideAFolderThatBecameReadOnly) {
  ExpectSavedBeside(MS_RDONLY, "Read-only file system");
}

// 64 kB have room for a model of 2 kB.
TEST(LastSave, NeedsRoomForTheFileAndNoMore) {
  const TemporaryFolder folder;
  SaveModel(folder.path() + "/model", SmallModel());
  EXPECT_EQ(BytesInFile(SmallModel()), fs::file_size(folder.path() + "/model"));
  const std::optional<Saved> saved = SaveMounted(folder.path() + "/run", 0, 32 << 10);
  if (!saved) GTEST_SKIP() << "mounting needs root";
  EXPECT_EQ(saved->folder, folder.path() + "/run");
  EXPECT_EQ(saved->told, "");
}

TEST(LastSave, FailsWithTheReasonIfThereIsNoFolderAtAll) {
  const ScopedVariable variable("TMPDIR", "/proc");
  QuietObserver observer;
  EXPECT_THROW(SaveLast(SmallModel(), "/proc/hogbatch/run", observer, 0), Error);
}

}  // namespace
}  // namespace hogbatch
