#include "astra-core/serving/fabric/job_topology.h"

#include <string>
#include <utility>

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

// Returns whether a switch connects GPUs of the part: NVSwitches of other
// servers do not.
bool IsKept(const Topology& whole, NodeId node, uint32_t first_gpu,
            uint32_t num_gpus) {
  for (const LinkId link : whole.links_from(node)) {
    const uint32_t other = whole.link(link).target.index();
    if (other >= whole.num_gpus()) return true;
    if (other >= first_gpu && other - first_gpu < num_gpus) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<JobTopology> PartOfCluster(const Topology& whole,
                                          uint32_t first_gpu,
                                          uint32_t num_gpus) {
  ASTRA_RETURN_IF_ERROR(CheckRange(whole, first_gpu, num_gpus));
  TopologyBuilder builder(num_gpus, whole.gpus_per_server(), whole.gpu_type());
  std::vector<NodeId> nodes;
  std::vector<uint32_t> number_of(whole.num_nodes(), kNone);
  for (uint32_t i = 0; i < num_gpus; ++i) {
    number_of[first_gpu + i] = i;
    nodes.emplace_back(first_gpu + i);
  }
  for (uint32_t i = whole.num_gpus(); i < whole.num_nodes(); ++i) {
    if (!IsKept(whole, NodeId(i), first_gpu, num_gpus)) continue;
    number_of[i] = builder.AddSwitch(whole.kind(NodeId(i))).index();
    nodes.emplace_back(i);
  }
  for (size_t i = 0; i < whole.links().size(); i += 2) {
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
  }
  ASTRA_ASSIGN_OR_RETURN(Topology topology, std::move(builder).Build());
  return JobTopology{std::move(topology), std::move(nodes)};
}

}  // namespace astra
