// Model files, checkpoints and records made to break their readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/hostile/refused.h"
#include "tests/hostile/tensors.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

const std::string kThreeRows = "1 1:1\n2 1:2\n3 1:3\n";

struct ModelFile {
  const char* name;
  std::function<std::string()> content;
  const char* gist;  // of the refusal; empty: it is read
  friend void PrintTo(const ModelFile& file, std::ostream* out) { *out << file.name; }
};

class HostileModel : public testing::TestWithParam<ModelFile> {};

TEST_P(HostileModel, IsReadOrRefusedWithAReason) {
  const TemporaryFolder folder;
  folder.Write("data", kThreeRows);
  folder.Write("bad", GetParam().content());
  for (const char* command : {"eval", "predict"}) {
    const Finished finished =
        RunProgram({command, "bad", "data", "--devices", "cpu:1"}, folder.path());
    ExpectSmall(finished);
    if (*GetParam().gist != '\0') {
      ExpectRefused(finished, GetParam().gist);
    } else {
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
    }
  }
}

// A good model in which one member of its schema or network is another.
std::string WithSchema(const char* key, const Json& value) {
  HandMadeModel model;
  model.schema[key] = value;
  return model.Text();
}
std::string WithNetwork(const char* key, const Json& value) {
  HandMadeModel model;
  model.network[key] = value;
  return model.Text();
}
std::string WithMetadata(const char* key, const Json& value) {
  HandMadeModel model;
  model.metadata[key] = value;
  return model.Text();
}
// One whose first tensor is described otherwise.
std::string WithTensor(const char* key, const Json& value) {
  HandMadeModel model;
  model.tensors["layers.0.bias"][key] = value;
  return model.Text();
}

