// Times computations and collectives as SimuMax does with its system file, and
// remembers which efficiencies it found.
//
//   compute     FLOPs / (tflops x efficiency): that of the exact shape, or else
//               of the operator
//   memory      bytes / (gbps x efficiency) + latency_us; 0 for no bytes
//   kernel      the longer one of both, or compute where the mode is
//               only_compute
//   collective  A / (gbps x efficiency) + latency, A = bytes x scale x
//               (1 + offset / ranks); 0 for one rank. On nodes of 8 GPUs the
//               latency of all but p2p grows to latency_us x (ranks + offset) x
//               scale. fixed_latency_us comes on top.
//
// gbps means GiB/s. Between nodes the bandwidth is shared:
//
//   p2p                 one of the node's NICs
//   all2all of EP, CP   one NIC, and only bytes that leave the node count
//   dense DP, CP        as many groups as TP share a node's NICs
//   DP of experts       as many groups as EP x ETP
//
// With PCIe, dp_fixed_bw of the number of ranks replaces bandwidth and latency
// of the dense DP. With FC8 the bandwidth within a node is (ranks - 1) / 7 of
// the whole.
//
// All times are in milliseconds, as in SimuMax's own results.
//
// Source: SimuMax 1.2, simumax/core/config.py, SystemConfig, and perf_llm.py,
// analysis_pcie_net and analysis_high_link_net.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_COST_MODEL_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_COST_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/planner/simumax/simumax_files.h"

namespace astra {

// What one rank does in a part of an iteration.
struct SimumaxCost {
  double compute_ms = 0;
  double net_ms = 0;
  double flops = 0;
  double bytes = 0;  // Read and written.

  double total_ms() const { return compute_ms + net_ms; }
  SimumaxCost& operator+=(const SimumaxCost& other);
};

// A computation of one kernel.
struct SimumaxKernel {
  std::string_view op =
      {};  // Key of accelerator.op and of accelerator.bandwidth.
  double flops = 0;
  double bytes = 0;
  std::string shape = {};  // Key of accurate_efficient_factor; empty: none.
};

// The groups of ranks, each with a network of its own.
enum class SimumaxGroup : uint8_t {
  kTensor,
  kContext,
  kExpert,
  kExpertTensor,
  kData,        // DP x CP.
  kExpertData,  // Replicas of experts.
  kPipeline,    // Two neighbouring stages.
};

struct SimumaxTransfer {
  std::string_view op = {};  // "all_reduce", "p2p", ...
  SimumaxGroup group = SimumaxGroup::kTensor;
  double bytes = 0;             // Of the whole buffer.
  std::string_view stage = {};  // What net_info.json calls it.
};

// An efficiency that was looked up by a shape.
struct SimumaxLookup {
  double flops = 0;
  double efficiency = 0;
};

// A collective as it was last timed.
struct SimumaxNetRecord {
  std::string network;
  int64_t ranks = 0;
  double base_gib_per_second = 0;
  double real_gib_per_second = 0;
  double efficiency = 0;
  double bytes = 0;  // A above.
  double us = 0;
  double latency_us = 0;
  double fixed_latency_us = 0;
  bool is_fixed = false;  // real_gib_per_second is of dp_fixed_bw.
};

// By operator and shape, and by operation and stage.
using SimumaxLookups =
    std::map<std::string, std::map<std::string, SimumaxLookup>>;
using SimumaxNetRecords =
    std::map<std::string, std::map<std::string, SimumaxNetRecord>>;

class SimumaxCosts {
 public:
  // Both must outlive the object.
  SimumaxCosts(const SimumaxSystem& system, const SimumaxStrategy& strategy)
      : system_(system), strategy_(strategy) {}

  const SimumaxSystem& system() const { return system_; }

  // After an error these return 0 ms, and status() has the first error:
  // InvalidArgument for what the system file lacks, or an efficiency of 0.
  SimumaxCost Of(const SimumaxKernel& kernel);
  SimumaxCost Of(const SimumaxTransfer& transfer);
  // Time of moving `bytes` at accelerator.bandwidth.NAME, or its default.
  double MemoryMs(std::string_view name, double bytes);

  // Returns the name of the network that a group uses.
  std::string_view NetworkOf(SimumaxGroup group) const;
  int64_t RanksOf(SimumaxGroup group) const;

  const absl::Status& status() const { return status_; }
  const SimumaxLookups& hits() const { return hits_; }
  const SimumaxLookups& misses() const { return misses_; }
  const SimumaxNetRecords& networks() const { return networks_; }

 private:
  double ComputeMs(const SimumaxKernel& kernel);
  // Returns the share of a network's bandwidth that `transfer` gets between
  // nodes.
  double ShareOf(const SimumaxTransfer& transfer) const;
  double LatencyUs(const SimumaxTransfer& transfer,
                   const SimumaxNetwork& network,
                   const SimumaxCollective& collective) const;
  // Returns the rate of dp_fixed_bw, if it holds for `transfer`.
  std::optional<double> FixedRate(const SimumaxTransfer& transfer,
                                  const SimumaxCollective& collective) const;
  // Returns all but the time.
  SimumaxNetRecord RecordOf(const SimumaxTransfer& transfer,
                            const SimumaxNetwork& network,
                            const SimumaxCollective& collective);
  // Returns `efficiency`, or 1 and records an error where it is 0.
  double Checked(double efficiency, std::string_view key);
  void Fail(std::string_view message);

  const SimumaxSystem& system_;
  const SimumaxStrategy& strategy_;
  absl::Status status_;
  SimumaxLookups hits_;
  SimumaxLookups misses_;
  SimumaxNetRecords networks_;
};

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_COST_MODEL_H_
