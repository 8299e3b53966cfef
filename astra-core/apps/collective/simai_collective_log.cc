#include "astra-core/apps/collective/simai_collective_log.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/apps/collective/simai_collective_effects.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/measurements/measured_terms.h"
#include "collectives/measurements/nccl_tests_log.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the cluster on which the log was taken.
absl::StatusOr<ClusterOptions> ClusterOf(const SimaiCollectiveOptions& options,
                                         const NcclTestsLog& log) {
  ClusterOptions cluster = options.cluster;
  const bool is_stated = cluster.num_servers || cluster.num_gpus ||
                         cluster.gpus_per_server || cluster.topology_file ||
                         !cluster.ranks.empty();
  if (log.num_ranks == 0 || log.hosts.empty()) {
    if (is_stated) return cluster;
    return absl::InvalidArgumentError(fmt::format(
        "{}: no rank is listed before this row: give --servers or --gpus",
        log.ranks_place));
  }
  if (cluster.topology_file) return cluster;
  if (is_stated) {
    return absl::InvalidArgumentError(fmt::format(
        "--servers, --gpus and the like have no effect: {} lists its {} ranks",
        options.measurements, log.num_ranks));
  }
  if (log.num_ranks == 1) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: one rank is listed: expected 2 or more", log.ranks_place));
  }
  const auto num_hosts = static_cast<uint32_t>(log.hosts.size());
  if (log.num_ranks % num_hosts != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} ranks on {} hosts: expected as many on each",
                    log.ranks_place, log.num_ranks, num_hosts));
  }
  cluster.num_servers = num_hosts;
  cluster.gpus_per_server = log.num_ranks / num_hosts;
  return cluster;
}

// Returns the version of NCCL that a log states, as "2.29.2+cuda13.1" or as the
// number 22902.
absl::StatusOr<NcclVersion> NcclVersionOf(const NcclTestsLog& log) {
  const std::optional<MeasuredVersion> stated =
      ParseMeasuredVersion(log.nccl_version);
  absl::StatusOr<NcclVersion> version = ParseNcclVersion(
      stated ? fmt::format("{}.{}", stated->major, stated->minor)
             : log.nccl_version);
  if (version.ok()) return version;
  return absl::InvalidArgumentError(fmt::format(
      "{}: NCCL version {}: expected 2.18 to 2.99, or such a number as 22807; "
      "--nccl NCCL_VERSION=2.28 goes before the log",
      log.nccl_version_place, Quoted(log.nccl_version)));
}

// Returns NCCL's options as the log says that it ran; the user's settings take
// precedence over the log.
absl::StatusOr<NcclOptions> NcclOf(const SimaiCollectiveOptions& options,
                                   const NcclTestsLog& log) {
  NcclOptions nccl;
  if (log.uses_cuda_graph) nccl.launch = Launch::kGraph;
  if (log.nccl_version.empty()) return ApplyNcclSettings(options.nccl, nccl);
  constexpr NcclVersion kNotUnderstood{0, 0};
  const absl::StatusOr<NcclVersion> stated = NcclVersionOf(log);
  nccl.version = stated.value_or(kNotUnderstood);
  ASTRA_ASSIGN_OR_RETURN(nccl, ApplyNcclSettings(options.nccl, nccl));
  if (nccl.version == kNotUnderstood) return stated.status();
  return nccl;
}

absl::Status CheckKind(const SimaiCollectiveOptions& options,
                       const NcclTestsLog& log) {
  if (!log.collective && !options.kind) {
    return absl::InvalidArgumentError(fmt::format(
        "{} does not tell the collective: give --op", options.measurements));
  }
  if (log.collective && options.kind && *log.collective != *options.kind) {
    return absl::InvalidArgumentError(
        fmt::format("--op is {}, but {} is of {}", NcclTestsName(*options.kind),
                    options.measurements, NcclTestsName(*log.collective)));
  }
  return absl::OkStatus();
}

// Returns `status`, an error of the cluster, at the place in the log that
// describes the cluster, unless the user describes it.
absl::Status AtRanksOf(const NcclTestsLog& log,
                       const SimaiCollectiveOptions& options,
                       const absl::Status& status) {
  const bool is_of_log = log.num_ranks != 0 && !log.hosts.empty() &&
                         !options.cluster.topology_file;
  if (!is_of_log) return status;
  return absl::Status(
      status.code(),
      fmt::format("{}: {}", log.ranks_place, std::string(status.message())));
}

}  // namespace

absl::StatusOr<LoggedRun> ReadLoggedRun(const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const NcclTestsLog log,
                         ReadNcclTestsLog(options.measurements));
  ASTRA_RETURN_IF_ERROR(CheckKind(options, log));
  ASTRA_ASSIGN_OR_RETURN(const NcclOptions nccl, NcclOf(options, log));
  ASTRA_RETURN_IF_ERROR(CheckGiven(
      log.collective ? *log.collective : *options.kind, options.nccl));
  ASTRA_ASSIGN_OR_RETURN(const ClusterOptions cluster_options,
                         ClusterOf(options, log));
  absl::StatusOr<CollectiveEstimator> built =
      BuildEstimator(cluster_options, nccl);
  if (!built.ok()) return AtRanksOf(log, options, built.status());
  CollectiveEstimator cluster = *std::move(built);
  ASTRA_RETURN_IF_ERROR(CheckEngine(nccl, cluster));
  const auto num_ranks = static_cast<uint32_t>(cluster.ranks().size());
  if (log.num_ranks != 0 && log.num_ranks != num_ranks) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} ranks are listed, the group has {}",
                    log.ranks_place, log.num_ranks, num_ranks));
  }
  const uint32_t per_server = cluster.topology().gpus_per_server();
  LogSetting setting;
  setting.source = options.measurements;
  setting.collective = options.kind;
  if (log.gpus.empty()) setting.gpu = cluster.system().gpu;
  if (log.hosts.empty()) {
    setting.num_gpus = num_ranks;
    setting.num_nodes = (num_ranks + per_server - 1) / per_server;
  }
  setting.in_place = options.in_place;
  return LoggedRun{nccl, std::move(cluster), TabulateLog(log, setting)};
}

}  // namespace astra