std::string EmptyTensors(int count) {
  HandMadeModel model;
  for (int i = 0; i < count; ++i) {
    model.tensors[fmt::format("t{}", i)] = {
        {"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {0, 0}}};
  }
  return model.Text();
}

std::vector<ModelFile> Files() {
  return {
      {"Good", [] { return HandMadeModel().Text(); }, ""},
      {"Deep", [] { return HandMadeModel(200).Text(); }, ""},
      {"Empty", [] { return ""; }, "only 0 bytes"},
      {"HugeLength", [] { return std::string(8, '\xff') + "{}"; }, "does not begin"},
      {"LengthBeyondTheFile", [] { return TensorFile(std::string(100, ' ')).substr(0, 50); },
       "cut off"},
      {"MillionsOfBracketsAsHeader", [] { return TensorFile(std::string(29 << 20, '[')); },
       "not a JSON object"},
      {"MillionsOfBracketsAsNetwork",
       [] { return WithMetadata("network", std::string(29 << 20, '[')); }, "nested too deeply"},
      {"MillionsOfBracketsAsSchema",
       [] { return WithMetadata("schema", std::string(29 << 20, '[')); }, "nested too deeply"},
      {"MillionKeysInNetwork",
       [] { return WithMetadata("network", WithAMillionKeys(HandMadeModel().network.dump())); },
       "too many keys"},
      {"MillionKeysInSchema",
       [] { return WithMetadata("schema", WithAMillionKeys(HandMadeModel().schema.dump())); },
       "too many keys"},
      {"MillionsOfObjects",
       [] {
         std::string header;
         for (int i = 0; i < 1000000; ++i) header += "{\"a\":";
         return TensorFile(header);
       },
       "nested too deeply"},
      {"FortyThousandEmptyTensors", [] { return EmptyTensors(40000); }, "40002 tensors"},
      {"TwentyThousandLayers", [] { return HandMadeModel(20000).Text(); }, "20000 hidden layers"},
      {"HugeDeviation", [] { return WithSchema("target_deviation", 1e308); }, "target_deviation"},
      {"NoDeviation", [] { return WithSchema("target_deviation", 0); }, "deviation"},
      {"NegativeDeviation", [] { return WithSchema("target_deviation", -1); }, "deviation"},
      {"MeanAsText", [] { return WithSchema("target_mean", "nan"); }, "target_mean"},
      {"HugeMean", [] { return WithSchema("target_mean", -1e300); }, "target_mean"},
      {"LargestTargets",
       [] {
         HandMadeModel model;
         model.schema["target_deviation"] = model.schema["target_mean"] = 1e30;
         return model.Text();
       },
       ""},
      {"HugeScale",
       [] {
         HandMadeModel model;
         model.schema["scaling"] = "standard";
         model.schema["shift"] = model.schema["scale"] = {1e300};
         return model.Text();
       },
       "shift"},
      {"NoColumns", [] { return WithSchema("file_columns", 0); }, "add up"},
      {"ManyColumns", [] { return WithSchema("file_columns", 1e18); }, "file_columns"},
      {"ColumnsAsFraction", [] { return WithSchema("file_columns", 1.5); }, "file_columns"},
      {"FeaturesBeyond64Bits", [] { return WithSchema("features", 18446744073709551615u); },
       "features"},
      {"UnknownFormat", [] { return WithSchema("format", "parquet"); }, "parquet"},
      {"LabelsOfANumber", [] { return WithSchema("label_kind", "class"); }, "two classes"},
      {"NegativeWidth", [] { return WithNetwork("hidden", {-1}); }, "hidden"},
      {"HugeWidth", [] { return WithNetwork("hidden", {1e15}); }, "hidden"},
      {"LargestWidths", [] { return WithNetwork("hidden", {2147483648, 2147483648}); },
       "parameters"},
      {"WidthAsText", [] { return WithNetwork("inputs", "1"); }, "inputs"},
      {"UnknownActivation", [] { return WithNetwork("activation", "\x1b[31m"); }, "activation"},
      {"NetworkAsList", [] { return WithMetadata("network", "[]"); }, "cannot be used as a model"},
      {"NewerVersion", [] { return WithMetadata("version", "4"); }, "newer hogbatch"},
      {"HugeVersion", [] { return WithMetadata("version", "99999999999999999999"); },
       "no format version"},
      {"VersionAsNumber", [] { return WithMetadata("version", 1); }, "is not a string"},
      {"OfAnotherProgram", [] { return WithMetadata("format", "pt"); }, "not written by hogbatch"},
      {"HalfFloats", [] { return WithTensor("dtype", "F16"); }, "holds F16"},
      {"NameOfAMegabyte",
       [] {
         HandMadeModel model;
         model.Add(std::string(1 << 20, 'x'), {1, 1, 2});
         return model.Text();
       },
       "the shape of tensor"},
      {"TypeAsNumber", [] { return WithTensor("dtype", 32); }, "an unknown type"},
      {"HugeShape", [] { return WithTensor("shape", {4294967296, 4294967296}); }, "does not fit"},
      {"ShapeOfAMillionSizes", [] { return WithTensor("shape", std::vector<int>(1000000, 1)); },
       "more than 16 dimensions"},
      {"NegativeOffset", [] { return WithTensor("data_offsets", {-4, 0}); }, "whole numbers"},
      {"OffsetsOverlap", [] { return WithTensor("data_offsets", {0, 4}); }, "instead of"},
      {"OffsetsBeyondTheFile", [] { return WithTensor("data_offsets", {8, 12}); }, "instead of"},
      {"ThreeOffsets", [] { return WithTensor("data_offsets", {4, 6, 8}); }, "two numbers"},
      {"Nan",
       [] {
         HandMadeModel model;
         model.numbers.replace(0, 4, "\xff\xff\xff\x7f");
         return model.Text();
       },
       "NaN or infinite"},
      {"Tail", [] { return HandMadeModel().Text() + "tail"; }, "4 bytes follow"},
  };
}

INSTANTIATE_TEST_SUITE_P(Model, HostileModel, testing::ValuesIn(Files()),
                         [](const auto& one) { return one.param.name; });

TEST(HostileModels, MayBePipesDevicesAndFolders) {
  const TemporaryFolder folder;
  folder.Write("data", kThreeRows);
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  for (const char* model : {"pipe", "/dev/zero", "."}) {
    ExpectRefused(RunProgram({"eval", model, "data"}, folder.path()), "is not a file");
  }
  ExpectRefused(RunProgram({"train", "data", "--init", "pipe"}, folder.path()), "is not a file");
}

TEST(HostileModels, NameNoLabelThatATerminalObeys) {
  const TemporaryFolder folder;
  folder.Write("data", kThreeRows);
  HandMadeModel model;
  model.network["outputs"] = 2;
  model.network["loss"] = "softmax";
  model.schema["label_kind"] = "class";
  model.schema["label_names"] = {"\x1b[31mred\x07",
                                 "\xc2\x9b"
                                 "blue"};
  model.tensors = Json::object();
  model.numbers = "";
  model.Add("layers.0.weight", {1, 2});
  model.Add("layers.0.bias", {2});
  model.tensors["layers.0.weight"]["data_offsets"] = {0, 8};
  model.tensors["layers.0.bias"]["data_offsets"] = {8, 16};
  model.numbers = std::string(16, '\0');
  folder.Write("model", model.Text());
  const std::vector<std::string> command = {"predict", "model", "data", "--probabilities"};
  const Finished shown = Process(command, folder.path(), Process::Output::kTerminal).Wait();
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out.find('\x1b'), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("\xc2\x9b"), std::string::npos) << shown.out;
  EXPECT_THAT(shown.out, HasSubstr("?[31mred?"));
  EXPECT_THAT(RunProgram(command, folder.path()).out, HasSubstr("\x1b[31mred"))
      << "a file gets the labels as they are";
}

TEST(HostileCheckpoints, AreRefusedWithAReason) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() + "/o/checkpoints");
  const std::string name = "o/checkpoints/checkpoint-1.safetensors";
  const auto resume = [&] {
    return RunProgram({"train", "--resume", "o", "--quiet"}, folder.path());
  };
  for (const std::string& content :
       {std::string(), std::string(100, '['), TensorFile("{}"), HandMadeModel().Text()}) {
    folder.Write(name, content);
    ExpectRefused(resume(), "checkpoint-1.safetensors");
  }
  std::filesystem::remove(folder.path() + "/" + name);
  ASSERT_EQ(::mkfifo((folder.path() + "/" + name).c_str(), 0600), 0);
  ExpectRefused(resume(), "is not a checkpoint that can be read: it is not a file");
}

