#include "core/spelling.h"

#include <gtest/gtest.h>

#include <vector>

namespace hogbatch {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("epoch", "epochs"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("trian", "train"), 1);
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> words = {"epochs", "eval-every", "lr", "lr-schedule", "momentum"};
  EXPECT_EQ(Nearest("epoch", words), "epochs");
  EXPECT_EQ(Nearest("schedule", words), "lr-schedule");
  EXPECT_EQ(Nearest("l", words), "lr");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  const std::vector<std::string> words = {"epochs", "momentum"};
  EXPECT_EQ(Nearest("xyzzy", words), "");
  EXPECT_EQ(DidYouMean("xyzzy", words), "");
  EXPECT_EQ(DidYouMean("epoch", words, "--"), "; did you mean --epochs?");
}

}  // namespace
}  // namespace hogbatch
