#include "collectives/nccl/channel_graph.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"

namespace astra {
namespace {

constexpr double kIntraRates[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr double kIntraRatesHopper[] = {60, 50, 40, 30, 24, 20,
                                        15, 12, 11, 6,  3};
constexpr double kIntraRatesBlackwell[] = {90, 80, 70, 60, 50, 45,
                                           40, 30, 24, 20, 19, 18};
constexpr double kInterRates[] = {48, 30, 28, 24, 20, 18,  15,  12,   10,  9,
                                  7,  6,  5,  4,  3,  2.4, 1.2, 0.24, 0.12};
constexpr double kInterRatesHopper[] = {96, 48, 45,  42,   40,   30,
                                        24, 22, 20,  17.5, 15,   12,
                                        6,  3,  2.4, 1.2,  0.24, 0.12};

bool IsHopperOrLater(GpuArchitecture architecture) {
  return architecture >= GpuArchitecture::kHopper;
}

absl::Span<const double> IntraRates(GpuArchitecture architecture) {
  switch (architecture) {
    case GpuArchitecture::kVolta:
    case GpuArchitecture::kAmpere:
      return kIntraRates;
    case GpuArchitecture::kHopper:
      return kIntraRatesHopper;
    case GpuArchitecture::kBlackwell:
      break;
  }
  return kIntraRatesBlackwell;
}

// Returns the first of `rates`, which decrease, that is at most `limit`, or the
// last if none is.
double RateWithin(absl::Span<const double> rates, double limit) {
  for (const double rate : rates) {
    if (rate <= limit) return rate;
  }
  return rates.back();
}

// Splits fast channels in two, so that more of a GPU's processors copy.
ChannelGraph Split(ChannelGraph graph, GpuArchitecture architecture) {
  constexpr double kFast = 25;
  constexpr double kVeryFast = 50;
  constexpr uint32_t kFew = 4;
  if (graph.intra_GBps < kFast) return graph;
  if (IsHopperOrLater(architecture) && graph.intra_GBps < kVeryFast &&
      graph.num_channels > kFew) {
    return graph;
  }
  graph.num_channels *= 2;
  graph.intra_GBps /= 2;
  graph.inter_GBps /= 2;
  return graph;
}

// Finds channels that fill the NVLinks of a GPU. Of the rates from the highest
// possible down to half of it, takes the first at which channels carry the
// most.
ChannelGraph WithinServer(const GroupHardware& hardware) {
  constexpr double kLowestShare = 0.49;
  const absl::Span<const double> rates = IntraRates(hardware.architecture);
  const double highest = RateWithin(rates, hardware.gpu_GBps);
  ChannelGraph best;
  for (const double rate : rates) {
    if (rate > highest || rate < kLowestShare * highest) continue;
    const double count = std::max(1.0, std::floor(hardware.gpu_GBps / rate));
    if (count * rate > best.num_channels * best.intra_GBps) {
      best = {static_cast<uint32_t>(count), rate, rate};
    }
  }
  return Split(best, hardware.architecture);
}

// Finds channels that use one NIC each. Channels of a tree over two servers may
// be faster within the servers, because each NIC then carries half of a
// channel.
ChannelGraph AcrossServers(const GroupHardware& hardware, bool is_tree) {
  const absl::Span<const double> rates =
      IsHopperOrLater(hardware.architecture)
          ? absl::MakeConstSpan(kInterRatesHopper)
          : absl::MakeConstSpan(kInterRates);
  constexpr uint32_t kMost = 32;
  const uint32_t count =
      std::min(kMost, std::max(1U, hardware.nics_per_server));
  // A channel leaves a GPU by its NIC or by its NVLinks. All but one of the
  // channels of a server pass through the NVLinks of a GPU.
  const double within = hardware.gpu_GBps / std::max(1U, count - 1);
  const double limit = hardware.ranks_per_server == 1
                           ? hardware.nic_GBps
                           : std::min(hardware.nic_GBps, within);
  ChannelGraph graph = {count, 0, RateWithin(rates, limit)};
  graph.intra_GBps = graph.inter_GBps;
  if (is_tree && hardware.num_servers == 2 && hardware.ranks_per_server > 1) {
    graph.intra_GBps =
        std::max(graph.intra_GBps, RateWithin(IntraRates(hardware.architecture),
                                              hardware.gpu_GBps / count));
  }
  return Split(graph, hardware.architecture);
}

// Returns the highest rate of the list, or less if the GPU has fewer NVLinks
// than the GPUs for which NCCL made the list.
double HeadRate(const GroupHardware& hardware) {
  constexpr double kHopperGBps = 370.8;
  constexpr double kBlackwellGBps = 721.8;
  constexpr double kAbout = 0.95;
  const absl::Span<const double> rates = IntraRates(hardware.architecture);
  const double full = hardware.architecture == GpuArchitecture::kBlackwell
                          ? kBlackwellGBps
                          : kHopperGBps;
  const double share = hardware.gpu_GBps / full;
  return share >= kAbout ? rates.front()
                         : RateWithin(rates, rates.front() * share);
}

// Finds the channels of NVLS; each rank of a server is the head of a channel.
ChannelGraph OfNvls(const GroupHardware& hardware) {
  if (!hardware.has_nvls || hardware.fewest_ranks_per_server < 2) return {};
  constexpr uint32_t kMaxHeads = 32;
  const double rate = HeadRate(hardware);
  const bool is_one_server = hardware.num_servers == 1;
  const uint32_t heads = std::min(kMaxHeads, hardware.fewest_ranks_per_server);
  const double nic_rate = hardware.nic_GBps * hardware.nics_per_server / heads;
  return {heads, rate,
          is_one_server
              ? rate
              : RateWithin(kInterRatesHopper, std::min(rate, nic_rate))};
}

}  // namespace

ChannelGraphs SearchChannels(const GroupHardware& hardware,
                             const NcclOptions& options) {
  ChannelGraphs graphs;
  const auto set = [&](NcclAlgorithm algorithm, const ChannelGraph& graph) {
    graphs[IndexOf(algorithm)] = graph;
  };
  const bool is_one_server = hardware.num_servers == 1;
  const ChannelGraph ring =
      is_one_server ? WithinServer(hardware) : AcrossServers(hardware, false);
  set(NcclAlgorithm::kRing, ring);
  set(NcclAlgorithm::kTree,
      is_one_server ? ring : AcrossServers(hardware, true));
  if (hardware.ranks_per_server == 1 && options.pat) {
    set(NcclAlgorithm::kPat, ring);
  }
  if (options.nvls) {
    set(is_one_server ? NcclAlgorithm::kNvls : NcclAlgorithm::kNvlsTree,
        OfNvls(hardware));
  }
  if (hardware.has_sharp && options.collnet && !is_one_server) {
    const ChannelGraph collnet = AcrossServers(hardware, true);
    set(NcclAlgorithm::kCollnetDirect, collnet);
    set(NcclAlgorithm::kCollnetChain, collnet);
  }
  return graphs;
}

uint32_t NumKernelChannels(NcclAlgorithm algorithm, const ChannelGraph& graph,
                           const GroupHardware& hardware,
                           const NcclOptions& options) {
  constexpr uint32_t kNvlsChannelsHopper = 16;
  constexpr uint32_t kNvlsChannelsBlackwell = 32;
  constexpr uint32_t kMaxChannels = 64;
  const bool is_nvls = algorithm == NcclAlgorithm::kNvls ||
                       algorithm == NcclAlgorithm::kNvlsTree;
  uint32_t channels = 2 * graph.num_channels;
  if (is_nvls) {
    channels = hardware.architecture == GpuArchitecture::kBlackwell
                   ? kNvlsChannelsBlackwell
                   : kNvlsChannelsHopper;
  }
  channels = std::max(channels, options.min_channels);
  if (options.max_channels > 0) {
    channels = std::min(channels, options.max_channels);
  }
  return std::min(channels, kMaxChannels);
}

}  // namespace astra
