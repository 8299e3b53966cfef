// Random packet networks in any number, with what must hold of each: the same
// as the test RandomNetworksConserve, for as long as one likes.
//
// Usage: packet_stress N [SEED]
//
// Runs the networks of the seeds SEED (1) .. SEED + N - 1 and names the seed of
// each that fails; exits with 1 if any does.

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "tests/network-frontends/packet/random_network.h"

namespace astra {
namespace {

absl::Status Run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    return absl::InvalidArgumentError("usage: packet_stress N [SEED]");
  }
  ASTRA_ASSIGN_OR_RETURN(const int64_t count, ParseInteger("N", argv[1]));
  int64_t first = 1;
  if (argc > 2) {
    ASTRA_ASSIGN_OR_RETURN(first, ParseInteger("SEED", argv[2]));
  }
  int64_t num_wrong = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    testing::Choices choices(static_cast<uint64_t>(seed));
    const testing::RandomNetwork network = testing::DrawNetwork(choices);
    absl::Status status = testing::CheckNetwork(network);
    if (status.ok()) status = testing::CheckSkipping(network).status();
    if (status.ok()) continue;
    ++num_wrong;
    fmt::print("seed {}: {}\n", seed, std::string(status.message()));
  }
  if (num_wrong == 0) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("{} of {} networks are wrong", num_wrong, count));
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const absl::Status status = astra::Run(argc, argv);
  if (status.ok()) return 0;
  fmt::print(stderr, "packet_stress: {}\n", std::string(status.message()));
  return 1;
}
