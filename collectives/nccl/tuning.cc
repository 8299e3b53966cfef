#include "collectives/nccl/tuning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {
namespace {

using PerProtocol = std::array<double, kNumNcclProtocols>;

// Latencies in microseconds. Columns are LL, LL128, Simple; rows are
// algorithms.
constexpr PerProtocol kBaseLatency[] = {
    {6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {0, 0, 0},       {0, 0, 0},
    {0, 0, 0},        {0, 0, 0},        {8.0, 8.0, 8.0},
};
constexpr PerProtocol kNvlinkLatency[] = {
    {0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 2.8},
    {0, 0, 25},       {0, 0, 25},      {0, 0, 4.0},
};
constexpr PerProtocol kPcieLatency[] = {
    {1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8},
    {0, 0, 0},       {0, 0, 0},       {0, 0, 4.0},
};
constexpr PerProtocol kNetLatency[] = {
    {5.0, 8.5, 14}, {2.7, 4.0, 14.0}, {0, 0, 31}, {0, 0, 30},
    {0, 0, 18},     {0, 0, 20.9},     {0, 0, 14},
};

// Bandwidths in GB/s. Rows are architectures; columns are one server, two
// servers, and four or more.
using PerServers = std::array<double, 3>;
constexpr double kMaxLlOneServer[] = {39, 87.7, 141, 282};
constexpr PerServers kMaxLl[] = {
    {39, 39, 20.4}, {39, 22.5, 19.0}, {39, 39, 20.4}};  // Rows: CPU vendors.
constexpr double kRingLl128PerChannel[] = {20, 20, 36.7, 40};
constexpr PerServers kTreeLl128PerChannel[] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr PerServers kTreePerChannel[] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
constexpr PerServers kNvlsTreePerChannel[] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
constexpr double kNvlsEfficiency[] = {0, 0, 0.85, 0.74};

// Share of its bandwidth that a tree reaches, by protocol and by power of two
// of the size, from 64 B on.
constexpr double kTreeCorrection[kNumNcclProtocols][24] = {
    {1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
     .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1,  1},
    {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
     .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1,  1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
};

size_t ServersColumn(uint32_t num_servers) {
  return num_servers == 1 ? 0 : num_servers == 2 ? 1 : 2;
}

template <class Table>
double OfServers(const Table& table, const GroupHardware& hardware) {
  return table[static_cast<size_t>(hardware.architecture)]
              [ServersColumn(hardware.num_servers)];
}

double MaxLl(const GroupHardware& hardware) {
  if (hardware.num_servers == 1) {
    return kMaxLlOneServer[static_cast<size_t>(hardware.architecture)];
  }
  return kMaxLl[static_cast<size_t>(hardware.cpu)]
               [ServersColumn(hardware.num_servers)];
}

// Steps of a ring: all of them, and those between servers.
struct RingSteps {
  double all;
  double between;
};
RingSteps StepsOf(CollectiveKind kind, const GroupHardware& hardware) {
  const double n = hardware.num_ranks;
  const double servers = hardware.num_servers;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {2 * (n - 1), 2 * (servers - 1)};
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return {n - 1, servers - 1};
    default:
      return {n, servers - 1};
  }
}

// Returns whether there are too many ranks: NVLS stores the data of the ranks
// of a server side by side, and has room for a limited number of ranks.
bool IsTooWide(NcclAlgorithm algorithm, CollectiveKind kind,
               const GroupHardware& hardware) {
  constexpr uint32_t kMaxRanks = 32;
  return algorithm == NcclAlgorithm::kNvls &&
         kind != CollectiveKind::kAllReduce &&
         hardware.ranks_per_server > kMaxRanks;
}

bool IsProtocolOf(NcclProtocol protocol, NcclAlgorithm algorithm,
                  const GroupHardware& hardware) {
  if (protocol == NcclProtocol::kSimple) return true;
  if (algorithm != NcclAlgorithm::kTree && algorithm != NcclAlgorithm::kRing) {
    return false;
  }
  // LL128 needs 128-byte stores that arrive whole, as NVLink has.
  return protocol == NcclProtocol::kLl ||
         hardware.interconnect == InterconnectKind::kNvlink ||
         hardware.ranks_per_server == 1;
}

// Returns the algorithm bandwidth of NVLS and NVLSTree before NCCL 2.28. An
// all-reduce was taken to reach 5/6 of the rate of the channels, whatever the
// number of ranks. The links of a channel's head carry its data twice.
double EarlyNvlsGBps(NcclAlgorithm algorithm, CollectiveKind kind,
                     const ChannelGraph& graph, const GroupHardware& hardware) {
  const double heads = graph.num_channels;
  const double ranks = hardware.ranks_per_server;
  const double intra =
      std::min(graph.intra_GBps, hardware.gpu_GBps / (heads + 1));
  if (kind != CollectiveKind::kAllReduce) {
    return heads *
           std::min(intra * (ranks - 1) / ranks, graph.inter_GBps * 0.9);
  }
  const bool is_long_tree =
      algorithm == NcclAlgorithm::kNvlsTree && hardware.num_servers > 2;
  const double inter = graph.inter_GBps / (is_long_tree ? 2 : 1);
  return heads * std::min(intra, inter) * 5 / 6;
}

// Returns the bus bandwidth of NVLS and NVLSTree.
double NvlsGBps(NcclAlgorithm algorithm, CollectiveKind kind,
                const ChannelGraph& graph, const GroupHardware& hardware) {
  const double heads = graph.num_channels;
  const double ranks = hardware.ranks_per_server;
  double intra = graph.intra_GBps *
                 kNvlsEfficiency[static_cast<size_t>(hardware.architecture)] *
                 (heads - 1) / heads;
  intra *= kind == CollectiveKind::kAllReduce ? 2 : (ranks - 1) / ranks;
  double inter = graph.inter_GBps;
  if (algorithm == NcclAlgorithm::kNvlsTree) {
    if (hardware.num_servers == 2) inter *= 2;
    inter = std::min(inter, OfServers(kNvlsTreePerChannel, hardware));
  }
  return heads * std::min(intra, inter);
}

// Returns the bus bandwidth of all channels.
double BusGBps(NcclAlgorithm algorithm, NcclProtocol protocol,
               CollectiveKind kind, const ChannelGraph& graph,
               const GroupHardware& hardware) {
  const double channels = graph.num_channels;
  const bool is_collnet = algorithm == NcclAlgorithm::kCollnetDirect ||
                          algorithm == NcclAlgorithm::kCollnetChain;
  const double per_channel = hardware.num_servers <= 2 || is_collnet
                                 ? graph.intra_GBps
                                 : graph.inter_GBps;
  double bus = channels * per_channel;
  switch (algorithm) {
    case NcclAlgorithm::kRing:
      if (protocol == NcclProtocol::kLl)
        return std::min(MaxLl(hardware), bus / 2);
      if (protocol == NcclProtocol::kLl128) {
        return std::min(0.92 * bus,
                        channels * kRingLl128PerChannel[static_cast<size_t>(
                                       hardware.architecture)]);
      }
      return bus;
    case NcclAlgorithm::kTree:
      bus =
          std::min(0.92 * bus, channels * OfServers(kTreePerChannel, hardware));
      if (protocol == NcclProtocol::kLl) {
        return std::min(bus / 3.8, MaxLl(hardware));
      }
      if (protocol == NcclProtocol::kLl128) {
        const double share = hardware.num_servers == 1 ? 7.0 / 9 : 120.0 / 128;
        return std::min(bus * share,
                        channels * OfServers(kTreeLl128PerChannel, hardware));
      }
      return bus;
    case NcclAlgorithm::kPat:
      return 0.75 * bus;
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kNvlsTree:
      return NvlsGBps(algorithm, kind, graph, hardware);
    case NcclAlgorithm::kCollnetDirect:
    case NcclAlgorithm::kCollnetChain:
      return bus;
  }
  ASTRA_CHECK(false, "NCCL algorithm {}", static_cast<int>(algorithm));
}

double AlgorithmGBps(NcclAlgorithm algorithm, NcclProtocol protocol,
                     CollectiveKind kind, const ChannelGraph& graph,
                     const GroupHardware& hardware,
                     const NcclVersion& version) {
  constexpr NcclVersion kPerRank{2, 28};
  const bool is_nvls = algorithm == NcclAlgorithm::kNvls ||
                       algorithm == NcclAlgorithm::kNvlsTree;
  if (is_nvls && version < kPerRank) {
    return EarlyNvlsGBps(algorithm, kind, graph, hardware);
  }
  const double bus = BusGBps(algorithm, protocol, kind, graph, hardware);
  if (algorithm == NcclAlgorithm::kRing || is_nvls) {
    return bus * hardware.num_ranks / StepsOf(kind, hardware).all;
  }
  const bool is_reduction_or_copy = kind == CollectiveKind::kAllGather ||
                                    kind == CollectiveKind::kReduceScatter;
  return is_reduction_or_copy ? bus : 0.5 * bus;
}

// NCCL's constants for a candidate, in microseconds.
struct NcclLatencies {
  double base;
  double intra;
  double inter;
};

NcclLatencies LatenciesOf(NcclAlgorithm algorithm, NcclProtocol protocol,
                          const GroupHardware& hardware,
                          const LatencyScale& scale) {
  const auto of = [&](const PerProtocol* table, NcclAlgorithm row) {
    return table[IndexOf(row)][IndexOf(protocol)];
  };
  const bool is_alone = hardware.ranks_per_server == 1;
  const bool is_simple = protocol == NcclProtocol::kSimple;
  // Simple flushes what the NIC wrote, which takes another hop.
  const double hops = is_simple ? 2 : 1;
  NcclLatencies latencies = {
      .base = scale.start * of(kBaseLatency, algorithm),
      .intra =
          scale.within * of(hardware.interconnect == InterconnectKind::kNvlink
                                ? kNvlinkLatency
                                : kPcieLatency,
                            algorithm),
      .inter = of(kNetLatency, is_alone ? NcclAlgorithm::kTree : algorithm) +
               hops * hardware.net_latency_us};
  if (algorithm == NcclAlgorithm::kRing && hardware.num_servers > 1) {
    const double post_us = hardware.cpu == CpuVendor::kAmd ? 2 : 1;
    constexpr double kPostsOfSimple = 3;
    latencies.intra =
        std::max(latencies.intra, post_us * (is_simple ? kPostsOfSimple : 1));
  }
  return latencies;
}

double RingLatencyUs(const NcclLatencies& latencies, CollectiveKind kind,
                     const GroupHardware& hardware) {
  const auto& [base, intra, inter] = latencies;
  if (kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce) {
    return base + (hardware.num_servers > 1 ? inter : intra);
  }
  const RingSteps steps = StepsOf(kind, hardware);
  return base + (steps.all - steps.between) * intra + steps.between * inter;
}

// Returns the levels of a tree over the servers.
double LevelsOf(const GroupHardware& hardware) {
  return std::bit_width(hardware.num_servers) - 1;
}

// Returns whether kTreeCorrection holds for an algorithm.
bool IsCorrected(NcclAlgorithm algorithm, const GroupHardware& hardware) {
  return algorithm == NcclAlgorithm::kTree ||
         (algorithm == NcclAlgorithm::kNvlsTree &&
          hardware.architecture == GpuArchitecture::kBlackwell &&
          hardware.cpu != CpuVendor::kArm);
}

}  // namespace

bool IsSendsAndReceives(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return true;
    default:
      return false;
  }
}

