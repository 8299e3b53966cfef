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

}  // namespace
}  // namespace astra
