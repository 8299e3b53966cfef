// Parameters of all congestion controls. congestion/NAME.h explains the
// parameters of each. Defaults are those of the paper or data sheet that is
// named there, unless a comment says otherwise.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_OPTIONS_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_OPTIONS_H_

#include <cstdint>
#include <string>

#include "astra-core/base/units.h"

namespace astra {

// DCQCN starts at line rate and reacts to ECN marks by its rate.
struct DcqcnOptions {
  TimePs alpha_interval = Microseconds(55);
  TimePs decrease_interval = Microseconds(4);
  TimePs increase_interval = Microseconds(55);
  double gain = 1.0 / 256;
  uint32_t fast_recovery_steps = 5;
  Bandwidth additive_increase = Mbps(40);
  Bandwidth hyper_increase = Mbps(400);
  Bandwidth min_rate = Mbps(100);
  bool clamp_target_rate = false;
};

struct HpccOptions {
  double target_utilization = 0.95;
  uint32_t max_stages = 5;  // Additive increases between two full updates.
  Bandwidth additive_increase = Mbps(50);
  Bandwidth min_rate = Mbps(100);
  bool fast_react = true;  // Reacts also within a round trip.
};

struct HpccPintOptions {
  HpccOptions hpcc;
  double log_base = 1.05;       // Base of the encoding of utilization.
  double sampling_share = 1.0;  // Share of packets that carry it.
};

struct TimelyOptions {
  double ewma_weight = 0.875;
  double decrease_factor = 0.8;
  TimePs least_rtt = Microseconds(20);  // The gradient is relative to it.
  TimePs low_threshold = Microseconds(50);
  TimePs high_threshold = Microseconds(500);
  Bandwidth additive_increase = Mbps(10);
  Bandwidth hyper_increase = Mbps(50);
  Bandwidth min_rate = Mbps(100);
  uint32_t hyper_steps = 5;
};

struct DctcpOptions {
  double gain = 1.0 / 16;
  Bandwidth additive_increase = Mbps(1000);  // Per round trip.
  Bandwidth min_rate = Mbps(100);
};

struct SwiftOptions {
  TimePs base_target = Microseconds(5);  // Target delay beyond the base RTT.
  TimePs per_hop = Microseconds(1);
  double additive_increase = 1.0;  // Packets per round trip.
  double decrease_factor = 0.8;
  double max_decrease = 0.5;
  double flow_scaling_range = 5.0;  // Largest scaling, in base_targets.
  double min_window = 0.1;          // Packets, for flow scaling.
  double max_window = 100.0;        // Packets, for flow scaling.
  Bandwidth min_rate = Mbps(100);   // Not in the paper.
};

// Network-signalled congestion control (NSCC) of Ultra Ethernet, without the
// parts that need packet trimming.
struct UecOptions {
  double max_window_share = 1.5;     // Largest window over bandwidth x delay.
  double target_delay_share = 1.0;   // Queueing delay, in base RTTs.
  double proportional_gain = 4.0;    // alpha
  double fair_increase = 5.0;        // fi, in packets per round trip.
  double fast_increase = 0.25;       // fi_scale, share of acknowledged bytes.
  double periodic_increase = 0.15;   // eta, in packets per round trip.
  double decrease_gain = 0.8;        // gamma
  double max_decrease = 0.5;         // 1 - max_md_jump
  uint32_t adjust_packets = 8;       // Packets between two window changes.
  double quick_adapt_delay = 4.0;    // Threshold, in target delays.
  double quick_adapt_below = 0.125;  // 2^-qa_gate, share of the largest window.
  double quick_adapt_share = 1.0;    // Share of the delivered bytes.
};

struct CongestionOptions {
  std::string name = "dcqcn";  // A name in congestion/registry.h.
  DcqcnOptions dcqcn;
  HpccOptions hpcc;
  HpccPintOptions hpcc_pint;
  TimelyOptions timely;
  DctcpOptions dctcp;
  SwiftOptions swift;
  UecOptions uec;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_CONGESTION_OPTIONS_H_