bool IsAlgorithmOf(NcclAlgorithm algorithm, CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return algorithm != NcclAlgorithm::kPat;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return algorithm == NcclAlgorithm::kRing ||
             algorithm == NcclAlgorithm::kPat ||
             algorithm == NcclAlgorithm::kNvls;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return algorithm == NcclAlgorithm::kRing;
    default:
      return false;
  }
}

bool HasSymmetricKernels(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce ||
         kind == CollectiveKind::kAllGather ||
         kind == CollectiveKind::kReduceScatter;
}

double LatencyUs(NcclAlgorithm algorithm, NcclProtocol protocol,
                 CollectiveKind kind, const GroupHardware& hardware,
                 const HopExtra& extra, const LatencyScale& scale) {
  NcclLatencies latencies = LatenciesOf(algorithm, protocol, hardware, scale);
  const bool is_nvls = algorithm == NcclAlgorithm::kNvls ||
                       algorithm == NcclAlgorithm::kNvlsTree;
  // An all-reduce goes through an NVSwitch twice.
  const double passes = is_nvls && kind == CollectiveKind::kAllReduce ? 2 : 1;
  latencies.intra = std::max(0.0, latencies.intra + passes * extra.within_us);
  latencies.inter = std::max(0.0, latencies.inter + extra.between_us);
  const auto& [base, intra, inter] = latencies;
  const double levels = LevelsOf(hardware);
  const double neighbours = hardware.ranks_per_server - 1;
  switch (algorithm) {
    case NcclAlgorithm::kTree:
      return base + 2 * (neighbours * intra + levels * inter);
    case NcclAlgorithm::kRing:
      return RingLatencyUs(latencies, kind, hardware);
    case NcclAlgorithm::kCollnetDirect:
      return base + 2 * (std::min(1.0, neighbours) * intra + 0.4 * neighbours) +
             inter;
    case NcclAlgorithm::kCollnetChain:
      return base + 2 * neighbours * intra + inter;
    case NcclAlgorithm::kNvls:
      return intra + (hardware.num_servers > 1 ? inter : 0);
    case NcclAlgorithm::kNvlsTree:
      return base + intra + 2 * levels * inter;
    case NcclAlgorithm::kPat:
      return base + levels * inter / 3.5 + 2.8 * hardware.num_ranks;
  }
  ASTRA_CHECK(false, "NCCL algorithm {}", static_cast<int>(algorithm));
}

