#include "nn/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/paths.h"

namespace hogbatch {
namespace {

namespace fs = std::filesystem;

// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "hogbatch_nn_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string WithLength(const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + data;
}

std::string FloatBytes(std::initializer_list<float> numbers) {
  std::string bytes;
  for (const float number : numbers) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

SafeTensors Parse(const std::string& file, TensorFileKind kind = TensorFileKind::kModel) {
  return ParseSafeTensors(std::as_bytes(std::span(file)), "m.safetensors", kind);
}

// The sentence a user reads for a damaged file.
std::string Complaint(const std::string& file, TensorFileKind kind = TensorFileKind::kModel) {
  try {
    Parse(file, kind);
  } catch (const UserError& error) {
    return error.what();
  }
  return "read without complaint";
}

const std::vector<float> kWeights = {1, -2.5f, 3e-38f, 4, 5, 6};
const std::vector<float> kBias = {0.5f, -0.0f};

void WriteModel(const std::string& path) {
  const std::vector<TensorView> tensors = {{"layer0.weight", {3, 2}, kWeights},
                                           {"layer0.bias", {2}, kBias}};
  WriteSafeTensors(path, {{"network", "{\"loss\":\"softmax\"}"}, {"labels", "ä\n\"b\""}}, tensors);
}

TEST(SafeTensors, ComeBackAsTheyWereWritten) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  WriteModel(path);
  EXPECT_EQ(folder.files(), 1) << "nothing but the file is left";
  const SafeTensors read = ReadSafeTensors(path);
  EXPECT_EQ(read.metadata.at("network"), "{\"loss\":\"softmax\"}");
  EXPECT_EQ(read.metadata.at("labels"), "ä\n\"b\"");
  ASSERT_EQ(read.tensors.size(), 2u);
  ASSERT_NE(read.Find("layer0.weight"), nullptr);
  EXPECT_EQ(read.Find("layer0.weight")->shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(read.Find("layer0.weight")->data, kWeights);
  EXPECT_EQ(read.Find("layer0.bias")->data, kBias);
  EXPECT_EQ(read.Find("layer1.bias"), nullptr);
}

TEST(SafeTensors, MayHoldWholeNumbersForOtherPrograms) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  const std::vector<std::int64_t> longs = {-1, std::int64_t{1} << 40};
  const std::vector<std::int32_t> ints = {7};
  const std::vector<TensorView> tensors = {{"long", {2}, longs}, {"int", {1}, ints}};
  WriteSafeTensors(path, {}, tensors);
  const std::string file = Slurp(path);
  EXPECT_NE(file.find(R"("int":{"data_offsets":[16,20],"dtype":"I32","shape":[1]})"),
            std::string::npos);
  EXPECT_NE(file.find(R"("long":{"data_offsets":[0,16],"dtype":"I64","shape":[2]})"),
            std::string::npos);
  ASSERT_GE(file.size(), 20u);
  EXPECT_EQ(std::memcmp(file.data() + file.size() - 20, longs.data(), 16), 0);
  EXPECT_EQ(std::memcmp(file.data() + file.size() - 4, ints.data(), 4), 0);
  EXPECT_NE(Complaint(file).find("I"), std::string::npos) << "models hold floats";
}

TEST(SafeTensors, BeginTheirNumbersAtAMultipleOfEight) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  WriteModel(path);
  const std::string file = Slurp(path);
  EXPECT_EQ((file.size() - (kWeights.size() + kBias.size()) * sizeof(float)) % 8, 0u);
  EXPECT_EQ(file[8], '{');
}

TEST(SafeTensors, ReplaceAnOlderFileWhole) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  std::ofstream(path) << std::string(10000, 'x');
  WriteModel(path);
  EXPECT_EQ(ReadSafeTensors(path).tensors.size(), 2u);
}

TEST(SafeTensors, SurviveTextThatIsNotUtf8) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  WriteSafeTensors(path, {{"labels", "caf\xe9"}}, {});
  EXPECT_EQ(ReadSafeTensors(path).metadata.at("labels"), "caf\xef\xbf\xbd");
}

TEST(SafeTensors, NeverHoldNumbersThatAreNotFinite) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> data = {1, bad};
    const std::vector<TensorView> tensors = {{"w", {2}, data}};
    EXPECT_THROW(WriteSafeTensors(path, {}, tensors), Error);
    EXPECT_EQ(folder.files(), 0);
    const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    EXPECT_NE(Complaint(WithLength(header, FloatBytes({1, bad}))).find("NaN or infinite"),
              std::string::npos);
  }
}