TEST(HostileCheckpoints, AreInspectedWhateverTheirOptions) {
  const TemporaryFolder folder;
  const auto inspect = [&](const std::string& options) {
    const Json metadata = {{"format", "hogbatch checkpoint"},
                           {"version", "1"},  // without checksums of texts
                           {"options", options},
                           {"data", ""},
                           {"control", "{}"},
                           {"workers", R"({"workers":[]})"}};
    folder.Write("bad", TensorFile(Json{{"__metadata__", metadata}}.dump()));
    return RunProgram({"inspect", "bad"}, folder.path());
  };
  const Finished good = inspect(R"({"epochs":3})");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("epochs"));
  const Finished deep = inspect(std::string(1 << 20, '[') + std::string(1 << 20, ']'));
  ExpectSmall(deep);
  EXPECT_EQ(deep.exit_code, 0) << deep.err;
  EXPECT_THAT(deep.out, HasSubstr("damaged"));
  const Finished wide = inspect(WithAMillionKeys(R"({"epochs":3})"));
  ExpectSmall(wide);
  EXPECT_EQ(wide.exit_code, 0) << wide.err;
  EXPECT_THAT(wide.out, HasSubstr("damaged"));
}

TEST(HostileRecords, AreLeftOutOfAReport) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/o");
  folder.Write("o/metrics.jsonl",
               std::string(500000, '[') + "\n{\"seconds\":1e999}\n{\"seconds\":1}");
  folder.Write("o/summary.json", "{\"seconds\":" + std::string(500000, '{') + "}");
  folder.Write("o/options.json", std::string(17 << 20, ' '));
  const Finished finished = RunProgram({"report", "o"}, folder.path());
  ExpectSmall(finished);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("2 of 3 lines of metrics.jsonl are not records"));
  EXPECT_THAT(finished.err, HasSubstr("summary.json is damaged"));
  EXPECT_THAT(finished.err, HasSubstr("options.json is too large"));
}

TEST(HostileRecords, OfVeryManyWorkersAreReportedInPart) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/o");
  const auto sizes_of = [](int first, int count) {
    std::string sizes;
    for (int i = first; i < first + count; ++i) sizes += fmt::format("\"w{}\":{},", i, i);
    return sizes + "\"w0\":1";
  };
  std::string lines;
  for (int i = 0; i < 20000; ++i) {
    lines += fmt::format("{{\"seconds\":{0},\"batch_rows_by_worker\":{{{1}}}}}\n", i + 1,
                         sizes_of(20 * i, 20));
  }
  lines += fmt::format("{{\"seconds\":1,\"batch_rows_by_worker\":{{{}}}}}\n", sizes_of(0, 50000));
  folder.Write("o/metrics.jsonl", lines);
  folder.Write("o/summary.json", "{\"updates_by_worker\":" + WithAMillionKeys("{\"w0\":1}") + "}");
  const Finished finished = RunProgram({"report", "o"}, folder.path());
  ExpectSmall(finished);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("1 of 20,001 lines of metrics.jsonl is not a record"));
  EXPECT_THAT(finished.err, HasSubstr("names more than 1,000 workers"));
  EXPECT_THAT(finished.err, HasSubstr("summary.json is damaged"));
}

}  // namespace
}  // namespace hogbatch