LatencyParts LatencyPartsOf(NcclAlgorithm algorithm, NcclProtocol protocol,
                            CollectiveKind kind, const GroupHardware& hardware,
                            const LatencyScale& scale) {
  const auto [base, intra, inter] =
      LatenciesOf(algorithm, protocol, hardware, scale);
  switch (algorithm) {
    case NcclAlgorithm::kTree:
    case NcclAlgorithm::kRing:
    case NcclAlgorithm::kCollnetChain:
      return {base, intra, inter};
    case NcclAlgorithm::kCollnetDirect:
      return {base, intra + 0.4 * (hardware.ranks_per_server - 1), inter};
    case NcclAlgorithm::kNvls:
      // A message goes up and down; in an all-reduce, twice.
      return {base, kind == CollectiveKind::kAllReduce ? intra / 2 : intra,
              inter};
    case NcclAlgorithm::kNvlsTree:
      return {base, intra / 2, inter};
    case NcclAlgorithm::kPat:
      return {base, intra,
              inter / 3.5 +
                  2.8 * hardware.num_ranks / std::max(1.0, LevelsOf(hardware))};
  }
  ASTRA_CHECK(false, "NCCL algorithm {}", static_cast<int>(algorithm));
}

double ChannelGBps(GpuArchitecture architecture) {
  return kRingLl128PerChannel[static_cast<size_t>(architecture)];
}

