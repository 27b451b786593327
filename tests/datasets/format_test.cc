#include "datasets/readers/format.h"

#include <gtest/gtest.h>

#include "tests/datasets/reading.h"

namespace hogbatch {
namespace {

TEST(DetectFormat, KnowsLibsvmByIndexAndValue) {
  for (const char* text :
       {"+1 1:2\n", "3,17 5:1\n", " 5:1 6:1\n", "-1\n-1\n", "\n\n1 2:3", "1\t2:3",
        "3,17,20\n4 5:1\n", "# a,b,c\n1 2:3\n", "1 -2:3\n", "1 0:x\n"}) {
    EXPECT_EQ(DetectFormat(text), FileFormat::kLibsvm) << text;
  }
}

TEST(DetectFormat, KnowsCsvByItsDelimiters) {
  for (const char* text : {"1,2,3\n4,5,6\n", "a,b\n1,2\n", "1;2\n", "1\t2\n", "\n\"x y\",z\n",
                           "1.5,2\n", "t,y\n12:30,1\n"}) {
    EXPECT_EQ(DetectFormat(text), FileFormat::kCsv) << text;
  }
}

TEST(DetectFormat, RefusesBinaryData) {
  EXPECT_TRUE(Begins(LearnError(std::string("\x01\0\x02,3\n", 6)), "in.txt: contains binary data"));
}

}  // namespace
}  // namespace hogbatch
