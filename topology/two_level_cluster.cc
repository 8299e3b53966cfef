#include "topology/two_level_cluster.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

absl::Status Check(const TwoLevelParameters& p) {
  const bool all_positive = p.num_gpus > 0 && p.gpus_per_server > 0 &&
                            p.nics_per_server > 0 && p.nic_gb_per_s > 0 &&
                            (p.gpus_per_server == 1 || p.nvlink_gb_per_s > 0);
  if (!all_positive || p.num_gpus > Topology::kMaxNodes) {
    return absl::InvalidArgumentError(
        fmt::format("the numbers of GPUs, of GPUs and NICs per server, and the "
                    "rates must be above 0, and the GPUs at most {}",
                    Topology::kMaxNodes));
  }
  constexpr double kMaxGbPerS = 1e5;
  if (p.nvlink_gb_per_s > kMaxGbPerS || p.nic_gb_per_s > kMaxGbPerS) {
    return absl::InvalidArgumentError(
        fmt::format("the rates must be at most {} GB/s", kMaxGbPerS));
  }
  const int64_t more = std::max(p.gpus_per_server, p.nics_per_server);
  const int64_t fewer = std::min(p.gpus_per_server, p.nics_per_server);
  if (more % fewer != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} GPUs and {} NICs of a server do not divide one another",
                    p.gpus_per_server, p.nics_per_server));
  }
  if (p.num_gpus % p.gpus_per_server != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} GPUs do not divide into servers of {}", p.num_gpus,
                    p.gpus_per_server));
  }
  return absl::OkStatus();
}

std::string RateText(double gb_per_s) {
  constexpr double kBitsPerGigabyte = 8e9;
  return fmt::format("{}bps", std::llround(gb_per_s * kBitsPerGigabyte));
}

}  // namespace

absl::StatusOr<Topology> BuildTwoLevelCluster(const TwoLevelParameters& p) {
  ASTRA_RETURN_IF_ERROR(Check(p));
  const auto num_gpus = static_cast<uint32_t>(p.num_gpus);
  const auto per_server = static_cast<uint32_t>(p.gpus_per_server);
  const uint32_t num_servers = num_gpus / per_server;
  const int64_t gpus_per_nic =
      std::max<int64_t>(1, p.gpus_per_server / p.nics_per_server);
  const int64_t nics_per_gpu =
      std::max<int64_t>(1, p.nics_per_server / p.gpus_per_server);

  TopologyBuilder builder(num_gpus, per_server, p.gpu_type);
  ASTRA_ASSIGN_OR_RETURN(
      const LinkTypeId nic,
      builder.AddLinkType(
          RateText(p.nic_gb_per_s * static_cast<double>(nics_per_gpu)),
          p.network_latency, "0"));
  for (uint32_t server = 0; per_server > 1 && server < num_servers; ++server) {
    ASTRA_ASSIGN_OR_RETURN(const LinkTypeId nvlink,
                           builder.AddLinkType(RateText(p.nvlink_gb_per_s),
                                               p.nvlink_latency, "0"));
    const NodeId nv_switch = builder.AddSwitch(NodeKind::kNvSwitch);
    for (uint32_t i = 0; i < per_server; ++i) {
      ASTRA_RETURN_IF_ERROR(
          builder.AddCable(NodeId(server * per_server + i), nv_switch, nvlink));
    }
  }
  const NodeId core = builder.AddSwitch(NodeKind::kSwitch);
  NodeId above = core;
  for (uint32_t gpu = 0; gpu < num_gpus; ++gpu) {
    if (gpus_per_nic > 1 && gpu % gpus_per_nic == 0) {
      above = builder.AddSwitch(NodeKind::kSwitch);
      ASTRA_RETURN_IF_ERROR(builder.AddCable(above, core, nic));
    }
    ASTRA_RETURN_IF_ERROR(builder.AddCable(NodeId(gpu), above, nic));
  }
  return std::move(builder).Build();
}

}  // namespace astra