TEST(SafeTensors, SayWhereTheyCannotBeWrittenOrRead) {
  const Folder folder;
  EXPECT_THROW(WriteModel(folder / "missing/m.safetensors"), UserError);
  fs::create_directory(folder / "taken");
  EXPECT_THROW(WriteModel(folder / "taken"), UserError);
  EXPECT_EQ(folder.files(), 1) << "the file aside is removed";
  EXPECT_THROW(ReadSafeTensors(folder / "missing"), UserError);
  EXPECT_THROW(ReadSafeTensors(folder / "taken"), UserError);
}

TEST(SafeTensors, KeepTheOldFileWhenTheNewOneCannotBeFinished) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  WriteModel(path);
  const std::string before = Slurp(path);
  // A limit on the size of files stands for a full disk.
  rlimit old_limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 64;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string what;
  try {
    WriteModel(path);
  } catch (const Error& error) {
    what = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(what, "cannot write " + path + ": File too large");
  EXPECT_EQ(Slurp(path), before);
  EXPECT_EQ(folder.files(), 1);
}

TEST(SafeTensors, AcceptWhatTheFormatAllows) {
  EXPECT_EQ(Parse(WithLength("{}", "")).tensors.size(), 0u);
  const SafeTensors odd =
      Parse(WithLength(R"({"b":{"dtype":"F32","shape":[],"data_offsets":[4,8]},)"
                       R"("a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)"
                       R"("none":{"dtype":"F32","shape":[0,9],"data_offsets":[4,4]}}   )",
                       FloatBytes({1, 2})));
  ASSERT_EQ(odd.tensors.size(), 3u);
  EXPECT_EQ(odd.Find("a")->data, std::vector<float>{1});
  EXPECT_EQ(odd.Find("b")->data, std::vector<float>{2});
  EXPECT_TRUE(odd.Find("none")->data.empty());
}

struct Damage {
  const char* name;
  std::string file;
  const char* says;

  friend void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }
};

// A tensor "w" whose description is damaged.
std::string Tensor(const std::string& description, std::initializer_list<float> data) {
  return WithLength("{\"w\":" + description + "}", FloatBytes(data));
}

std::vector<Damage> Damages() {
  const std::string good = Tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", {1, 2});
  const std::string huge(8, '\xff');
  return {
      {"empty", "", "only 0 bytes"},
      {"short", "abc", "only 3 bytes"},
      {"length", huge + "{}", "does not begin as a safetensors file"},
      {"header_cut", good.substr(0, 30), "cut off"},
      {"data_cut", good.substr(0, good.size() - 1), "cut off: 8 bytes of numbers are due and 7"},
      {"trailing", good + "x", "1 bytes follow its last tensor"},
      {"no_json", WithLength("{\"w\":", ""), "not valid JSON"},
      {"no_header", WithLength("", ""), "not valid JSON"},
      {"bad_utf8", WithLength("{\"\xff\":{}}", ""), "not valid JSON"},
      {"list", WithLength("[]", ""), "not a JSON object"},
      {"deep_lists", WithLength(std::string(1000000, '['), ""), "not a JSON object"},
      {"deep_objects", WithLength(R"({"w":{"a":{"b":{}}}})", ""), "nested too deeply"},
      {"deep_in_tensor", Tensor(R"({"dtype":"F32","shape":[[[2]]]})", {}), "nested too deeply"},
      {"twice",
       WithLength(R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                  R"("w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                  ""),
       "names 'w' twice"},
      {"metadata", WithLength(R"({"__metadata__":3})", ""), "metadata is not"},
      {"metadata_value", WithLength(R"({"__metadata__":{"k":3}})", ""), "'k' is not a string"},
      {"no_object", Tensor("7", {}), "has no dtype"},
      {"no_shape", Tensor(R"({"dtype":"F32"})", {}), "has no shape"},
      {"no_offsets", Tensor(R"({"dtype":"F32","shape":[1]})", {1}), "has no data_offsets"},
      {"half", Tensor(R"({"dtype":"F16","shape":[2],"data_offsets":[0,4]})", {1}), "holds F16"},
      {"type", Tensor(R"({"dtype":7,"shape":[2],"data_offsets":[0,4]})", {1}), "an unknown type"},
      {"shape", Tensor(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", {1, 2}), "is no list"},
      {"negative", Tensor(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", {1, 2}),
       "not whole numbers"},
      {"fraction", Tensor(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})", {1, 2}),
       "not whole numbers"},
      {"overflow",
       Tensor(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]})", {}),
       "does not fit"},
      {"overflow_64",
       Tensor(R"({"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]})", {1, 2}),
       "not whole numbers"},
      {"backwards", Tensor(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", {1, 2}),
       "does not fit"},
      {"mismatch", Tensor(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", {1, 2}),
       "does not fit"},
      {"huge_tensor",
       Tensor(R"({"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]})", {}),
       "cut off"},
      {"gap", Tensor(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", {1, 2}),
       "begins at byte 4 instead of 0"},
      {"overlap",
       WithLength(R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                  FloatBytes({1, 2})),
       "begins at byte 4 instead of 8"},
  };
}

