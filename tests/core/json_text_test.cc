#include "core/guard/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace hogbatch {
namespace {

TEST(JsonText, IsMeasuredByItsDeepestPlace) {
  EXPECT_FALSE(IsNestedDeeper("", 0));
  EXPECT_FALSE(IsNestedDeeper("1", 0));
  EXPECT_TRUE(IsNestedDeeper("[]", 0));
  EXPECT_FALSE(IsNestedDeeper("[[],{},[{}]]", 3));
  EXPECT_TRUE(IsNestedDeeper("[[],{},[{}]]", 2));
  EXPECT_TRUE(IsNestedDeeper(std::string(1000, '['), 999));
}

TEST(JsonText, MayHaveBracketsInStrings) {
  EXPECT_FALSE(IsNestedDeeper(R"({"[[[[":"]]{{"})", 1));
  EXPECT_FALSE(IsNestedDeeper(R"(["\"[[[[", "\\"])", 1));
  EXPECT_TRUE(IsNestedDeeper(R"(["\\", [[]]])", 2));
  EXPECT_FALSE(IsNestedDeeper("[\"\\", 1)) << "cut off within an escape";
}

}  // namespace
}  // namespace hogbatch
