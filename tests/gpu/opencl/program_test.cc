#include "gpu/opencl/program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/gpu/opencl/devices.h"

namespace hogbatch::opencl {
namespace {

namespace fs = std::filesystem;
using Origin = BuiltProgram::Origin;

constexpr std::string_view kSource = "__kernel void nothing(__global float *x) { x[0] = 1; }";

class OpenClProgram : public OnOpenCl {
 protected:
  void SetUp() override {
    OnOpenCl::SetUp();
    if (IsSkipped()) return;
    fs::remove_all(folder_);
    context_.reset(clCreateContext(nullptr, 1, &device().id, nullptr, nullptr, nullptr));
    ASSERT_NE(context_, nullptr);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Origin BuildIn(const fs::path& folder, std::string_view source = kSource) {
    const BuiltProgram built = BuildProgram(device(), context_.get(), source, ProgramCache(folder));
    cl_int code = CL_SUCCESS;
    const KernelObject kernel(clCreateKernel(built.program.get(), "nothing", &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return built.origin;
  }
  Origin Build(std::string_view source = kSource) { return BuildIn(folder_, source); }

  // The files of the cache, oldest name first.
  std::vector<fs::path> Kept() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }
  cl_context context() const { return context_.get(); }
  const fs::path& folder() const { return folder_; }

 private:
  Context context_;
  fs::path folder_ =
      fs::path(testing::TempDir()) /
      (std::string("hogbatch_") + testing::UnitTest::GetInstance()->current_test_info()->name() +
       std::to_string(getpid()));
};

TEST_F(OpenClProgram, ThatDoesNotCompileNamesDeviceAndLog) {
  const std::string sentence = SentenceOf<DeviceError>([&] {
    BuildProgram(device(), context(), "__kernel void f() { unheard_of(); }", ProgramCache({}));
  });
  EXPECT_EQ(sentence.find("opencl.0 (" + device().hardware_name + "): the kernels do not compile"),
            0u)
      << sentence;
  EXPECT_NE(sentence.find("unheard_of"), std::string::npos) << sentence;
}

TEST_F(OpenClProgram, IsCompiledOnceAndThenTakenFromTheCache) {
  EXPECT_EQ(Build(), Origin::kCompiled);
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_EQ(Build(), Origin::kCached);
}

TEST_F(OpenClProgram, OfAnotherSourceIsAnotherProgram) {
  EXPECT_EQ(Build(), Origin::kCompiled);
  EXPECT_EQ(Build("__kernel void nothing() {}"), Origin::kCompiled);
  EXPECT_EQ(Kept().size(), 2u);
  EXPECT_EQ(Build(), Origin::kCached);
}

TEST_F(OpenClProgram, IsCompiledAgainWhenItsFileIsDamaged) {
  Build();
  const fs::path file = Kept().at(0);
  const auto size = static_cast<std::int64_t>(fs::file_size(file));
  for (const std::int64_t at : {std::int64_t{3}, std::int64_t{30}, size / 2, size - 1}) {
    {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(at);
      const char flipped = static_cast<char>(stream.get() ^ 0x10);
      stream.seekp(at).put(flipped);
    }
    EXPECT_EQ(Build(), Origin::kCompiled) << "a bit differs at byte " << at;
    EXPECT_EQ(Build(), Origin::kCached) << "the damaged file was not replaced";
  }
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{10}, size / 2, size - 1}) {
    fs::resize_file(file, length);
    EXPECT_EQ(Build(), Origin::kCompiled) << "cut after " << length << " bytes";
  }
}

TEST_F(OpenClProgram, LeavesAFileOfANewerFormatAlone) {
  Build();
  const fs::path file = Kept().at(0);
  const std::string newer = "hogbatch OpenCL program, format 2, and whatever it needs";
  std::ofstream(file, std::ios::binary) << newer;
  EXPECT_EQ(Build(), Origin::kCompiled);
  std::ifstream stream(file, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), newer);
}

TEST_F(OpenClProgram, DoesNotTakeTheFileOfAnotherProgram) {
  Build();
  const fs::path ours = Kept().at(0);
  const std::string other = "__kernel void nothing() {}";
  Build(other);
  for (const fs::path& file : Kept()) {
    if (file != ours) fs::copy_file(file, ours, fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(Build(), Origin::kCompiled);
}

TEST_F(OpenClProgram, IsNeitherKeptNorTakenWhereOthersCanWrite) {
  Build();
  fs::permissions(folder(), fs::perms(0777));
  EXPECT_EQ(Build(), Origin::kCompiled);
  EXPECT_EQ(Build("__kernel void nothing() {}"), Origin::kCompiled);
  EXPECT_EQ(Kept().size(), 1u);
}

TEST_F(OpenClProgram, NeedsNoCache) {
  EXPECT_EQ(BuildProgram(device(), context(), kSource, ProgramCache({})).origin, Origin::kCompiled);
  std::ofstream(folder()) << "a file where the folder should be";
  EXPECT_EQ(Build(), Origin::kCompiled);
  EXPECT_EQ(BuildIn("/proc/nowhere"), Origin::kCompiled);
}

TEST(OpenClProgramCache, LivesWhereTheUserKeepsCaches) {
  const auto with = [](const char* cache, const char* home) {
    cache ? ::setenv("XDG_CACHE_HOME", cache, 1) : ::unsetenv("XDG_CACHE_HOME");
    home ? ::setenv("HOME", home, 1) : ::unsetenv("HOME");
    return DefaultCacheFolder();
  };
  const std::string home_before = std::getenv("HOME") ? std::getenv("HOME") : "/";
  const std::string cache_before =
      std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
  EXPECT_EQ(with("/a", "/b"), fs::path("/a/hogbatch"));
  EXPECT_EQ(with("relative", "/b"), fs::path("/b/.cache/hogbatch"));
  EXPECT_EQ(with(nullptr, "/b"), fs::path("/b/.cache/hogbatch"));
  EXPECT_EQ(with(nullptr, nullptr), std::nullopt);
  with(cache_before.empty() ? nullptr : cache_before.c_str(), home_before.c_str());
}

}  // namespace
}  // namespace hogbatch::opencl
