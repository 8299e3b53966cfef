#include "network-frontends/packet/simai_hash.h"

#include <bit>

namespace astra {
namespace {

uint32_t AddressOf(uint32_t node) {
  return 0x0b000001U + ((node / 256) << 16) + ((node % 256) << 8);
}

}  // namespace

uint16_t SimaiSourcePort(uint32_t ordinal, uint64_t seed) {
  constexpr uint64_t kFirst = 10'000;
  constexpr uint64_t kPerSeed = 1'111;
  return static_cast<uint16_t>(kFirst + kPerSeed * (seed - 1) + ordinal);
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
