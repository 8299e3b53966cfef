// A cluster as it can be bought or rented: its servers, the interconnect of a
// server's GPUs, its NICs, and the transport between servers; with the few
// constants that only measurements tell.
//
// A system names an interconnect and a transport, which several systems share;
// see inputs/systems.

#ifndef COLLECTIVES_SYSTEMS_SYSTEM_SPEC_H_
#define COLLECTIVES_SYSTEMS_SYSTEM_SPEC_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/nccl_algorithm.h"

namespace astra {

// Generations that NCCL's constants distinguish.
enum class GpuArchitecture : uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

enum class CpuVendor : uint8_t { kIntel, kAmd, kArm };

enum class InterconnectKind : uint8_t { kNvlink, kPcie };

// How well an algorithm uses links. The time of S bytes that put s S bytes on
// the busiest link, of rate B, is
//
//   s S / (efficiency B)  +  ramp S / (S + ramp_size)
//
// The second term is the time that pipelines lose before they are full: little
// for small buffers, which are cut into small chunks, and `ramp` for large
// ones.
struct Pace {
  double efficiency = 1;  // Share of the data sheet's rate.
  double ramp_us = 0;
  double ramp_MiB = 1;  // Half of the ramp applies at this size.
};

// Paces of all patterns: NCCL's algorithms, messages straight from rank to all
// other ranks (all-to-all) and to one (send-recv), and kernels on symmetric
// memory.
struct Paces {
  std::array<Pace, kNumNcclAlgorithms> algorithms;
  Pace direct;
  Pace send_recv;
  Pace symmetric;

  const Pace& of(NcclAlgorithm algorithm) const {
    return algorithms[IndexOf(algorithm)];
  }
};

// How far the latency of a collective within a server differs from what NCCL's
// constants say, for one protocol:
//
//   (start s + hop h) (1 + spread S / (S + spread_size))
//
// for S bytes, where s is NCCL's time to start a kernel and h that of all hops.
// The last factor is what it takes to spread a buffer over more channels and
// threads: nothing for the smallest buffers, `spread` for large ones.
struct ProtocolLatency {
  double start = 1;
  double hop = 1;
  double spread = 0;
  double spread_KiB = 16;  // Half of the spread applies at this size.
};

// Latencies of the protocols of rings and trees, of reductions in the NVSwitch,
// and of messages straight from rank to rank.
struct Latencies {
  std::array<ProtocolLatency, kNumNcclProtocols> protocols;
  ProtocolLatency nvls;
  ProtocolLatency direct;
};

// The interconnect of the GPUs of a server (or of an NVLink domain).
struct Interconnect {
  std::string name;
  std::vector<std::string> sources;
  InterconnectKind kind = InterconnectKind::kNvlink;
  double GBps = 0;       // Rate of a GPU each way, by the data sheet.
  double nccl_GBps = 0;  // Rate that NCCL reckons with.
  bool has_nvls = false;
  double latency_ns = 0;  // Propagation from GPU to switch.
  // Other GPUs among which the links of one GPU are shared evenly, where no
  // switch joins them: a group of n GPUs has (n - 1) / num_peers of GBps. 0 if
  // all links lead to a switch or a bus.
  uint32_t num_peers = 0;

  // The calibrated constants follow; `origin` says on what they were
  // calibrated.
  std::string origin;
  double launch_us = 0;        // Least time of a collective in one server.
  double graph_launch_us = 0;  // Least time within a CUDA graph.
  double ll_GBps = 0;          // Largest bus bandwidth of the LL protocol.
  double symmetric_us = 0;     // Latency of kernels on symmetric memory.
  double copy_GBps = 1;        // Rate at which a rank copies its own share.
  // With more than two GPUs the rate of each falls by (2 / GPUs) to this power:
  // 0 where links or a switch join the GPUs, above where all messages pass
  // through the memory of the host.
  double crowding = 0;
  Latencies latencies;  // Latencies of groups within one server.
  Paces paces;
};

// The transport between servers: NIC, its software, and the fabric.
struct Transport {
  std::string name;
  std::vector<std::string> sources;
  double fabric_latency_ns = 0;  // Propagation of one link of the fabric.
  // NCCL's variables as the transport's guide sets them, such as
  // "NCCL_ALGO=Ring,Tree".
  std::vector<std::string> nccl;

  // The calibrated constants follow; `origin` says on what they were
  // calibrated.
  std::string origin;
  double latency_us = 0;  // Latency of a hop beyond NCCL's constants.
  double launch_us = 0;   // Least time of a collective across servers.

  // Share of the efficiency that is left if all messages between two NICs take
  // one path through a large fabric: with one queue pair for each connection,
  // hashes collide. With N servers the share is its power 1 - 2 / N.
  double one_queue_pair = 1;
  Paces paces;
};

struct SystemSpec {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<std::string> sources;
  std::string gpu;  // Name in inputs/gpus.
  GpuArchitecture architecture = GpuArchitecture::kHopper;
  CpuVendor cpu = CpuVendor::kIntel;
  uint32_t gpus_per_server = 8;  // GPUs of an NVLink domain.
  uint32_t nv_switches_per_server = 1;
  uint32_t nics_per_server = 8;
  double nic_GBps = 0;       // Rate of one NIC.
  bool sharp = false;        // The fabric reduces (CollNet).
  uint32_t max_servers = 1;  // 1 if there is no fabric.
  Interconnect interconnect;
  Transport transport;  // The name is empty if there is no fabric.
};

}  // namespace astra

#endif  // COLLECTIVES_SYSTEMS_SYSTEM_SPEC_H_
