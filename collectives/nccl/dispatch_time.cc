#include <algorithm>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collectives/nccl/collective_time.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kPsPerNs = 1000;

// The bytes that an all-to-all puts on the links of a server, and on NICs, for
// each byte of a rank's buffer. By rail, what leaves a server first goes to the
// rank on the rail of its target.
struct PatternBytes {
  double within = 0;
  double between = 0;
};

PatternBytes PatternOf(const RankPlaces& places, bool by_rail) {
  const double n = places.ranks();
  const double of_server = places.ranks_per_server;
  PatternBytes bytes = {(of_server - 1) / n, (n - of_server) / n};
  if (by_rail) bytes.within += bytes.between * (of_server - 1) / of_server;
  return bytes;
}

double ShareOf(double bytes, double of_pattern) {
  return of_pattern > 0 && bytes > 0 ? bytes / of_pattern : 1;
}

}  // namespace

absl::StatusOr<CollectiveTimes::Chosen> CollectiveTimes::ChooseDispatcher(
    size_t group) const {
  const ExpertDispatch& dispatch = *options_.dispatch;
  const GroupHardware& hardware = tuning(group).hardware;
  const RankPlaces places = {hardware.num_servers, hardware.ranks_per_server};
  if (places.ranks() != hardware.num_ranks) {
    return absl::FailedPreconditionError(fmt::format(
        "dispatcher {} needs equally many ranks of the group on each server",
        dispatch.dispatcher.name));
  }
  const bool by_rail = dispatch.dispatcher.relays && places.servers > 1 &&
                       places.ranks_per_server > 1;
  const PatternBytes pattern = PatternOf(places, by_rail);
  const double buffer = BytesOfToken(dispatch.routing, kind_);
  Chosen chosen = {.registry_name = by_rail ? "pxn" : "direct",
                   .work = WorkOf(dispatch, kind_, places)};
  chosen.latency_us = chosen.work->start_us;
  chosen.within_share =
      ShareOf(chosen.work->within_bytes, buffer * pattern.within);
  chosen.between_share =
      ShareOf(chosen.work->between_bytes, buffer * pattern.between);
  return chosen;
}

SizedTime CollectiveTimes::DispatcherTime(const Chosen& chosen,
                                          const ClosedForm& form) const {
  const double token = BytesOfToken(options_.dispatch->routing, kind_);
  SizedTime time;
  time.latency_us = chosen.latency_us;
  time.ps_per_byte =
      std::max(form.ps_per_byte, chosen.work->kernel_ns * kPsPerNs / token);
  time.copy_ps_per_byte = chosen.work->prepare_ns * kPsPerNs / token;
  return time;
}

}  // namespace astra
