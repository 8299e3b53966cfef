#include "astra-core/engine/message_pace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "astra-core/base/status_macros.h"
#include "astra-core/engine/message_costs.h"

namespace astra {
namespace {

NcclMessages WithLatency(NcclMessages nccl, double factor) {
  nccl.within.latency_us *= factor;
  nccl.between.latency_us *= factor;
  return nccl;
}

NcclMessages WithWire(NcclMessages nccl, double factor) {
  nccl.within.wire_bytes_per_byte *= factor;
  nccl.between.wire_bytes_per_byte *= factor;
  return nccl;
}

// The part of the costs of messages that is scaled.
enum class ScaledPart : uint8_t { kWire, kLatency };

// Runs a graph alone on a network, with scaled costs.
class ScaledCollective {
 public:
  ScaledCollective(const NcclMessages& nccl, ScaledPart part,
                   const PlacedFlowGraph& placed,
                   const PaceNetwork& new_network)
      : nccl_(nccl),
        placed_(placed),
        new_network_(new_network),
        is_wire_(part == ScaledPart::kWire) {}

  // Returns the parts, with those that are scaled `factor` times as large.
  NcclMessages Scaled(double factor) const {
    return is_wire_ ? WithWire(nccl_, factor) : WithLatency(nccl_, factor);
  }

  // Returns the time of the scaled parts in the closed form, in microseconds.
  double scaled_us() const {
    return is_wire_ ? nccl_.wire_us
                    : nccl_.time_us - nccl_.wire_us - nccl_.start_us;
  }

  // Returns the factor with which overlapping steps take the time of the closed
  // form.
  double OverlapFactor() const {
    const double steps_us = nccl_.time_us - nccl_.start_us;
    const double scaled = is_wire_ ? nccl_.wire_us : steps_us - nccl_.wire_us;
    return scaled > 0 ? steps_us / scaled : 1;
  }

  absl::StatusOr<double> TimeUs(double factor) const {
    MessageCosts costs = CostsOf(Scaled(factor), {});
    costs.least = TimePs(0);
    const std::unique_ptr<NetworkBackend> network =
        new_network_.make(nccl_.has_one_path);
    ASTRA_ASSIGN_OR_RETURN(const TimePs time,
                           RunFlowGraph(placed_.graph, placed_.members,
                                        *network, costs, placed_.layout));
    return ToMicroseconds(time);
  }

 private:
  const NcclMessages& nccl_;
  const PlacedFlowGraph& placed_;
  const PaceNetwork& new_network_;
  bool is_wire_;
};

constexpr double kPaceTolerance = 0.003;
// A factor that takes less than this off the error is not worth it.
constexpr double kLeastGain = 0.9;

struct PaceSolution {
  double factor = 1;
  double error_us = INFINITY;  // Between the messages and the closed form.
};

// Solves for the factor, at most `limit`, by the secant method.
absl::StatusOr<PaceSolution> SolvePace(const ScaledCollective& collective,
                                       double time_us, double limit) {
  constexpr int kMaxRuns = 8;
  constexpr double kLeastFactor = 0.05;
  // Relative to the slope that the parts suggest.
  constexpr double kLeastSlope = 0.02;
  const double suggested = std::max(collective.scaled_us(), 1e-6);
  double slope = suggested;
  double factor = 1;
  PaceSolution best;
  double last_factor = 1;
  double last_us = 0;
  for (int run = 0; run < kMaxRuns; ++run) {
    ASTRA_ASSIGN_OR_RETURN(const double us, collective.TimeUs(factor));
    const double error_us = std::abs(us - time_us);
    if (error_us < kLeastGain * best.error_us) {
      best = {.factor = factor, .error_us = error_us};
    }
    if (error_us <= kPaceTolerance * time_us) break;
    if (factor != last_factor) {
      slope = std::max(kLeastSlope * suggested,
                       (us - last_us) / (factor - last_factor));
    }
    last_factor = factor;
    last_us = us;
    factor = std::clamp(factor + (time_us - us) / slope, kLeastFactor, limit);
    if (factor == last_factor) break;
  }
  return best;
}

}  // namespace

absl::StatusOr<NcclMessages> Paced(const NcclMessages& nccl,
                                   const PlacedFlowGraph& placed,
                                   const PaceNetwork& new_network) {
  const ScaledPart larger = 2 * nccl.wire_us >= nccl.time_us
                                ? ScaledPart::kWire
                                : ScaledPart::kLatency;
  const ScaledCollective collective(nccl, larger, placed, new_network);
  if (placed.graph->num_flows() > kMaxPacedFlows) {
    const bool is_ring = nccl.registry_name == "ring";
    return is_ring ? collective.Scaled(collective.OverlapFactor()) : nccl;
  }
  const bool is_limited = new_network.run_shares_more && !nccl.has_one_path;
  const auto solve = [&](const ScaledCollective& scaled) {
    return SolvePace(scaled, nccl.time_us,
                     is_limited ? scaled.OverlapFactor() : INFINITY);
  };
  ASTRA_ASSIGN_OR_RETURN(const PaceSolution solution, solve(collective));
  // Longer latencies would stand for the links that only the run shares, and
  // these would be paid for twice.
  if (solution.error_us <= kPaceTolerance * nccl.time_us ||
      (is_limited && larger == ScaledPart::kWire)) {
    return collective.Scaled(solution.factor);
  }
  // A chunk that goes through many ranks one after another may take longer for
  // its bytes alone, or for its latencies alone.
  const ScaledPart smaller =
      larger == ScaledPart::kWire ? ScaledPart::kLatency : ScaledPart::kWire;
  const ScaledCollective other(nccl, smaller, placed, new_network);
  ASTRA_ASSIGN_OR_RETURN(const PaceSolution of_other, solve(other));
  return of_other.error_us < kLeastGain * solution.error_us
             ? other.Scaled(of_other.factor)
             : collective.Scaled(solution.factor);
}

}  // namespace astra
