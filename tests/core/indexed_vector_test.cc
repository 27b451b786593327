#include "core/indexed_vector.h"

#include <gtest/gtest.h>

#include <concepts>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>

#include "core/ids.h"

namespace hogbatch {
namespace {

TEST(IndexedVector, IsIndexedByTheIdsItGivesOut) {
  IndexedVector<WorkerId, std::string> names;
  const WorkerId first = names.push_back("a");
  const WorkerId second = names.push_back("b");
  EXPECT_EQ(names[first], "a");
  EXPECT_EQ(names[second], "b");
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(names.size(), 2u);
}

TEST(IndexedVector, WalksItsIdsInOrder) {
  const IndexedVector<TeamId, int> counts(3);
  std::set<TeamId> ids;
  for (const TeamId id : counts.ids()) {
    EXPECT_EQ(counts[id], 0);
    ids.insert(id);
  }
  EXPECT_EQ(ids, (std::set<TeamId>{0, 1, 2}));
}

TEST(Id, DoesNotMixWithIdsOfAnotherKind) {
  EXPECT_FALSE((std::is_convertible_v<WorkerId, TeamId>));
  EXPECT_FALSE((std::is_constructible_v<WorkerId, TeamId>));
  EXPECT_FALSE((std::equality_comparable_with<WorkerId, TeamId>));
  EXPECT_FALSE((std::is_convertible_v<WorkerId, int>));
}

TEST(Id, PrintsItsNumber) {
  std::ostringstream out;
  out << "worker " << WorkerId(7);
  EXPECT_EQ(out.str(), "worker 7");
}

}  // namespace
}  // namespace hogbatch
