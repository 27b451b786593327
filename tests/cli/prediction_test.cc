#include "cli/reports/prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hogbatch {
namespace {

Schema SchemaOf(LabelKind kind, std::vector<std::string> names) {
  Schema schema;
  schema.label_kind = kind;
  schema.label_names = std::move(names);
  return schema;
}

TEST(PredictionLines, NameTheLikeliestClass) {
  const Schema schema = SchemaOf(LabelKind::kClass, {"cat", "dog"});
  const std::vector<float> outputs = {2, 1, 0, 3};
  EXPECT_EQ(PredictionLines(schema, Loss::kSoftmax, outputs, {}), "cat\ndog\n");
  EXPECT_EQ(PredictionHeader(schema, {}), "");
}

TEST(PredictionLines, AddProbabilitiesUnderAHeader) {
  const Schema schema = SchemaOf(LabelKind::kClass, {"cat", "a,b"});
  const PredictionFormat format{.probabilities = true};
  EXPECT_EQ(PredictionHeader(schema, format), "label,cat,\"a,b\"\n");
  const std::vector<float> outputs = {0, std::log(3.0f)};
  EXPECT_EQ(PredictionLines(schema, Loss::kSoftmax, outputs, format), "\"a,b\",0.25,0.75\n");
}

TEST(PredictionLines, NameEveryLikelyLabelOrElseTheLikeliest) {
  const Schema schema = SchemaOf(LabelKind::kMultiLabel, {"a", "b", "c"});
  const std::vector<float> outputs = {1, -1, 2, -3, -1, -2};
  EXPECT_EQ(PredictionLines(schema, Loss::kSigmoid, outputs, {}), "c a\nb\n");
  EXPECT_EQ(PredictionLines(schema, Loss::kSigmoid, outputs, {.labels = {.top = 2}}), "c a\nb c\n");
}

TEST(PredictionLines, GiveNumbersInTheLabelsOwnUnits) {
  Schema schema;
  schema.label_kind = LabelKind::kValue;
  schema.target_mean = 100;
  schema.target_deviation = 10;
  EXPECT_EQ(PredictionLines(schema, Loss::kSquared, std::vector<float>{0, 1.5}, {}), "100\n115\n");
}

TEST(RowOrder, PutsPiecesBackInOrder) {
  RowOrder order;
  EXPECT_EQ(order.Add({10, 20}, "b"), "");
  EXPECT_EQ(order.Add({0, 10}, "a"), "ab");
  EXPECT_EQ(order.Add({25, 30}, "d"), "");
  EXPECT_EQ(order.Add({20, 25}, "c"), "cd");
}

}  // namespace
}  // namespace hogbatch
