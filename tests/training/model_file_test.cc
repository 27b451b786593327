#include "training/model/model_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>

#include "core/error.h"
#include "nn/safetensors.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "training/model/ensemble.h"
#include "training/model/schema_json.h"

namespace hogbatch {
namespace {

using testing::HasSubstr;

ModelSpec Spec() {
  return {.inputs = 5,
          .hidden = {3},
          .outputs = 2,
          .activation = Activation::kTanh,
          .loss = Loss::kSoftmax,
          .sparse_input = false};
}

Schema FullSchema() {
  Schema schema;
  schema.format = FileFormat::kCsv;
  schema.file_columns = 4;
  schema.features = 5;
  schema.label_column = "prix, \"net\"";
  schema.table = {{.name = "a", .fill = .5f},
                  {.name = "b, \"c\""},
                  {.name = "où"},
                  {.kind = ColumnKind::kCategory, .categories = {"7", "-9"}}};
  AssignFeatures(schema.table);
  schema.label_name = schema.label_column;
  schema.scaling = ScalingKind::kStandard;
  schema.shift = {0.1f, 2, 3, 0, 0};
  schema.scale = {1, 1e-7f, 3e8f, 1, 1};
  schema.label_names = {"non", "où"};
  return schema;
}

std::vector<float> Parameters() {
  const ParameterLayout layout = Layout(Spec());
  std::vector<float> flat(layout.floats);
  for (const LayerShape& layer : layout.layers) {
    for (std::int64_t i = 0; i < layer.in * layer.out; ++i) {
      flat[layer.weights_at + i] = 0.1f * static_cast<float>(i + 1);
    }
    for (std::int64_t i = 0; i < layer.out; ++i) {
      flat[layer.bias_at + i] = -0.5f * static_cast<float>(i + 1);
    }
  }
  return flat;
}

class ModelFile : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/model.safetensors"; }
  void Save() const { SaveModel(path(), Spec(), FullSchema(), Parameters()); }
  // Saves the model again with metadata changed by `damage`.
  void Damage(const std::function<void(std::map<std::string, std::string>&)>& damage) const {
    Save();
    SafeTensors file = ReadSafeTensors(path());
    damage(file.metadata);
    std::vector<TensorView> tensors;
    for (const auto& [name, tensor] : file.tensors) {
      tensors.push_back({name, tensor.shape, tensor.data});
    }
    WriteSafeTensors(path(), file.metadata, tensors);
  }
  void ExpectRefused(const std::string& gist) const {
    try {
      LoadModel(path());
      ADD_FAILURE() << "loaded; expected: " << gist;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(gist));
      EXPECT_THAT(error.what(), HasSubstr(path()));
    }
  }
  TemporaryFolder folder_;
};

TEST_F(ModelFile, ComesBackAsItWas) {
  Save();
  const SavedModel model = LoadModel(path());
  EXPECT_EQ(model.spec, Spec());
  EXPECT_EQ(model.parameters, Parameters());
  EXPECT_EQ(SchemaToJson(model.schema), SchemaToJson(FullSchema()));
  EXPECT_EQ(model.schema.shift, FullSchema().shift);
  EXPECT_EQ(model.schema.scale, FullSchema().scale);
  EXPECT_EQ(model.schema.table, FullSchema().table);
  EXPECT_EQ(model.schema.label_column, FullSchema().label_column);
  EXPECT_EQ(model.schema.label_name, FullSchema().label_name);
}

TEST_F(ModelFile, HoldsTheMembersOfAnEnsemble) {
  std::vector<SavedModel> members(
      3, {.spec = Spec(), .schema = FullSchema(), .parameters = Parameters()});
  for (float& x : members[1].parameters) x *= 2;
  SaveModel(path(), JoinMembers(members));
  const SavedModel ensemble = LoadModel(path());
  ASSERT_EQ(ensemble.spec.lanes, 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(MemberOf(ensemble, i).parameters, members[static_cast<std::size_t>(i)].parameters);
    EXPECT_EQ(MemberOf(ensemble, i).spec, Spec());
  }
  EXPECT_EQ(ReadSafeTensors(path()).metadata["version"], "3");
  Save();
  EXPECT_EQ(ReadSafeTensors(path()).metadata["version"], "2") << "older programs read it";
  for (const char* count : {"1", "-3", "1000000", "\"2\""}) {
    Damage([&](auto& metadata) {
      std::string& network = metadata["network"];
      network.replace(network.rfind('}'), 1, fmt::format(",\"members\":{}}}", count));
    });
    ExpectRefused("members");
  }
  Damage([](auto& metadata) {
    std::string& network = metadata["network"];
    network.replace(network.rfind('}'), 1, ",\"members\":2}");
  });
  ExpectRefused("has shape");
}

