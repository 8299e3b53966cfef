// A cluster as it can be bought or rented: its servers, what connects the GPUs
// of one, its NICs, and how the data moves between servers; with the few
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

// The generations that NCCL's constants distinguish.
enum class GpuArchitecture : uint8_t { kVolta, kAmpere, kHopper, kBlackwell };

enum class CpuVendor : uint8_t { kIntel, kAmd, kArm };

enum class InterconnectKind : uint8_t { kNvlink, kPcie };

// How an algorithm uses links. The time of S bytes that put s S bytes on the
// busiest link, of rate B, is
//
//   s S / (efficiency B)  +  ramp S / (S + ramp_size)
//
// where the second term is what pipelines lose before they are full: little for
// small buffers, which are cut into small chunks, and `ramp` for large ones.
struct Pace {
  double efficiency = 1;  // Of the rate of the data sheet.
  double ramp_us = 0;
  double ramp_MiB = 1;  // Half of the ramp is there at this size.
};

// The patterns that have a pace: NCCL's algorithms, messages straight from rank
// to rank (all-to-all, send-recv), and kernels on symmetric memory.
struct Paces {
  std::array<Pace, kNumNcclAlgorithms> algorithms;
  Pace direct;
  Pace symmetric;

  const Pace& of(NcclAlgorithm algorithm) const {
    return algorithms[IndexOf(algorithm)];
  }
};

// What connects the GPUs of a server (or of an NVLink domain).
struct Interconnect {
  std::string name;
  std::vector<std::string> sources;
  InterconnectKind kind = InterconnectKind::kNvlink;
  double GBps = 0;       // Of a GPU, in each direction, by the data sheet.
  double nccl_GBps = 0;  // What NCCL reckons with.
  bool has_nvls = false;
  double latency_ns = 0;  // Propagation, from GPU to switch.

  // Calibrated; `origin` says on what.
  std::string origin;
  double launch_us = 0;        // Least time of a collective in one server.
  double graph_launch_us = 0;  // The same within a CUDA graph.
  double ll_GBps = 0;          // The most that the LL protocol reaches, busbw.
  double symmetric_us = 0;     // Latency of kernels on symmetric memory.
  double copy_GBps = 1;        // At which a ring copies a rank's own share.
  Paces paces;
};

// What moves data between servers: NIC, its software, and the fabric.
struct Transport {
  std::string name;
  std::vector<std::string> sources;
  double fabric_latency_ns = 0;  // Propagation of one link of the fabric.
  // How its guide sets NCCL, such as "NCCL_ALGO=Ring,Tree".
  std::vector<std::string> nccl;

  // Calibrated; `origin` says on what.
  std::string origin;
  double latency_us = 0;  // What a hop takes beyond NCCL's own reckoning.
  double launch_us = 0;   // Least time of a collective over several servers.

  // The share of the efficiency that is left where all messages between two
  // NICs take one way through a large fabric: with one queue pair for each
  // connection, hashes collide. Of N servers, its power 1 - 2 / N is left.
  double one_queue_pair = 1;
  Paces paces;
};

struct SystemSpec {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<std::string> sources;
  std::string gpu;  // Of inputs/gpus.
  GpuArchitecture architecture = GpuArchitecture::kHopper;
  CpuVendor cpu = CpuVendor::kIntel;
  uint32_t gpus_per_server = 8;  // GPUs of an NVLink domain.
  uint32_t nv_switches_per_server = 1;
  uint32_t nics_per_server = 8;
  double nic_GBps = 0;       // Of one NIC.
  bool sharp = false;        // Whether the fabric reduces (CollNet).
  uint32_t max_servers = 1;  // 1 where there is no fabric.
  Interconnect interconnect;
  Transport transport;  // No name where there is no fabric.
};

}  // namespace astra

#endif  // COLLECTIVES_SYSTEMS_SYSTEM_SPEC_H_
