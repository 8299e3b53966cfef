#include "astra-core/apps/collective/simai_collective_sweep.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/apps/collective/simai_collective_effects.h"
#include "astra-core/apps/collective/simai_collective_flows.h"
#include "astra-core/apps/collective/simai_collective_graphs.h"
#include "astra-core/apps/measured_inputs.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "network-frontends/config/network_file.h"
#include "network-frontends/registry/registry.h"

namespace astra {
namespace {

absl::StatusOr<NcclOptions> NcclOf(const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(NcclOptions nccl, ApplyNcclSettings(options.nccl));
  ASTRA_RETURN_IF_ERROR(CheckGiven(*options.kind, options.nccl));
  if (HasRedop(*options.kind) &&
      !NvSwitchesDo(options.redop, options.type.name)) {
    nccl.nvls = false;
  }
  return nccl;
}

absl::StatusOr<std::shared_ptr<const MeasuredCurves>> MeasuredOf(
    const SimaiCollectiveOptions& options, const NcclOptions& nccl,
    Warnings* warnings) {
  if (options.nccl.measured.empty()) return nullptr;
  ASTRA_ASSIGN_OR_RETURN(const SystemSpec system,
                         LoadSystem(options.cluster.system));
  return ReadMeasuredCurves(options.nccl.measured, system.gpu,
                            options.nccl.launch, nccl.symmetric, warnings);
}

// Refuses measurements that say nothing of the group.
absl::Status CheckMeasured(const SimaiCollectiveOptions& options,
                           const NcclOptions& nccl,
                           const CollectiveEstimator& cluster) {
  if (nccl.measured == nullptr) return absl::OkStatus();
  if (options.algorithm) {
    return absl::InvalidArgumentError(
        "--measured has no effect with --algorithm: it is of NCCL's choice");
  }
  const std::optional<MeasuredGroup> group =
      MeasuredGroupOf(*options.kind, cluster.ranks(), cluster.topology());
  if (group && FindCurve(*nccl.measured, *group) != nullptr) {
    return absl::OkStatus();
  }
  std::string what(NcclTestsName(*options.kind));
  if (group) {
    what += fmt::format(" on {} x {} GPUs", group->num_servers,
                        group->gpus_per_server);
  }
  return absl::InvalidArgumentError(fmt::format(
      "--measured has no effect: nothing there was measured for {}", what));
}

absl::Status CheckRoot(const SimaiCollectiveOptions& options,
                       const CollectiveEstimator& cluster) {
  if (options.root < cluster.ranks().size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("--root is {}: the group has {} ranks", options.root,
                  cluster.ranks().size()));
}

// Returns a row for each size of which every rank has a part.
absl::StatusOr<std::vector<CollectiveSweepRow>> RowsOf(
    const SimaiCollectiveOptions& options, uint32_t num_ranks,
    Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<Bytes> sizes,
                         SizesOf(options.sizes));
  std::vector<CollectiveSweepRow> rows;
  Bytes largest_left_out;
  for (const Bytes size : sizes) {
    CollectiveSweepRow row;
    row.buffer = BufferOf(*options.kind, size, options.type, num_ranks);
    if (row.buffer.count == 0) {
      largest_left_out = size;
    } else {
      rows.push_back(std::move(row));
    }
  }
  const std::string_view op = NcclTestsName(*options.kind);
  if (rows.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "--max-bytes is {}: too little for {} of {} over {} ranks",
        options.sizes.max.count(), op, options.type.name, num_ranks));
  }
  if (largest_left_out > Bytes(0)) {
    warnings->push_back(fmt::format(
        "sizes up to {} B are left out: too little for {} of {} over {} ranks",
        largest_left_out.count(), op, options.type.name, num_ranks));
  }
  return rows;
}

absl::Status EstimateRow(const SimaiCollectiveOptions& options,
                         CollectiveSweep* sweep, CollectiveSweepRow* row) {
  const CollectiveKind kind = *options.kind;
  ASTRA_ASSIGN_OR_RETURN(row->estimate,
                         sweep->cluster.Estimate(kind, row->buffer.bytes));
  if (!options.tuning) return absl::OkStatus();
  if (row->estimate.algorithm == "P2P") {
    return absl::InvalidArgumentError(
        fmt::format("--tuning has no effect: NCCL makes {} of sends and "
                    "receives",
                    NcclTestsName(kind)));
  }
  ASTRA_ASSIGN_OR_RETURN(row->tuning,
                         sweep->cluster.Tuning(kind, row->buffer.bytes));
  return absl::OkStatus();
}

absl::Status WriteFlowsOf(const SimaiCollectiveOptions& options,
                          const CollectiveSweep& sweep,
                          const ChosenAlgorithm& chosen) {
  ASTRA_ASSIGN_OR_RETURN(
      const LoweredCollective collective,
      LowerOn(sweep.cluster, chosen, *options.kind,
              sweep.rows.front().buffer.bytes, options.root));
  return WriteFlows(*options.flows, *collective.graph, *collective.layout,
                    sweep.cluster.ranks());
}

