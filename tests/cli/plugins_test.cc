// Plug-ins that are missing, damaged or of another build cost the GPU and nothing else.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/guard/machine_limits.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Plugins : public testing::Test {
 protected:
  void SetUp() override { folder_.Write("data", TwoClasses(40)); }

  // Runs the program with the plug-ins of one of the fakes' folders, or of any by its path.
  Finished With(const std::string& plugins, const std::vector<std::string>& arguments) const {
    const std::string path =
        plugins.starts_with('/') ? plugins : InBuild("tests/cli/plugins/" + plugins);
    const ScopedVariable here("HOGBATCH_PLUGINS", path);
    return RunProgram(arguments, folder_.path());
  }
  // As where NVIDIA's driver is installed.
  Finished WithDriverAnd(const std::string& plugins,
                         const std::vector<std::string>& arguments) const {
    const ScopedVariable driver("LD_LIBRARY_PATH", InBuild("tests/cli/plugins/driver"));
    return With(plugins, arguments);
  }

  TemporaryFolder folder_;
};

// Lines of `devices` are broken anywhere; its JSON holds the sentences whole.
const std::vector<std::string> kDevices = {"devices", "--json"};

TEST_F(Plugins, ThatAreMissingAreSaidToBeNotBuiltWithWhatToInstall) {
  const Finished finished = With(folder_.path(), kDevices);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("this program was built without CUDA (there is no "
                                      "libhogbatch_cuda.so in " +
                                      folder_.path() + "); install the CUDA toolkit"));
  EXPECT_THAT(finished.out, HasSubstr("built without OpenCL"));
  EXPECT_THAT(finished.out, HasSubstr("libclblast-dev"));
}

TEST_F(Plugins, ThatAreMissingAreTheReasonWhyANamedDeviceIsAbsent) {
  for (const char* device : {"cuda:0", "opencl:*"}) {
    const Finished finished =
        With(folder_.path(), {"train", "data", "--quiet", "--devices", device});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr(fmt::format("there is no {} here, only cpu: this program "
                                                    "was built without",
                                                    device)));
    EXPECT_FALSE(folder_.Has("runs"));
  }
}

TEST_F(Plugins, ThatAreNoLibrariesAreSaidAndTheCoresTrain) {
  for (const char* name : {"libhogbatch_cuda.so", "libhogbatch_opencl.so"}) {
    folder_.Write(name, std::string(4096, 'x'));
  }
  const Finished listed = WithDriverAnd(folder_.path(), kDevices);
  EXPECT_EQ(listed.exit_code, 0);
  for (const char* name : {"CUDA", "OpenCL"}) {
    EXPECT_THAT(listed.out, HasSubstr(fmt::format("{} does not load (", name)));
  }
  EXPECT_THAT(listed.out, HasSubstr("invalid ELF header); build or install hogbatch again"));
  const Finished trained =
      WithDriverAnd(folder_.path(), {"train", "data", "--epochs", "1", "--hidden", "3"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("hogbatch on cpu.0"));
}

TEST_F(Plugins, OfAnotherVersionAreSaid) {
  const Finished finished = WithDriverAnd("other_version", kDevices);
  EXPECT_EQ(finished.exit_code, 0);
  for (const char* name : {"cuda", "opencl"}) {
    EXPECT_THAT(finished.out, HasSubstr(fmt::format("libhogbatch_{}.so belongs to another version "
                                                    "of hogbatch than this, 0.",
                                                    name)));
  }
}

TEST_F(Plugins, WithoutAnEntryAreSaid) {
  const Finished finished = WithDriverAnd("no_entry", kDevices);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("libhogbatch_opencl.so is no plug-in of hogbatch"));
}

TEST_F(Plugins, ThatMissALibraryNameItAndWhatToInstall) {
  const Finished finished = WithDriverAnd("no_library", kDevices);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("CUDA does not load (libcudnn_elsewhere.so.9: cannot open "
                                      "shared object file: No such file or directory); install "
                                      "cuDNN 9"));
}

TEST_F(Plugins, OfCudaAreNotOpenedWithoutNvidiasDriver) {
  if (::dlopen("libcuda.so.1", RTLD_LAZY)) GTEST_SKIP() << "NVIDIA's driver is installed here";
  // This one would fail to load, had it been tried.
  const Finished finished = With("no_library", kDevices);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("there is no NVIDIA driver (libcuda.so.1: cannot open"));
  EXPECT_THAT(finished.out, Not(HasSubstr("cudnn_elsewhere")));
}