class DamagedFile : public testing::TestWithParam<Damage> {};

TEST_P(DamagedFile, IsNamedWithItsPathAndWhatToDo) {
  const std::string what = Complaint(GetParam().file);
  EXPECT_EQ(what.find("m.safetensors is not a model file"), 0u) << what;
  EXPECT_NE(what.find(GetParam().says), std::string::npos) << what;
  EXPECT_NE(what.find("copy it again"), std::string::npos) << what;
}

TEST_P(DamagedFile, OfACheckpointIsNotCalledAModel) {
  const std::string what = Complaint(GetParam().file, TensorFileKind::kCheckpoint);
  EXPECT_EQ(what.find("m.safetensors is not a checkpoint that can be read: "), 0u) << what;
  EXPECT_NE(what.find(GetParam().says), std::string::npos) << what;
  EXPECT_EQ(what.find("model"), std::string::npos) << what;
}

INSTANTIATE_TEST_SUITE_P(Every, DamagedFile, testing::ValuesIn(Damages()),
                         [](const auto& test) { return test.param.name; });

TEST(SafeTensors, AreNeverReadPastTheirEndWhereverTheyAreCut) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  WriteModel(path);
  const std::string whole = Slurp(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(Complaint(whole.substr(0, length)), "read without complaint") << length;
  }
  std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() - 2);
  EXPECT_THROW(ReadSafeTensors(path), UserError);
}

// Runs a script with the project's own Python; its files lie in argv[1] and argv[2].
int RunPython(const std::string& script, const std::string& first, const std::string& second) {
  const std::string command =
      "'" + InSource(".deps/bin/python") + "' '" + script + "' '" + first + "' '" + second + "'";
  return std::system(command.c_str());
}

TEST(SafeTensors, AreReadAndWrittenByThePythonPackageToo) {
  const Folder folder;
  const std::string probe = folder / "probe.py", script = folder / "script.py";
  std::ofstream(probe) << "try:\n  import numpy, safetensors\nexcept ImportError:\n  exit(1)\n";
  if (!fs::exists(InSource(".deps/bin/python")) || RunPython(probe, "", "") != 0) {
    GTEST_SKIP() << "no " << InSource(".deps/bin/python")
                 << " with numpy and safetensors: scripts/setup test installs them";
  }
  const std::string ours = folder / "ours.safetensors", theirs = folder / "theirs.safetensors";
  WriteModel(ours);
  std::ofstream(script) << R"(
import sys, numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
t = load_file(sys.argv[1])
assert sorted(t) == ["layer0.bias", "layer0.weight"]
assert t["layer0.weight"].dtype == np.float32 and t["layer0.weight"].shape == (3, 2)
assert t["layer0.weight"][0, 1] == -2.5 and t["layer0.bias"][0] == 0.5
with safe_open(sys.argv[1], "np") as f:
    assert f.metadata() == {"network": '{"loss":"softmax"}', "labels": '\u00e4\n"b"'}, f.metadata()
save_file({"b": np.arange(3, dtype=np.float32), "a": t["layer0.weight"]}, sys.argv[2], {"k": "v"})
)";
  ASSERT_EQ(RunPython(script, ours, theirs), 0);
  const SafeTensors read = ReadSafeTensors(theirs);
  EXPECT_EQ(read.metadata.at("k"), "v");
  ASSERT_NE(read.Find("a"), nullptr);
  EXPECT_EQ(read.Find("a")->data, kWeights);
  EXPECT_EQ(read.Find("b")->data, (std::vector<float>{0, 1, 2}));
}

}  // namespace
}  // namespace hogbatch
