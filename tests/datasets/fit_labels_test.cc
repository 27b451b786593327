#include "datasets/encoding/fit_labels.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/datasets/two_classes.h"

namespace hogbatch {
namespace {

TEST(FitLabels, SquaredTakesClassesNamedByNumbersAsNumbers) {
  TrainingData data = TwoClasses();
  data.schema.label_names = {"10", "20"};
  FitLabels(LabelKind::kValue, data);
  EXPECT_EQ(data.schema.label_kind, LabelKind::kValue);
  EXPECT_EQ(data.schema.target_mean, 12.5);
  ASSERT_EQ(data.data.targets.size(), 5u);
  EXPECT_NEAR(data.data.targets[4] * data.schema.target_deviation + 12.5, 20, 1e-5);
  EXPECT_EQ(data.schema.outputs(), 1);
}

TEST(FitLabels, SigmoidTakesAClassAsOneLabel) {
  TrainingData data = TwoClasses();
  FitLabels(LabelKind::kMultiLabel, data);
  EXPECT_EQ(data.schema.label_kind, LabelKind::kMultiLabel);
  EXPECT_EQ(data.data.label_offsets, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(data.data.labels, (std::vector<std::int32_t>{0, 0, 0, 1, 1}));
}

TEST(FitLabels, RefusesWhatMakesNoSense) {
  TrainingData words = TwoClasses();
  words.schema.label_names = {"cat", "dog"};
  EXPECT_THROW(FitLabels(LabelKind::kValue, words), UserError);
  TrainingData values;
  values.schema.label_kind = LabelKind::kValue;
  EXPECT_THROW(FitLabels(LabelKind::kClass, values), UserError);
}

}  // namespace
}  // namespace hogbatch