TEST_F(Plugins, DoWithoutACacheThatOthersCanWriteAndItIsSaid) {
  const ScopedVariable caches("XDG_CACHE_HOME", folder_.path());
  const std::string cache = folder_.path() + "/hogbatch";
  fs::create_directory(cache);
  fs::permissions(cache, fs::perms(0777));
  const std::string why = "others can write into " + cache;
  EXPECT_THAT(WithDriverAnd("two_devices", kDevices).out, HasSubstr(why));
  const std::vector<std::string> train = {
      "train", "data", "--hidden", "3", "--epochs", "1", "--out", "o", "--devices", "cuda:0,cpu:1"};
  EXPECT_THAT(WithDriverAnd("two_devices", train).err, HasSubstr("uses no cache: " + why));
  EXPECT_TRUE(fs::is_empty(cache));
  fs::permissions(cache, fs::perms(0700));
  EXPECT_THAT(WithDriverAnd("two_devices", kDevices).out, Not(HasSubstr("others can write")));
  EXPECT_THAT(WithDriverAnd("two_devices", train).err, Not(HasSubstr("uses no cache")));
}

// A copy of a plug-in, in a folder of its own.
class PluginTrust : public Plugins {
 protected:
  void SetUp() override {
    Plugins::SetUp();
    fs::create_directories(plugins_);
    fs::copy_file(InBuild("tests/cli/plugins/no_device/libhogbatch_opencl.so"), file_);
  }
  std::string List() const { return With(plugins_, kDevices).out; }
  void ExpectRefused(const std::string& why) const {
    const std::string listed = List();
    EXPECT_THAT(listed, HasSubstr(file_ + " is not opened: " + why));
    EXPECT_THAT(listed, Not(HasSubstr(kOpened)));
  }

  static constexpr const char* kOpened = "no driver offers a device";
  const std::string above_ = folder_.path() + "/above";
  const std::string plugins_ = above_ + "/plugins";
  const std::string file_ = plugins_ + "/libhogbatch_opencl.so";
};

TEST_F(PluginTrust, NeedsAFileAndFoldersThatOthersCannotWrite) {
  EXPECT_THAT(List(), HasSubstr(kOpened));
  for (const std::string& path : {file_, plugins_, above_}) {
    const fs::perms before = fs::status(path).permissions();
    for (const fs::perms others : {fs::perms::others_write, fs::perms::group_write}) {
      // A group that is the owner's alone may write. Only root can choose another here.
      if (others == fs::perms::group_write && ::chown(path.c_str(), -1, 1) != 0) continue;
      fs::permissions(path, before | others);
      ExpectRefused("others can write into " + path + "; chmod go-w " + path);
    }
    fs::permissions(path, before);
    EXPECT_THAT(List(), HasSubstr(kOpened));
  }
}

TEST_F(PluginTrust, TakesAStickyFolderAboveButNoneForPlugins) {
  fs::permissions(above_, fs::perms(01777));
  EXPECT_THAT(List(), HasSubstr(kOpened));
  fs::permissions(plugins_, fs::perms(01777));
  ExpectRefused("others can write into " + plugins_);
}

TEST_F(PluginTrust, NeedsAnOwnerWhoIsTrustedAnyway) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (const std::string& path : {file_, plugins_, above_}) {
    ASSERT_EQ(::chown(path.c_str(), 1, -1), 0);
    ExpectRefused(path + " belongs to another user");
    ASSERT_EQ(::chown(path.c_str(), 0, -1), 0);
  }
}

TEST_F(PluginTrust, LooksAtWhatALinkNames) {
  const std::string link = folder_.path() + "/link";
  fs::create_directory_symlink(plugins_, link);
  EXPECT_THAT(With(link, kDevices).out, HasSubstr(kOpened));
  fs::permissions(plugins_, fs::perms(0777));
  EXPECT_THAT(With(link, kDevices).out, HasSubstr(file_ + " is not opened"));
}

TEST_F(Plugins, ThatFindNothingSayWhatToLookAt) {
  const Finished finished = WithDriverAnd("no_device", kDevices);
  EXPECT_THAT(finished.out, HasSubstr("see what nvidia-smi lists"));
  EXPECT_THAT(finished.out, HasSubstr("no driver offers a device"));
}

