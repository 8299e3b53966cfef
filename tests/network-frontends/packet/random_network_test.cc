#include "tests/network-frontends/packet/random_network.h"

#include <cstdint>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

// benchmarks/packet_stress.cc does the same for any number of networks, and
// tests/fuzz/packet_network_fuzz.cc looks for odd ones.
TEST(PacketNetworkTest, RandomNetworksConserve) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    testing::Choices choices(seed);
    const absl::Status status =
        testing::CheckNetwork(testing::DrawNetwork(choices));
    EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status.message();
  }
}

TEST(PacketNetworkTest, SkippingPacketsChangesNothing) {
  uint64_t num_skipped = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    testing::Choices choices(seed);
    const absl::StatusOr<uint64_t> skipped =
        testing::CheckSkipping(testing::DrawNetwork(choices));
    ASSERT_TRUE(skipped.ok())
        << "seed " << seed << ": " << skipped.status().message();
    num_skipped += *skipped;
  }
  EXPECT_GT(num_skipped, 100'000);
}

}  // namespace
}  // namespace astra
