// What algorithms say of layouts that do not allow them.

#include "tests/collectives/algorithms/flows.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ErrorOf;
using ::astra::testing::Request;
using ::astra::testing::StatusIs;

struct Refusal {
  std::string_view algorithm;
  GroupLayout layout;
  std::string_view message;
};

TEST(RefusalsTest, SayWhatTheLayoutLacks) {
  const Refusal refusals[] = {
      {"nvls", GroupLayout::Even(1, 8),
       "nvls needs an NVSwitch that all ranks of the group are linked to"},
      {"nvls", GroupLayout::Even(2, 8, 1),
       "nvls needs a group on one server; this one is on 2 servers"},
      {"simai_nvls", GroupLayout::Even(2, 8, 1),
       "simai_nvls needs a group on one server; this one is on 2 servers"},
      {"nvls_tree", GroupLayout::Even(1, 8, 1),
       "nvls_tree needs a group on several servers; nvls is for one"},
      {"nvls_tree", GroupLayout::Even(2, 8),
       "nvls_tree needs on each server an NVSwitch that all ranks of the group "
       "there are linked to"},
      {"collnet_direct", GroupLayout::Even(2, 8),
       "collnet_direct needs switches that reduce in the fabric"},
      {"collnet_chain", GroupLayout::Even(2, 8),
       "collnet_chain needs switches that reduce in the fabric"},
      {"torus_2d", GroupLayout::Even(1, 7),
       "torus_2d needs a number of ranks that is the product of 2 factors of "
       "at least 2; 7 is not"},
      {"torus_3d", GroupLayout::Even(1, 15),
       "torus_3d needs a number of ranks that is the product of 3 factors of "
       "at least 2; 15 is not"},
      {"simai_ring", GroupLayout::Uneven({3, 1}),
       "simai_ring needs equally many ranks of the group on each server, not 1 "
       "to 3"},
  };
  for (const auto& [algorithm, layout, message] : refusals) {
    EXPECT_THAT(
        ErrorOf(algorithm, Request(CollectiveKind::kAllReduce, 1000, layout)),
        StatusIs(absl::StatusCode::kFailedPrecondition, message));
  }
}

TEST(RefusalsTest, AGraphThatCannotBeStored) {
  EXPECT_THAT(
      ErrorOf("tree",
              Request(CollectiveKind::kAllReduce, 1000,
                      GroupLayout::Even(1 << 21, 1), {.num_channels = 64})),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "tree all-reduce of 1000B over 2097152 ranks needs 64 x 4194302 "
               "flows, more than the limit of 134217728"));
}

}  // namespace
}  // namespace astra
