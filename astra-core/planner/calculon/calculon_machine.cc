#include "astra-core/planner/calculon/calculon_machine.h"

#include <algorithm>

namespace astra {

double CalculonSeconds(const CalculonRate& rate, double amount) {
  const auto step = std::find_if(
      rate.steps.begin(), rate.steps.end(),
      [amount](const CalculonRate::Step& one) { return amount >= one.least; });
  return amount / (rate.peak * step->efficiency);
}

double CalculonLayerSeconds(const CalculonSystem& system, double flops_seconds,
                            double memory_seconds) {
  return system.overlaps_memory ? std::max(flops_seconds, memory_seconds)
                                : flops_seconds + memory_seconds;
}

double CalculonNetworkSeconds(const CalculonNetwork& network, CalculonOp op,
                              double bytes, int64_t ranks) {
  const CalculonNetwork::Traffic& traffic =
      network.ops[static_cast<size_t>(op)];
  const double size = bytes * traffic.scalar;
  const double sent = size + size / static_cast<double>(ranks) * traffic.offset;
  return network.latency + sent / (network.bandwidth * network.efficiency);
}

}  // namespace astra
