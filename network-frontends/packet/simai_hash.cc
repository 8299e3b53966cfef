#include "network-frontends/packet/simai_hash.h"

#include <bit>

namespace astra {
namespace {

uint32_t AddressOf(uint32_t node) {
  return 0x0b000001U + ((node / 256) << 16) + ((node % 256) << 8);
}

}  // namespace

SimaiFlow SimaiFlowOf(uint32_t source, uint32_t target, uint32_t ordinal,
                      uint64_t seed) {
  constexpr uint32_t kFirstSourcePort = 10'000;
  constexpr uint32_t kPortsPerSeed = 1'111;
  constexpr uint16_t kTargetPort = 100;
  const auto first =
      kFirstSourcePort + kPortsPerSeed * (static_cast<uint32_t>(seed) - 1);
  return {source, target, static_cast<uint16_t>(first + ordinal), kTargetPort};
}

uint32_t SimaiHash(const SimaiFlow& flow, uint32_t seed) {
  const uint32_t words[] = {
      AddressOf(flow.source), AddressOf(flow.target),
      flow.source_port | uint32_t{flow.target_port} << 16};
  uint32_t hash = seed;
  for (const uint32_t word : words) {
    hash ^= std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64U;
  }
  hash ^= sizeof(words);
  hash = (hash ^ hash >> 16) * 0x85ebca6bU;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
  return hash ^ hash >> 16;
}

}  // namespace astra
