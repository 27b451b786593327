#include "core/guard/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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

std::string ObjectOf(int keys) {
  std::string json = R"({"text":":\":")";
  for (int i = 1; i < keys; ++i) json += ",\"" + std::to_string(i) + "\":[]";
  return json + "}";
}

std::string ListOf(int count, const std::string& element) {
  std::string json = "[" + element;
  for (int i = 1; i < count; ++i) json += "," + element;
  return json + "]";
}

TEST(JsonText, HasNotTooManyKeysInItsObjects) {
  EXPECT_FALSE(HasTooManyKeys(""));
  EXPECT_FALSE(HasTooManyKeys("]}:::"));
  EXPECT_FALSE(HasTooManyKeys(ObjectOf(4000)));
  EXPECT_TRUE(HasTooManyKeys(ObjectOf(5000)));
  EXPECT_FALSE(HasTooManyKeys(ListOf(2000, ObjectOf(256)))) << "small objects may be many";
  EXPECT_TRUE(HasTooManyKeys(ListOf(20, ObjectOf(2000))));
  EXPECT_FALSE(HasTooManyKeys(ListOf(20000, "\"::::\"")));
}

TEST(JsonText, IsParsedWithTheKeysInTheirOrderOrNotAtAll) {
  const auto parsed = ParseJson<nlohmann::ordered_json>(ObjectOf(4000));
  ASSERT_TRUE(parsed.is_object());
  EXPECT_EQ(parsed.size(), 4000u);
  EXPECT_EQ(parsed.begin().key(), "text");
  EXPECT_TRUE(ParseJson<nlohmann::ordered_json>(ObjectOf(1000000)).is_discarded());
}

}  // namespace
}  // namespace hogbatch