TEST_F(ModelFile, OfAnotherProgramIsRefused) {
  Damage([](auto& metadata) { metadata.erase("format"); });
  ExpectRefused("not written by hogbatch");
  for (const char* version : {"", "one", "0", "-1", "1.5"}) {
    Damage([&](auto& metadata) { metadata["version"] = version; });
    ExpectRefused("no format version");
  }
}

TEST_F(ModelFile, OfANewerFormatIsRefusedWithASentence) {
  Damage([](auto& metadata) { metadata["version"] = "4"; });
  ExpectRefused(path() + " was written by a newer hogbatch (format 4; this one reads up to 3): ");
}

TEST_F(ModelFile, WithoutNamesOfColumnsIsRead) {
  Damage([](auto& metadata) {
    Schema schema = FullSchema();
    for (TableColumn& column : schema.table) column.name.clear();
    schema.label_name.clear();
    metadata["schema"] = SchemaToJson(schema);
  });
  EXPECT_EQ(LoadModel(path()).schema.table.front().name, "");
}

// Each replacement makes one statement of the metadata untrue.
struct Lie {
  const char* name;
  const char* key;
  const char* from;
  const char* to;
  const char* gist;
};

TEST_F(ModelFile, WhoseMetadataDisagreesWithItselfIsRefused) {
  const std::vector<Lie> lies = {
      {"not json", "network", "{", "", "not valid JSON"},
      {"missing key", "network", "\"outputs\"", "\"other\"", "outputs"},
      {"zero width", "network", "[3]", "[0]", "hidden"},
      {"real width", "network", "[3]", "[3.5]", "whole number"},
      {"huge width", "network", "[3]", "[9007199254740992]", ""},
      {"other width", "network", "[3]", "[4]", "shape"},
      {"more layers", "network", "[3]", "[3,3]", "tensors"},
      {"inputs", "network", "\"inputs\":5", "\"inputs\":6", "features"},
      {"loss", "network", "softmax", "squared", "loss"},
      {"activation", "network", "tanh", "tahn", "tahn"},
      {"features", "schema", "\"features\":5", "\"features\":-1", "features"},
      {"columns", "schema", "\"file_columns\":4", "\"file_columns\":9", "differ"},
      {"feature outside", "schema", "{\"name\":\"a\"", "{\"feature\":9,\"name\":\"a\"", "add up"},
      {"category twice", "schema", "\"-9\"", "\"7\"", "category"},
      {"label twice", "schema", "\"non\",\"où\"", "\"non\",\"non\"", "label"},
      {"scaling", "schema", "\"scaling\":\"standard\"", "\"scaling\":\"none\"", "scaling"},
      {"label kind", "schema", "\"label_kind\":\"class\"", "\"label_kind\":\"cat\"", "cat"},
      {"no category", "schema", "[\"7\",\"-9\"]", "[]", "no category"},
      {"kind of column", "schema", "\"kind\":\"category\"", "\"kind\":\"x\"", "kind of column"},
      {"hash", "schema", "\"kind\":\"category\"", "\"kind\":\"hashed\",\"hash_bits\":25",
       "hash_bits"},
      {"fill", "schema", "\"fill\":0.5", "\"fill\":1e39", "fill is 1e+39"},
      {"fill category", "schema", "\"kind\":\"category\"",
       "\"kind\":\"category\",\"fill_category\":2", "fill_category"},
      {"columns left out of a CSV", "schema", "\"used_columns\":[]", "\"used_columns\":[0,1,2]",
       "CSV"},
      {"categories in LIBSVM", "schema", "\"format\":\"csv\"", "\"format\":\"libsvm\"",
       "LIBSVM rows"},
      {"too many columns", "schema", "\"file_columns\":4", "\"file_columns\":4294967296", "differ"},
      {"deviation beyond floats", "schema", "\"target_deviation\":",
       "\"target_deviation\":1e308,\"was\":", "target_deviation is 1e+308"},
      {"scale beyond floats", "schema", "\"scale\":[", "\"scale\":[1e39,", "scale is 1e+39"},
      {"deep", "schema", "{",
       "{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],", "deeply"},
      {"wrong type", "schema", "\"shift\":[", "\"shift\":7,\"was\":[", "list"},
  };
  for (const Lie& lie : lies) {
    SCOPED_TRACE(lie.name);
    Damage([&](auto& metadata) {
      std::string& text = metadata[lie.key];
      const std::size_t at = text.find(lie.from);
      ASSERT_NE(at, std::string::npos);
      text.replace(at, std::string(lie.from).size(), lie.to);
    });
    ExpectRefused(lie.gist);
  }
}