TuningTable Tune(CollectiveKind kind, const GroupHardware& hardware,
                 const NcclOptions& options) {
  TuningTable table = {kind, hardware, {}};
  const ChannelGraphs graphs = SearchChannels(hardware, options);
  const NcclChoices choices = options.choices_of(kind);
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    const ChannelGraph& graph = graphs[IndexOf(algorithm)];
    if (graph.num_channels == 0 || !IsAlgorithmOf(algorithm, kind)) continue;
    if (!HasAlgorithm(options.version, algorithm)) continue;
    if (IsTooWide(algorithm, kind, hardware)) continue;
    const uint32_t channels =
        NumKernelChannels(algorithm, graph, hardware, options);
    for (const NcclProtocol protocol : kNcclProtocols) {
      if (!IsProtocolOf(protocol, algorithm, hardware)) continue;
      TuningCandidate candidate = {algorithm, protocol, channels};
      candidate.latency_us = LatencyUs(algorithm, protocol, kind, hardware);
      candidate.GBps = AlgorithmGBps(algorithm, protocol, kind, graph, hardware,
                                     options.version);
      candidate.is_allowed =
          choices.allows(algorithm) && choices.allows(protocol);
      table.candidates.push_back(candidate);
    }
  }
  return table;
}

double PredictedUs(const TuningTable& table, const TuningCandidate& candidate,
                   Bytes bytes) {
  constexpr double kBytesPerUsAndGBps = 1000;
  const auto size = static_cast<double>(bytes.count());
  double rate = candidate.GBps;
  double latency_us = candidate.latency_us;
  if (IsCorrected(candidate.algorithm, table.hardware) && bytes >= Bytes(64)) {
    const auto power = static_cast<size_t>(std::floor(std::log2(size / 64)));
    const auto& correction = kTreeCorrection[IndexOf(candidate.protocol)];
    if (power < std::size(correction)) rate *= correction[power];
  }
  constexpr double kLeastPerStep = 64;
  const GroupHardware& hardware = table.hardware;
  const bool is_long_ring = candidate.algorithm == NcclAlgorithm::kRing &&
                            candidate.protocol == NcclProtocol::kSimple &&
                            hardware.num_servers > 1 &&
                            table.kind == CollectiveKind::kAllReduce;
  if (is_long_ring &&
      size / (double{1} * candidate.channels * hardware.num_ranks) >=
          kLeastPerStep) {
    latency_us *= hardware.architecture == GpuArchitecture::kVolta ? 1.9 : 1.4;
  }
  return latency_us + size / (kBytesPerUsAndGBps * rate);
}

