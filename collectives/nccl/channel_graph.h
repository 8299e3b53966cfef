// Finds how many channels NCCL lays over a group, and the rate of each: the
// result of NCCL's topology search for servers whose GPUs are all alike.
//
// A channel is a path through all ranks with its own share of the buffer. The
// search tries rates from a fixed list. Inside a server it takes the rate at
// which channels use most of the NVLinks, down to half of the highest. Over
// several servers it takes the highest rate at which each channel has a NIC.
// Fast channels are then split in two.
//
// Sources: NCCL, src/graph/search.cc (the lists of rates and the splitting);
// src/graph/connect.cc (every channel found is used twice).

#ifndef COLLECTIVES_NCCL_CHANNEL_GRAPH_H_
#define COLLECTIVES_NCCL_CHANNEL_GRAPH_H_

#include <array>
#include <compare>
#include <cstdint>

#include "collectives/nccl/nccl_options.h"
#include "collectives/nccl_algorithm.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// The hardware of a group as NCCL sees it.
struct GroupHardware {
  GpuArchitecture architecture = GpuArchitecture::kHopper;
  CpuVendor cpu = CpuVendor::kIntel;
  InterconnectKind interconnect = InterconnectKind::kNvlink;
  uint32_t num_ranks = 1;
  uint32_t num_servers = 1;
  uint32_t ranks_per_server = 1;  // Ranks on the server with the most.
  uint32_t fewest_ranks_per_server = 1;
  double link_GBps = 0;          // Rate of a GPU's NVLinks or PCIe.
  double link_share = 1;         // Share of it that leads to other ranks.
  double gpu_GBps = 0;           // NCCL's figure for that share of link_GBps.
  uint32_t nics_per_server = 0;  // NICs that ranks of a server use.
  double nic_GBps = 0;           // Rate of one NIC.
  bool has_nvls = false;         // Whether NVSwitches reduce.
  bool has_sharp = false;        // Whether the fabric reduces (SHARP).
  double net_latency_us = 0;     // NCCL's latencyInter of a hop.

  friend auto operator<=>(const GroupHardware&, const GroupHardware&) = default;
};

// Channels of one algorithm; num_channels is 0 if it is not possible.
struct ChannelGraph {
  uint32_t num_channels = 0;
  double intra_GBps = 0;  // Rate of a channel within a server.
  double inter_GBps = 0;  // Rate of a channel between servers.
};

using ChannelGraphs = std::array<ChannelGraph, kNumNcclAlgorithms>;

// Returns the graph of each algorithm over a group with `hardware`.
ChannelGraphs SearchChannels(const GroupHardware& hardware,
                             const NcclOptions& options);

// Returns the channels (CTAs) that a kernel of `algorithm` uses for large
// buffers, within NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS.
uint32_t NumKernelChannels(NcclAlgorithm algorithm, const ChannelGraph& graph,
                           const GroupHardware& hardware,
                           const NcclOptions& options);

}  // namespace astra

#endif  // COLLECTIVES_NCCL_CHANNEL_GRAPH_H_