TEST_F(Plugins, WhoseDriverIsTooOldSaySo) {
  const Finished listed = WithDriverAnd("old_driver", kDevices);
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("\"the driver is older than the runtime; update the"));
  const Finished trained = WithDriverAnd("old_driver", {"train", "data", "--devices", "cuda:0"});
  EXPECT_EQ(trained.exit_code, 2);
  EXPECT_THAT(trained.err, HasSubstr("only cpu: the driver is older"));
}

TEST_F(Plugins, ListTheirDevicesAndAutoTakesThem) {
  const Finished finished = WithDriverAnd("two_devices", {"devices"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("cuda:1    a GPU of paper\n          2 GB of memory\n"));
  std::string text = finished.out;  // whose lines break where the number of cores wants it
  std::ranges::replace(text, '\n', ' ');
  EXPECT_THAT(text, HasSubstr("--devices auto takes cpu.0"));
  EXPECT_THAT(text, HasSubstr(", cuda.0, cuda.1 to train, and cuda.0, cuda.1 to eval and predict"));
}

TEST_F(Plugins, WhoseDeviceCannotBeMadeEndACommandWithTheReason) {
  const Finished trained =
      WithDriverAnd("two_devices", {"train", "data", "--hidden", "3", "--epochs", "1", "--quiet",
                                    "--out", "o", "--devices", "cuda:1"});
  EXPECT_EQ(trained.exit_code, 1);
  const std::string reason =
      "cuda.1 (a GPU of paper): cudaStreamCreate: out of paper; --devices cpu does without it\n";
  EXPECT_EQ(trained.err, "hogbatch: worker cuda.1 failed: " + reason +
                             "hogbatch: training ended early because its last worker failed\n");
  ASSERT_EQ(With(folder_.path(),
                 {"train", "data", "--hidden", "3", "--epochs", "1", "--quiet", "--out", "m"})
                .exit_code,
            0);
  for (const char* command : {"eval", "predict"}) {
    const Finished finished = WithDriverAnd(
        "two_devices", {command, "m/model.safetensors", "data", "--devices", "cuda:1"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_EQ(finished.err, "hogbatch: " + reason);
  }
}

TEST_F(Plugins, AreNotOpenedForCores) {
  const Finished finished = WithDriverAnd(
      "two_devices",
      {"train", "data", "--hidden", "3", "--epochs", "1", "--devices", "cpu:1", "--out", "o"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("hogbatch on cpu.0 ("));
}

TEST_F(Plugins, WhoseDeviceFailsLeaveTheTrainingToTheOthers) {
  const Finished finished =
      WithDriverAnd("two_devices", {"train", "data", "--hidden", "3", "--epochs", "2", "--devices",
                                    "cuda:0,cpu:1", "--out", "o"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("worker cuda.0 failed and the others go on: cuda.0"));
  EXPECT_EQ(ValueOf(folder_.Read("o/summary.json"), "stopped_because"), "epochs");
}

// Programs that are started while it lives have this much address space (ulimit -v).
class ScopedAddressLimit {
 public:
  explicit ScopedAddressLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) throw std::runtime_error("no limit to test with");
  }
  ~ScopedAddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  ScopedAddressLimit(const ScopedAddressLimit&) = delete;
  ScopedAddressLimit& operator=(const ScopedAddressLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(Plugins, AreNotOpenedWithTooLittleAddressSpaceForADriver) {
  const ScopedAddressLimit limit(rlim_t{400} << 20);
  if (AddressSpaceLeft() == 0) GTEST_SKIP() << "a sanitizer takes more";
  const Finished listed = WithDriverAnd("two_devices", kDevices);
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("left; raise the limit (ulimit -v)"));
  EXPECT_THAT(listed.out, Not(HasSubstr("of paper")));
  std::vector<std::string> train = {"train",   "data",     "--hidden", "3",         "--out", "o",
                                    "--quiet", "--epochs", "1",        "--devices", "cuda:0"};
  const Finished refused = WithDriverAnd("two_devices", train);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("only cpu: its driver needs about"));
  train.back() = "auto";
  EXPECT_EQ(WithDriverAnd("two_devices", train).exit_code, 0);
}

}  // namespace
}  // namespace hogbatch