absl::StatusOr<size_t> Choose(const TuningTable& table, Bytes bytes) {
  std::optional<size_t> best;
  double best_us = std::numeric_limits<double>::infinity();
  std::string known;
  for (size_t i = 0; i < table.candidates.size(); ++i) {
    const TuningCandidate& candidate = table.candidates[i];
    known += fmt::format("{}{}/{}", known.empty() ? "" : ", ",
                         Name(candidate.algorithm), Name(candidate.protocol));
    if (!candidate.is_allowed) continue;
    const double us = PredictedUs(table, candidate, bytes);
    if (us < best_us) {
      best = i;
      best_us = us;
    }
  }
  if (best) return *best;
  return absl::FailedPreconditionError(fmt::format(
      "no algorithm is left for {}: NCCL_ALGO, NCCL_PROTO and the like exclude "
      "all that this group has ({})",
      Name(table.kind), known.empty() ? "none" : known));
}

std::string TuningText(const TuningTable& table, Bytes bytes) {
  const absl::StatusOr<size_t> winner = Choose(table, bytes);
  std::string text = fmt::format("{:<14} {:<7} {:>8} {:>12} {:>16} {:>14}\n",
                                 "algorithm", "proto", "channels", "latency_us",
                                 "bandwidth_GBps", "predicted_us");
  for (size_t i = 0; i < table.candidates.size(); ++i) {
    const TuningCandidate& candidate = table.candidates[i];
    const bool wins = winner.ok() && *winner == i;
    text += fmt::format("{:<14} {:<7} {:>8} {:>12.1f} {:>16.1f} {:>14.1f}{}\n",
                        Name(candidate.algorithm), Name(candidate.protocol),
                        candidate.channels, candidate.latency_us,
                        candidate.GBps, PredictedUs(table, candidate, bytes),
                        wins                   ? "  <- chosen"
                        : candidate.is_allowed ? ""
                                               : "  (excluded)");
  }
  return text;
}

}  // namespace astra
