#include "topology/cluster_part.h"

#include <numeric>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

absl::Status CheckRange(const Topology& whole, uint32_t first_gpu,
                        uint32_t num_gpus) {
  const uint32_t server = whole.gpus_per_server();
  if (num_gpus == 0 || first_gpu > whole.num_gpus() ||
      num_gpus > whole.num_gpus() - first_gpu) {
    return absl::InvalidArgumentError(fmt::format(
        "the job takes {} GPUs from GPU {} on: expected GPUs below {}",
        num_gpus, first_gpu, whole.num_gpus()));
  }
  if (first_gpu % server == 0 && num_gpus % server == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(fmt::format(
      "the job takes {} GPUs from GPU {} on: expected whole servers of {} GPUs",
      num_gpus, first_gpu, server));
}

// Checks that the ranks of a server of the part, of which `rank` is one, are on
// the GPUs of one server, in the order of the first server of the part.
absl::Status CheckServer(const Topology& whole, absl::Span<const uint32_t> gpus,
                         uint32_t per_server, uint32_t rank) {
  const uint32_t first = rank / per_server * per_server;
  const uint32_t local = rank - first;
  const uint32_t server = whole.ServerOf(RankId(gpus[first]));
  if (whole.ServerOf(RankId(gpus[rank])) != server) {
    return absl::InvalidArgumentError(fmt::format(
        "ranks {} and {} are on GPUs {} and {} of servers {} and {}: expected "
        "each {} successive ranks on one server",
        first, rank, gpus[first], gpus[rank], server,
        whole.ServerOf(RankId(gpus[rank])), per_server));
  }
  const uint32_t size = whole.gpus_per_server();
  if (gpus[rank] % size != gpus[local] % size) {
    return absl::InvalidArgumentError(fmt::format(
        "rank {} is on GPU {} of its server and rank {} on GPU {}: expected "
        "the same GPUs of all servers, in the same order",
        local, gpus[local] % size, rank, gpus[rank] % size));
  }
  return absl::OkStatus();
}

absl::Status CheckGpus(const Topology& whole, absl::Span<const uint32_t> gpus,
                       uint32_t per_server) {
  if (per_server == 0 || gpus.size() % per_server != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} ranks do not divide into servers of {}", gpus.size(), per_server));
  }
  std::vector<uint32_t> rank_of(whole.num_gpus(), kNone);
  for (uint32_t rank = 0; rank < gpus.size(); ++rank) {
    const uint32_t gpu = gpus[rank];
    if (gpu >= whole.num_gpus()) {
      return absl::InvalidArgumentError(
          fmt::format("rank {} is on GPU {}: expected a GPU below {}", rank,
                      gpu, whole.num_gpus()));
    }
    if (rank_of[gpu] != kNone) {
      return absl::InvalidArgumentError(fmt::format(
          "ranks {} and {} are both on GPU {}", rank_of[gpu], rank, gpu));
    }
    rank_of[gpu] = rank;
    ASTRA_RETURN_IF_ERROR(CheckServer(whole, gpus, per_server, rank));
  }
  return absl::OkStatus();
}

// Returns the nodes that are connected with GPUs of the part without passing
// through other hosts.
std::vector<bool> ConnectedWith(const Topology& whole,
                                absl::Span<const uint32_t> gpus) {
  std::vector<bool> is_met(whole.num_nodes());
  std::vector<NodeId> queue;
  for (const uint32_t gpu : gpus) {
    is_met[gpu] = true;
    queue.emplace_back(gpu);
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const LinkId link : whole.links_from(queue[i])) {
      const NodeId next = whole.link(link).target;
      if (whole.kind(next) == NodeKind::kGpu || is_met[next.index()]) continue;
      is_met[next.index()] = true;
      if (!whole.IsHost(next)) queue.push_back(next);
    }
  }
  return is_met;
}

}  // namespace

absl::StatusOr<ClusterPart> PartOfCluster(const Topology& whole,
                                          absl::Span<const uint32_t> gpus,
                                          uint32_t gpus_per_server) {
  ASTRA_RETURN_IF_ERROR(CheckGpus(whole, gpus, gpus_per_server));
  TopologyBuilder builder(static_cast<uint32_t>(gpus.size()), gpus_per_server,
                          whole.gpu_type());
  std::vector<NodeId> nodes;
  std::vector<uint32_t> number_of(whole.num_nodes(), kNone);
  for (const uint32_t gpu : gpus) {
    number_of[gpu] = static_cast<uint32_t>(nodes.size());
    nodes.emplace_back(gpu);
  }
  const std::vector<bool> is_met = ConnectedWith(whole, gpus);
  uint32_t num_storage = 0;
  for (uint32_t i = whole.num_gpus(); i < whole.num_nodes(); ++i) {
    if (!is_met[i]) continue;
    const bool is_storage = whole.kind(NodeId(i)) == NodeKind::kStorage;
    num_storage += is_storage ? 1 : 0;
    number_of[i] =
        builder
            .AddSwitch(is_storage ? NodeKind::kSwitch : whole.kind(NodeId(i)))
            .index();
    nodes.emplace_back(i);
  }
  ASTRA_RETURN_IF_ERROR(builder.MakeStorage(num_storage));
  std::vector<LinkId> links;
  for (uint32_t i = 0; i < whole.links().size(); i += 2) {
    const Link& link = whole.links()[i];
    const uint32_t source = number_of[link.source.index()];
    const uint32_t target = number_of[link.target.index()];
    if (source == kNone || target == kNone) continue;
    const std::vector<std::string> words =
        absl::StrSplit(whole.link_types()[link.type.index()].text, ' ');
    ASTRA_ASSIGN_OR_RETURN(const LinkTypeId type,
                           builder.AddLinkType(words[0], words[1], words[2]));
    ASTRA_RETURN_IF_ERROR(
        builder.AddCable(NodeId(source), NodeId(target), type));
    links.insert(links.end(), {LinkId(i), Reverse(LinkId(i))});
  }
  ASTRA_ASSIGN_OR_RETURN(Topology topology, std::move(builder).Build());
  return ClusterPart{std::move(topology), std::move(nodes), std::move(links)};
}

absl::StatusOr<ClusterPart> RangeOfCluster(const Topology& whole,
                                           uint32_t first_gpu,
                                           uint32_t num_gpus) {
  ASTRA_RETURN_IF_ERROR(CheckRange(whole, first_gpu, num_gpus));
  std::vector<uint32_t> gpus(num_gpus);
  std::iota(gpus.begin(), gpus.end(), first_gpu);
  return PartOfCluster(whole, gpus, whole.gpus_per_server());
}

}  // namespace astra
