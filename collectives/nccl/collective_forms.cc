// Lays the collectives that all groups of a dimension run at once on the links,
// which bound their rates. A part of CollectiveTimes.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/nccl/group_hardware.h"
#include "collectives/registry.h"
#include "fmt/core.h"

namespace astra {
namespace {

bool IsWithinServer(const Topology& topology, const Link& link) {
  return topology.kind(link.source) != NodeKind::kSwitch &&
         topology.kind(link.target) != NodeKind::kSwitch;
}

}  // namespace

double CollectiveTimes::EfficiencyWithin(const Pace& pace,
                                         const GroupHardware& hardware) const {
  const double rate = hardware.link_GBps;
  const double sheet = system_.interconnect.GBps;
  const double crowd = std::max(1.0, hardware.ranks_per_server / 2.0);
  const double efficiency =
      pace.efficiency * std::pow(crowd, -system_.interconnect.crowding);
  return hardware.link_share *
         (rate < sheet ? std::min(1.0, efficiency * sheet / rate) : efficiency);
}

uint32_t CollectiveTimes::NumServers() const {
  uint32_t num_servers = 1;
  for (const TuningTable& table : tables_) {
    num_servers = std::max(num_servers, table.hardware.num_servers);
  }
  return num_servers;
}

double CollectiveTimes::QueuePairShare() const {
  const uint32_t num_servers = NumServers();
  if (options_.queue_pairs > 1 || num_servers <= 2) return 1;
  return std::pow(system_.transport.one_queue_pair, 1 - 2.0 / num_servers);
}

absl::StatusOr<CollectiveTimes::FormsKey> CollectiveTimes::FormsKeyOf(
    size_t group, const Chosen& chosen, Bytes bytes) const {
  FormsKey key;
  key.table = table_of_group_[group];
  if (chosen.kernel != nullptr) key.kernel = chosen.kernel->algorithm;
  key.names.reserve(tables_.size());
  for (uint32_t table = 0; table < tables_.size(); ++table) {
    if (table == key.table) {
      key.names.push_back(chosen.registry_name);
      continue;
    }
    ASTRA_ASSIGN_OR_RETURN(const Chosen other,
                           ChooseFor(first_group_[table], bytes));
    key.names.push_back(other.registry_name);
  }
  return key;
}

absl::StatusOr<const ClosedForms*> CollectiveTimes::FormsOf(
    size_t group, const Chosen& chosen, Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(FormsKey key, FormsKeyOf(group, chosen, bytes));
  const auto found = forms_.find(key);
  if (found != forms_.end()) return &found->second;
  std::vector<CollectiveAlgorithm> algorithms;
  algorithms.reserve(groups_.size());
  for (const uint32_t table : table_of_group_) {
    ASTRA_ASSIGN_OR_RETURN(algorithms.emplace_back(),
                           FindCollectiveAlgorithm(kind_, key.names[table]));
  }
  const Topology& topology = routes_.topology();
  const double within =
      EfficiencyWithin(PaceWithin(chosen), tuning(group).hardware) /
      chosen.within_share;
  const double between =
      PaceBetween(chosen).efficiency * QueuePairShare() / chosen.between_share;
  std::vector<double> efficiency;
  efficiency.reserve(topology.links().size());
  for (const Link& link : topology.links()) {
    efficiency.push_back(IsWithinServer(topology, link) ? within : between);
  }
  absl::StatusOr<ClosedForms> forms =
      LayOnLinks(algorithms, groups_, routes_, efficiency);
  if (forms.status().code() == absl::StatusCode::kResourceExhausted) {
    return absl::ResourceExhaustedError(fmt::format(
        "an {} over {} ranks has more pairs of ranks than can be laid on links",
        Name(kind_), groups_.front().size()));
  }
  ASTRA_RETURN_IF_ERROR(forms.status());
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    forms->link_bytes_per_byte[i] *=
        IsWithinServer(topology, topology.links()[i]) ? chosen.within_share
                                                      : chosen.between_share;
  }
  return &forms_.emplace(std::move(key), *std::move(forms)).first->second;
}

absl::StatusOr<absl::Span<const double>> CollectiveTimes::LinkBytesPerByte(
    size_t group, Bytes bytes) {
  ASTRA_ASSIGN_OR_RETURN(const Chosen chosen, ChooseFor(group, bytes));
  ASTRA_ASSIGN_OR_RETURN(const ClosedForms* forms,
                         FormsOf(group, chosen, bytes));
  return absl::MakeConstSpan(forms->link_bytes_per_byte);
}

}  // namespace astra