TEST(SchemaJson, OfLibsvmNeedsColumnsThatAscendAndAddUp) {
  Schema schema;
  schema.format = FileFormat::kLibsvm;
  schema.label_names = {"-1", "1"};
  const auto expect_refused = [&](const std::string& gist) {
    try {
      SchemaFromJson(SchemaToJson(schema));
      ADD_FAILURE() << "accepted; expected: " << gist;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(gist));
    }
  };
  schema.file_columns = 100000;
  schema.features = 2;
  schema.used_columns = {4, 99999};
  EXPECT_EQ(SchemaFromJson(SchemaToJson(schema)).used_columns, schema.used_columns);
  schema.format = FileFormat::kIdx;
  expect_refused("IDX rows leave columns out");
  schema.format = FileFormat::kLibsvm;
  schema.used_columns = {4, 4};
  expect_refused("ascend");
  schema.used_columns = {4, 100000};
  expect_refused("ascend");
  schema.used_columns = {4, 5, 6};
  expect_refused("add up");
  schema.used_columns = {};
  expect_refused("add up");
  schema.used_columns = {4};
  schema.table = {{.kind = ColumnKind::kCategory, .categories = {"1"}}};
  expect_refused("LIBSVM rows");
}

TEST_F(ModelFile, CutOrChangedAnywhereNeverDoesMoreThanBeRefused) {
  Save();
  const std::string whole = folder_.Read("model.safetensors");
  for (std::size_t size = 0; size < whole.size(); size += 13) {
    folder_.Write("model.safetensors", whole.substr(0, size));
    EXPECT_THROW(LoadModel(path()), UserError) << size << " bytes";
  }
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    folder_.Write("model.safetensors", changed);
    try {
      LoadModel(path());  // a changed weight or name is still a model
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(ModelFile, SaysWhyItIsNoStart) {
  Save();
  const SavedModel model = LoadModel(path());
  EXPECT_EQ(WhyNoStart(model, Spec(), FullSchema()), "");
  ModelSpec other = Spec();
  other.hidden = {4};
  EXPECT_THAT(WhyNoStart(model, other, FullSchema()), HasSubstr("5 -> 3 -> 2"));
  other = Spec();
  other.activation = Activation::kRelu;
  EXPECT_THAT(WhyNoStart(model, other, FullSchema()), HasSubstr("tanh"));
  Schema labels = FullSchema();
  labels.label_names = {"non", "oui"};
  EXPECT_THAT(WhyNoStart(model, Spec(), labels), HasSubstr("labels"));
}

TEST_F(ModelFile, OpensWithPythonsSafetensors) {
  const std::string python = InSource(".deps/bin/python");
  if (!std::filesystem::exists(python) ||
      std::system((python + " -c 'import safetensors.numpy' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "needs safetensors for Python: run scripts/setup test";
  }
  Save();
  const std::string command =
      python + " " + InSource("tests/training/open_model.py") + " '" + path() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace hogbatch
