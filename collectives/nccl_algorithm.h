// The algorithms and protocols among which NCCL chooses, under NCCL's names.
//
// Source: NCCL, NCCL_ALGO and NCCL_PROTO in the user guide.

#ifndef COLLECTIVES_NCCL_ALGORITHM_H_
#define COLLECTIVES_NCCL_ALGORITHM_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace astra {

// Algorithms in the order in which NCCL considers them: of equals, the first
// wins.
enum class NcclAlgorithm : uint8_t {
  kTree,
  kRing,
  kCollnetDirect,
  kCollnetChain,
  kNvls,
  kNvlsTree,
  kPat,
};
inline constexpr NcclAlgorithm kNcclAlgorithms[] = {
    NcclAlgorithm::kTree,          NcclAlgorithm::kRing,
    NcclAlgorithm::kCollnetDirect, NcclAlgorithm::kCollnetChain,
    NcclAlgorithm::kNvls,          NcclAlgorithm::kNvlsTree,
    NcclAlgorithm::kPat,
};
inline constexpr size_t kNumNcclAlgorithms = std::size(kNcclAlgorithms);
constexpr size_t IndexOf(NcclAlgorithm algorithm) {
  return static_cast<size_t>(algorithm);
}

// Protocol by which data is handed over in memory:
//   LL      4 B of data with a 4 B flag: lowest latency, half the bandwidth
//   LL128   120 B of data with an 8 B flag
//   Simple  data, then a flag for a whole slice: full bandwidth
enum class NcclProtocol : uint8_t { kLl, kLl128, kSimple };
inline constexpr NcclProtocol kNcclProtocols[] = {
    NcclProtocol::kLl, NcclProtocol::kLl128, NcclProtocol::kSimple};
inline constexpr size_t kNumNcclProtocols = std::size(kNcclProtocols);
constexpr size_t IndexOf(NcclProtocol protocol) {
  return static_cast<size_t>(protocol);
}

// Return names as NCCL prints them: "Tree", "CollNetDirect", "LL128".
std::string_view Name(NcclAlgorithm algorithm);
std::string_view Name(NcclProtocol protocol);

// Returns the bytes on the wire for each byte of the buffer.
double WireShare(NcclProtocol protocol);

// Returns the name in registry.h: "tree", "collnet_direct".
std::string_view RegistryName(NcclAlgorithm algorithm);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_ALGORITHM_H_
