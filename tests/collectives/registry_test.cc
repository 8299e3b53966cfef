#include "collectives/registry.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

TEST(RegistryTest, FindsAnAlgorithmByKindAndName) {
  const CollectiveAlgorithm ring =
      ValueOrDie(FindCollectiveAlgorithm(CollectiveKind::kAllGather, "ring"));
  EXPECT_EQ(ring.name, "ring");
  EXPECT_EQ(ring.kind, CollectiveKind::kAllGather);
}

TEST(RegistryTest, NamesTheChoicesWhereThereIsNoSuchName) {
  EXPECT_THAT(
      FindCollectiveAlgorithm(CollectiveKind::kAllReduce, "rnig"),
      StatusIs(absl::StatusCode::kNotFound,
               "unknown all-reduce algorithm \"rnig\"; did you mean \"ring\"? "
               "(known: ring)"));
}

TEST(RegistryTest, EveryKindHasADefault) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    EXPECT_EQ(DefaultCollectiveAlgorithm(kind).kind, kind);
  }
}

}  // namespace
}  // namespace astra