// Refuses options that ask for files of records, which this program does not
// write. It only warns of the sampling interval, since every SimAI.conf states
// one.
absl::Status CheckRecord(std::string_view file, const PacketOptions& packet,
                         Warnings* warnings) {
  PacketOptions without = packet;
  without.record = DefaultNetwork().record;
  const std::vector<std::string> keys = DifferentKeys(packet, without);
  for (const std::string& key : keys) {
    if (key == "record.sample_interval" || key == "record.sample_start") {
      warnings->push_back(fmt::format("{}: no effect: {}", file, key));
      continue;
    }
    return absl::InvalidArgumentError(fmt::format(
        "{}: {} has no effect: simai_collective writes no such files", file,
        key));
  }
  return absl::OkStatus();
}

// Returns the network of --fidelity, with what --network says about it.
absl::StatusOr<NetworkOptions> ReadNetworkOptions(
    const SimaiCollectiveOptions& options, const Topology& topology,
    Warnings* warnings) {
  const BackendEntry& backend = *NetworkOf(options.fidelity);
  NetworkOptions network;
  network.packet = DefaultNetwork();
  if (options.network_file) {
    ASTRA_ASSIGN_OR_RETURN(network.packet,
                           ReadNetwork(*options.network_file, warnings));
    ASTRA_RETURN_IF_ERROR(
        CheckRecord(*options.network_file, network.packet, warnings));
  }
  network.packet.record = {};
  if (options.network_file) {
    PacketOptions packet = network.packet;
    packet.record = DefaultNetwork().record;
    ASTRA_RETURN_IF_ERROR(
        CheckFollows(backend, *options.network_file, packet, warnings));
  }
  if (backend.has_options) {
    ASTRA_RETURN_IF_ERROR(AtNetworkField(
        options.network_file, CheckPacketOptions(network.packet, topology)));
  }
  network.flow = FlowOptionsOf(network.packet);
  return network;
}

// Fills in the times. All sizes use `chosen`; if it is none, each uses NCCL's
// choice.
absl::Status TimeByMessages(const SimaiCollectiveOptions& options,
                            const std::optional<ChosenAlgorithm>& chosen,
                            CollectiveSweep* sweep) {
  const CollectiveKind kind = *options.kind;
  ASTRA_ASSIGN_OR_RETURN(
      const NetworkOptions network,
      ReadNetworkOptions(options, sweep->cluster.topology(), &sweep->warnings));
  Routes routes(sweep->cluster.topology());
  for (CollectiveSweepRow& row : sweep->rows) {
    std::optional<ChosenAlgorithm> algorithm = chosen;
    if (!algorithm) {
      ASTRA_ASSIGN_OR_RETURN(algorithm, FindNcclRun(sweep->cluster, sweep->nccl,
                                                    kind, row.buffer.bytes));
    }
    ASTRA_ASSIGN_OR_RETURN(const LoweredCollective collective,
                           LowerOn(sweep->cluster, *algorithm, kind,
                                   row.buffer.bytes, options.root));
    ASTRA_ASSIGN_OR_RETURN(
        row.estimate,
        TimeOnNetwork(sweep->cluster, *algorithm, collective,
                      {options.fidelity, network, options.num_threads}, routes,
                      &sweep->warnings));
  }
  return absl::OkStatus();
}

}  // namespace

bool NvSwitchesDo(std::string_view redop, std::string_view type) {
  const bool is_8_bit =
      type == "int8" || type == "uint8" || type == "f8e4m3" || type == "f8e5m2";
  if (is_8_bit) return false;
  if (redop == "sum") return true;
  const bool is_wide = type == "float" || type == "double";
  return (redop == "min" || redop == "max") && !is_wide;
}

absl::StatusOr<CollectiveSweep> RunCollectiveSweep(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(NcclOptions nccl, NcclOf(options));
  Warnings warnings;
  ASTRA_ASSIGN_OR_RETURN(nccl.measured, MeasuredOf(options, nccl, &warnings));
  ASTRA_ASSIGN_OR_RETURN(CollectiveEstimator cluster,
                         BuildEstimator(options.cluster, nccl));
  ASTRA_RETURN_IF_ERROR(CheckRoot(options, cluster));
  ASTRA_RETURN_IF_ERROR(CheckEngine(nccl, cluster));
  ASTRA_RETURN_IF_ERROR(CheckMeasured(options, nccl, cluster));
  CollectiveSweep sweep = {std::move(cluster), nccl, {}, std::move(warnings)};
  const auto num_ranks = static_cast<uint32_t>(sweep.cluster.ranks().size());
  ASTRA_ASSIGN_OR_RETURN(sweep.rows,
                         RowsOf(options, num_ranks, &sweep.warnings));
  std::optional<ChosenAlgorithm> chosen;
  if (options.algorithm) {
    ASTRA_ASSIGN_OR_RETURN(
        chosen, FindChosenAlgorithm(options, sweep.cluster, &sweep.warnings));
  }
  if (options.fidelity != Fidelity::kClosedForm) {
    ASTRA_RETURN_IF_ERROR(TimeByMessages(options, chosen, &sweep));
  } else {
    for (CollectiveSweepRow& row : sweep.rows) {
      ASTRA_RETURN_IF_ERROR(EstimateRow(options, &sweep, &row));
    }
  }
  if (!options.flows) return sweep;
  if (!chosen) {
    ASTRA_ASSIGN_OR_RETURN(chosen,
                           FindNcclChoice(sweep.cluster, nccl, *options.kind,
                                          sweep.rows.front().buffer.bytes));
  }
  ASTRA_RETURN_IF_ERROR(WriteFlowsOf(options, sweep, *chosen));
  return sweep;
}

}  // namespace astra
