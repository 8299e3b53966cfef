#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/nccl_chunking.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kUsPerNs = 1e-3;

// Lets the bytes of messages take so many times as long.
void SlowDown(double factor, NcclMessages& messages) {
  messages.within.wire_bytes_per_byte *= factor;
  messages.between.wire_bytes_per_byte *= factor;
}

// Lets the messages of a collective take `time` in all, their launch included.
void Stretch(TimePs time, NcclMessages& messages) {
  const double share = ToMicroseconds(time) / messages.time_us;
  messages.time_us *= share;
  messages.wire_us *= share;
  messages.start_us *= share;
  messages.least_us = 0;
  SlowDown(share, messages);
}

}  // namespace

LatencyParts CollectiveTimes::PartsOf(const Chosen& chosen,
                                      const GroupHardware& hardware) const {
  if (chosen.kernel != nullptr || chosen.work) {
    return {.start_us = chosen.latency_us};
  }
  if (!chosen.algorithm) return PointToPoint(hardware);
  return LatencyPartsOf(*chosen.algorithm, chosen.protocol, kind_, hardware,
                        ScaleOf(*chosen.algorithm, chosen.protocol, hardware));
}

NcclMessages::Hop CollectiveTimes::HopWithin(const Chosen& chosen,
                                             double latency_us,
                                             size_t group) const {
  const double propagation_us = 2 * kUsPerNs * system_.interconnect.latency_ns;
  return {std::max(0.0, latency_us - propagation_us),
          chosen.within_share * WireShare(chosen.protocol) /
              EfficiencyWithin(PaceWithin(chosen), tuning(group).hardware)};
}

NcclMessages::Hop CollectiveTimes::HopBetween(const Chosen& chosen,
                                              double latency_us,
                                              size_t group) const {
  const double propagation_us =
      2 * kUsPerNs * system_.transport.fabric_latency_ns;
  double share = PaceBetween(chosen).efficiency;
  if (propagation_[group].has_one_path) share *= QueuePairShare();
  return {std::max(0.0, latency_us - propagation_us),
          chosen.between_share * WireShare(chosen.protocol) / share};
}

absl::StatusOr<NcclMessages> CollectiveTimes::Messages(size_t group,
                                                       Bytes bytes) {
  if (IsSymmetric()) {
    return absl::FailedPreconditionError(fmt::format(
        "the {} on symmetric buffers is no set of messages: only closed forms "
        "know its kernels",
        Name(kind_)));
  }
  if (groups_.size() > 1) {
    ASTRA_ASSIGN_OR_RETURN(
        CollectiveTimes alone,
        Create(kind_, {groups_[group]}, system_, options_, routes_));
    return alone.Messages(0, bytes);
  }
  ASTRA_ASSIGN_OR_RETURN(const Chosen chosen, ChooseFor(group, bytes));
  ASTRA_ASSIGN_OR_RETURN(const ClosedForms* forms,
                         FormsOf(group, chosen, bytes));
  const GroupHardware& hardware = tuning(group).hardware;
  const ClosedForm& form = forms->groups[group].form;
  const SizedTime sized = SizedTimeOf(chosen, group, form);
  const LatencyParts parts = PartsOf(chosen, hardware);
  NcclMessages messages = {
      .registry_name = chosen.registry_name,
      .chunking = {},
      .start_us = parts.start_us,
      .least_us = LaunchUs(chosen, hardware),
      .time_us = sized.LatencyUs(bytes) + sized.WireUs(bytes),
      .wire_us = sized.WireUs(bytes),
      .has_one_path = propagation_[group].has_one_path,
      .within = HopWithin(chosen, parts.within_us, group),
      .between = HopBetween(chosen, parts.between_us, group),
  };
  if (chosen.algorithm) {
    messages.chunking = NcclChunking(*chosen.algorithm, chosen.protocol, kind_,
                                     bytes, chosen.channels, hardware);
  }
  const double copy_us = sized.CopyUs(bytes);
  messages.start_us += copy_us;
  messages.wire_us -= copy_us;
  const double links_us = form.ps_per_byte * WireShare(chosen.protocol) /
                          kPsPerUs * static_cast<double>(bytes.count());
  SlowDown(messages.wire_us / links_us, messages);
  if (CurveOf(group, bytes) == nullptr) return messages;
  ASTRA_ASSIGN_OR_RETURN(const TimedCollective timed, Time(group, bytes));
  Stretch(timed.time, messages);
  return messages;
}

}  // namespace astra
