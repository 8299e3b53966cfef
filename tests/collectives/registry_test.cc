#include "collectives/registry.h"

#include <algorithm>

#include "collectives/nccl_algorithm.h"
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
      FindCollectiveAlgorithm(CollectiveKind::kAllToAll, "pnx"),
      StatusIs(absl::StatusCode::kNotFound,
               "unknown all-to-all algorithm \"pnx\"; did you mean \"pxn\"? "
               "(known: direct, pxn, simai_direct)"));
}

TEST(RegistryTest, DispatchAndCombineHaveTheAlgorithmsOfAllToAlls) {
  const auto names_of = [](CollectiveKind kind) {
    std::vector<std::string_view> names;
    for (const CollectiveAlgorithm& algorithm : CollectiveAlgorithms()) {
      if (algorithm.kind == kind) names.push_back(algorithm.name);
    }
    return names;
  };
  const auto names = names_of(CollectiveKind::kAllToAll);
  EXPECT_EQ(names_of(CollectiveKind::kDispatch), names);
  EXPECT_EQ(names_of(CollectiveKind::kCombine), names);
}

TEST(RegistryTest, EveryKindHasADefault) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    const CollectiveAlgorithm& algorithm = DefaultCollectiveAlgorithm(kind);
    EXPECT_EQ(algorithm.kind, kind);
    EXPECT_TRUE(algorithm.name == "ring" || algorithm.name == "direct");
  }
}

TEST(RegistryTest, IsSortedByKind) {
  EXPECT_TRUE(std::is_sorted(
      CollectiveAlgorithms().begin(), CollectiveAlgorithms().end(),
      [](const auto& a, const auto& b) { return a.kind < b.kind; }));
}

TEST(RegistryTest, HasWhatNcclChoosesAmong) {
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    const CollectiveKind kind = algorithm == NcclAlgorithm::kPat
                                    ? CollectiveKind::kAllGather
                                    : CollectiveKind::kAllReduce;
    EXPECT_TRUE(FindCollectiveAlgorithm(kind, RegistryName(algorithm)).ok());
  }
}

}  // namespace
}  // namespace astra
