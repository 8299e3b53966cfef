#include "collectives/nccl/nccl_chunking.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace astra {
namespace {

constexpr int64_t kKiB = 1024;

// Returns the data in one step of a connection, in bytes.
int64_t StepBytes(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return 32 * kKiB;
    case NcclProtocol::kLl128:
      return 576'000;
    case NcclProtocol::kSimple:
      break;
  }
  return 512 * kKiB;
}

// Returns the bytes that a channel must have before another one is added.
int64_t BytesPerChannel(NcclAlgorithm algorithm, NcclProtocol protocol,
                        const GroupHardware& hardware) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return int64_t{512} * 8 *
             (algorithm == NcclAlgorithm::kRing ? hardware.num_ranks : 1);
    case NcclProtocol::kLl128:
      return int64_t{640} * 8;
    case NcclProtocol::kSimple:
      break;
  }
  return int64_t{512} * 64;
}

uint32_t NumChannels(NcclAlgorithm algorithm, NcclProtocol protocol,
                     int64_t bytes, uint32_t channels,
                     const GroupHardware& hardware) {
  if (algorithm == NcclAlgorithm::kNvls ||
      algorithm == NcclAlgorithm::kNvlsTree) {
    return channels;
  }
  const int64_t filled = bytes / BytesPerChannel(algorithm, protocol, hardware);
  return static_cast<uint32_t>(std::clamp<int64_t>(filled, 1, channels));
}

// Rule: a chunk is at most `size` if the buffer has fewer than `count` larger
// chunks for each channel and head.
struct Shrinking {
  double count;
  int64_t size;
};

int64_t Shrink(int64_t chunk, int64_t at_a_time, int64_t bytes,
               std::initializer_list<Shrinking> rules) {
  for (const Shrinking& rule : rules) {
    const double all = rule.count * static_cast<double>(at_a_time) *
                       static_cast<double>(chunk);
    if (static_cast<double>(bytes) < all) chunk = std::min(chunk, rule.size);
  }
  return chunk;
}

// Halves a chunk down to the size of each rule while there are fewer chunks
// than its count.
int64_t Halve(int64_t chunk, int64_t at_a_time, int64_t bytes,
              std::initializer_list<Shrinking> rules) {
  for (const Shrinking& rule : rules) {
    while (chunk > rule.size) {
      const int64_t num_chunks = bytes / (at_a_time * chunk);
      if (static_cast<double>(num_chunks) >= rule.count) break;
      chunk /= 2;
    }
  }
  return chunk;
}

// Returns how many heads share a channel's part of the buffer.
uint32_t NumHeads(NcclAlgorithm algorithm, const GroupHardware& hardware) {
  switch (algorithm) {
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kNvlsTree:
    case NcclAlgorithm::kCollnetDirect:
      return hardware.fewest_ranks_per_server;
    default:
      return 1;
  }
}

int64_t ChunkBytes(NcclAlgorithm algorithm, NcclProtocol protocol,
                   CollectiveKind kind, int64_t bytes, uint32_t channels,
                   const GroupHardware& hardware) {
  constexpr int64_t kNvlsChunk = 128 * kKiB;
  constexpr double kCollnetDepth = 2;  // Data goes up and down the tree.
  const int64_t step = StepBytes(protocol);
  const int64_t at_a_time = int64_t{channels} * NumHeads(algorithm, hardware);
  switch (algorithm) {
    case NcclAlgorithm::kNvls:
      return Shrink(kNvlsChunk, at_a_time, bytes,
                    {{64, 64 * kKiB}, {8, 32 * kKiB}, {2, 16 * kKiB}});
    case NcclAlgorithm::kNvlsTree:
      return Shrink(hardware.num_servers >= 4 ? 64 * kKiB : kNvlsChunk,
                    at_a_time, bytes, {{4, 64 * kKiB}, {1, 32 * kKiB}});
    case NcclAlgorithm::kCollnetDirect:
      return Halve(
          step, at_a_time, bytes,
          {{kCollnetDepth * 64, 128 * kKiB}, {kCollnetDepth * 8, 32 * kKiB}});
    case NcclAlgorithm::kCollnetChain:
      return Halve(256 * kKiB, at_a_time, bytes,
                   {{hardware.ranks_per_server * 64., 128 * kKiB},
                    {hardware.ranks_per_server * 8., 64 * kKiB},
                    {hardware.ranks_per_server * 1., 32 * kKiB}});
    case NcclAlgorithm::kPat: {
      const double count = kind == CollectiveKind::kAllGather ? 32 : 16;
      return Halve(step, at_a_time, bytes, {{count, 64 * kKiB}});
    }
    case NcclAlgorithm::kTree: {
      if (protocol != NcclProtocol::kLl128) return step;
      const double ranks =
          double{1} * hardware.num_ranks / hardware.num_servers;
      const double steps = std::bit_width(hardware.num_servers) + 0.1 * ranks;
      return Halve(
          step, at_a_time, bytes,
          {{steps * 64 / ranks, 128 * kKiB}, {steps * 16 / ranks, 32 * kKiB}});
    }
    case NcclAlgorithm::kRing:
      break;
  }
  return step;
}

}  // namespace

Chunking NcclChunking(NcclAlgorithm algorithm, NcclProtocol protocol,
                      CollectiveKind kind, Bytes bytes, uint32_t channels,
                      const GroupHardware& hardware) {
  constexpr int64_t kChunkSteps = 4;
  constexpr uint32_t kSlicesOfRing = 2;
  Chunking chunking;
  chunking.num_channels =
      NumChannels(algorithm, protocol, bytes.count(), channels, hardware);
  const int64_t chunk = ChunkBytes(algorithm, protocol, kind, bytes.count(),
                                   chunking.num_channels, hardware);
  chunking.max_chunk = Bytes(chunk);
  const bool is_ring = algorithm == NcclAlgorithm::kRing &&
                       kind != CollectiveKind::kBroadcast &&
                       kind != CollectiveKind::kReduce;
  if (is_ring && protocol == NcclProtocol::kSimple) {
    chunking.max_chunk = Bytes(kChunkSteps * chunk);
    chunking.slices_per_chunk = kSlicesOfRing;
  }
  return chunking;
}

}  // namespace astra
