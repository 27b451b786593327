// Whether two data sets have the same rows, array by array.
#pragma once

#include <gtest/gtest.h>

#include "datasets/dataset.h"

namespace hogbatch {

inline void ExpectSameRows(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.is_sparse, b.is_sparse);
  EXPECT_EQ(a.dense, b.dense);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.label_offsets, b.label_offsets);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_EQ(a.weights, b.weights);
}

}  // namespace hogbatch
