#include "topology/cluster.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/topology_builder.h"

namespace astra {
namespace {

constexpr int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t NumRails(const ClusterParameters& p) {
  if (!p.rail_optimised) return 1;
  return p.num_rails == 0 ? p.gpus_per_server : p.num_rails;
}

int64_t NumPlanes(const ClusterParameters& p) { return p.dual_tor ? 2 : 1; }

absl::Status CheckDivisions(const ClusterParameters& p) {
  const int64_t smallest =
      std::min({p.num_gpus, p.gpus_per_server, p.nics_per_asw, p.num_pods});
  if (smallest < 1 || p.nv_switches_per_server < 0 || p.num_psws < 0) {
    return absl::InvalidArgumentError(
        "the GPUs, GPUs per server, NICs per ASW and pods must be at least 1, "
        "the NVSwitches and PSWs at least 0");
  }
  if (p.num_gpus % p.gpus_per_server != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} GPUs do not divide into servers of {}; the next number that does "
        "is {}",
        p.num_gpus, p.gpus_per_server,
        CeilDivide(p.num_gpus, p.gpus_per_server) * p.gpus_per_server));
  }
  const int64_t num_servers = p.num_gpus / p.gpus_per_server;
  if (num_servers % p.num_pods != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} servers do not divide into {} pods; the next GPU count that does "
        "is {}",
        num_servers, p.num_pods,
        CeilDivide(num_servers, p.num_pods) * p.num_pods * p.gpus_per_server));
  }
  if (p.gpus_per_server % NumRails(p) != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{} GPUs of a server do not divide into {} rails",
                    p.gpus_per_server, NumRails(p)));
  }
  if (p.num_pods > 1 && p.num_psws == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} pods without PSWs have nothing that connects them", p.num_pods));
  }
  if (p.num_cores != 0 && p.num_cores % std::max<int64_t>(p.num_psws, 1) != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} core switches do not divide into groups for {} PSWs of a pod",
        p.num_cores, p.num_psws));
  }
  return absl::OkStatus();
}

absl::Status CheckLayout(const ClusterParameters& p) {
  if (p.dual_plane && !p.rail_optimised) {
    return absl::InvalidArgumentError(
        "dual plane needs a rail-optimised layout with dual ToR");
  }
  if (p.dual_plane && !p.dual_tor) {
    return absl::InvalidArgumentError("dual plane needs dual ToR");
  }
  return absl::OkStatus();
}

// Returns how many ports a PSW uses for each segment of its pod.
int64_t PswPortsPerSegment(const ClusterParameters& p) {
  // With two planes of PSWs, each sees one plane of ASWs. With one plane of
  // PSWs, SimAI counts the two ASWs of a rail once; this check accepts what
  // SimAI accepts.
  if (p.rail_optimised) return NumRails(p);
  return NumPlanes(p);
}

// Counts the cables that Cabling lays, tier by tier.
int64_t NumCables(const ClusterParameters& p, const ClusterCounts& counts) {
  const int64_t per_gpu = p.nv_switches_per_server + NumPlanes(p);
  // With two planes of PSWs, an ASW is linked to half of the PSWs.
  const int64_t psws_per_two_asws = p.dual_plane ? p.num_psws : 2 * p.num_psws;
  const int64_t cores_per_psw =
      counts.num_cores == 0 ? 0 : counts.num_cores / p.num_psws;
  return p.num_gpus * per_gpu + counts.num_asws * psws_per_two_asws / 2 +
         counts.num_psws * cores_per_psw;
}

}  // namespace

absl::StatusOr<ClusterCounts> CountCluster(const ClusterParameters& p) {
  ASTRA_RETURN_IF_ERROR(CheckLayout(p));
  ASTRA_RETURN_IF_ERROR(CheckDivisions(p));
  ClusterCounts counts;
  counts.num_servers = p.num_gpus / p.gpus_per_server;
  counts.num_nv_switches = counts.num_servers * p.nv_switches_per_server;
  counts.gpus_per_pod = p.num_gpus / p.num_pods;

  const int64_t gpus_per_segment = p.nics_per_asw * NumRails(p);
  const int64_t segments = CeilDivide(counts.gpus_per_pod, gpus_per_segment);
  const int64_t max_segments = p.asws_per_psw / PswPortsPerSegment(p);
  if (segments > max_segments) {
    return absl::InvalidArgumentError(fmt::format(
        "{} GPUs per pod need {} segments of {} GPUs, but a PSW with {} ports "
        "for ASWs connects {}, that is {} GPUs; use --pods, or larger "
        "--nics-per-aswitch or --asw-per-psw",
        counts.gpus_per_pod, segments, gpus_per_segment, p.asws_per_psw,
        max_segments, max_segments * gpus_per_segment));
  }
  counts.asws_per_pod = segments * NumRails(p) * NumPlanes(p);
  counts.num_segments = segments * p.num_pods;
  counts.num_asws = counts.asws_per_pod * p.num_pods;
  counts.num_psws = p.num_psws * p.num_pods;
  if (p.num_pods > 1) {
    // By default each PSW has as many ports up as down.
    const int64_t ports_down = counts.asws_per_pod / (p.dual_plane ? 2 : 1);
    counts.num_cores = p.num_cores != 0 ? p.num_cores : p.num_psws * ports_down;
  }
  const int64_t num_switches = counts.num_nv_switches + counts.num_asws +
                               counts.num_psws + counts.num_cores;
  if (p.num_gpus + num_switches > Topology::kMaxNodes) {
    return absl::ResourceExhaustedError(
        fmt::format("{} GPUs and {} switches are more nodes than the limit of "
                    "{}",
                    p.num_gpus, num_switches, Topology::kMaxNodes));
  }
  counts.num_cables = NumCables(p, counts);
  return counts;
}

namespace {

// Lays the cables of one cluster, tier by tier.
class Cabling {
 public:
  Cabling(const ClusterParameters& parameters, const ClusterCounts& counts)
      : p_(parameters),
        counts_(counts),
        builder_(static_cast<uint32_t>(parameters.num_gpus),
                 static_cast<uint32_t>(parameters.gpus_per_server),
                 parameters.gpu_type),
        first_nv_switch_(parameters.num_gpus),
        first_asw_(first_nv_switch_ + counts.num_nv_switches),
        first_psw_(first_asw_ + counts.num_asws),
        first_core_(first_psw_ + counts.num_psws) {}

  absl::StatusOr<Topology> Build() && {
    AddSwitches();
    ASTRA_RETURN_IF_ERROR(ConnectGpus());
    for (int64_t pod = 0; pod < p_.num_pods; ++pod) {
      ASTRA_RETURN_IF_ERROR(ConnectPod(pod));
    }
    ASTRA_RETURN_IF_ERROR(ConnectCores());
    return std::move(builder_).Build();
  }

 private:
  void AddSwitches() {
    for (int64_t i = 0; i < counts_.num_nv_switches; ++i) {
      builder_.AddSwitch(NodeKind::kNvSwitch);
    }
    const int64_t others =
        counts_.num_asws + counts_.num_psws + counts_.num_cores;
    for (int64_t i = 0; i < others; ++i) builder_.AddSwitch(NodeKind::kSwitch);
  }

  absl::Status ConnectGpus() {
    ASTRA_ASSIGN_OR_RETURN(
        const LinkTypeId nvlink,
        builder_.AddLinkType(p_.nvlink_bandwidth, p_.nvlink_latency,
                             p_.error_rate));
    ASTRA_ASSIGN_OR_RETURN(
        const LinkTypeId nic,
        builder_.AddLinkType(p_.bandwidth, p_.latency, p_.error_rate));
    for (int64_t gpu = 0; gpu < p_.num_gpus; ++gpu) {
      const int64_t server = gpu / p_.gpus_per_server;
      for (int64_t j = 0; j < p_.nv_switches_per_server; ++j) {
        ASTRA_RETURN_IF_ERROR(Connect(
            gpu, first_nv_switch_ + server * p_.nv_switches_per_server + j,
            nvlink));
      }
      for (int64_t plane = 0; plane < NumPlanes(p_); ++plane) {
        ASTRA_RETURN_IF_ERROR(Connect(gpu, AswOf(gpu, plane), nic));
      }
    }
    return absl::OkStatus();
  }

  int64_t AswOf(int64_t gpu, int64_t plane) const {
    const int64_t pod = gpu / counts_.gpus_per_pod;
    const int64_t gpu_of_pod = gpu % counts_.gpus_per_pod;
    const int64_t rails = NumRails(p_);
    const int64_t segment = gpu_of_pod / (rails * p_.nics_per_asw);
    return first_asw_ + pod * counts_.asws_per_pod + plane * AswsPerPlane() +
           segment * rails + gpu_of_pod % rails;
  }

  int64_t AswsPerPlane() const { return counts_.asws_per_pod / NumPlanes(p_); }

  absl::Status ConnectPod(int64_t pod) {
    ASTRA_ASSIGN_OR_RETURN(
        const LinkTypeId type,
        builder_.AddLinkType(p_.asw_psw_bandwidth, p_.latency, p_.error_rate));
    // If the number of PSWs is odd, plane 1 has one more.
    const int64_t plane_1_psws = (p_.num_psws + 1) / 2;
    for (int64_t asw = 0; asw < counts_.asws_per_pod; ++asw) {
      const bool is_plane_1 = asw < AswsPerPlane();
      const int64_t begin = p_.dual_plane && !is_plane_1 ? plane_1_psws : 0;
      const int64_t end =
          p_.dual_plane && is_plane_1 ? plane_1_psws : p_.num_psws;
      for (int64_t psw = begin; psw < end; ++psw) {
        ASTRA_RETURN_IF_ERROR(
            Connect(first_asw_ + pod * counts_.asws_per_pod + asw,
                    first_psw_ + pod * p_.num_psws + psw, type));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ConnectCores() {
    if (counts_.num_cores == 0) return absl::OkStatus();
    ASTRA_ASSIGN_OR_RETURN(
        const LinkTypeId type,
        builder_.AddLinkType(p_.psw_core_bandwidth, p_.latency, p_.error_rate));
    const int64_t group_size = counts_.num_cores / p_.num_psws;
    for (int64_t psw = 0; psw < counts_.num_psws; ++psw) {
      const int64_t group = psw % p_.num_psws;
      for (int64_t core = 0; core < group_size; ++core) {
        ASTRA_RETURN_IF_ERROR(Connect(
            first_psw_ + psw, first_core_ + group * group_size + core, type));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Connect(int64_t a, int64_t b, LinkTypeId type) {
    return builder_.AddCable(NodeId(static_cast<uint32_t>(a)),
                             NodeId(static_cast<uint32_t>(b)), type);
  }

  const ClusterParameters& p_;
  const ClusterCounts& counts_;
  TopologyBuilder builder_;
  int64_t first_nv_switch_;
  int64_t first_asw_;
  int64_t first_psw_;
  int64_t first_core_;
};

}  // namespace

absl::StatusOr<Topology> BuildCluster(const ClusterParameters& parameters) {
  ASTRA_ASSIGN_OR_RETURN(const ClusterCounts counts, CountCluster(parameters));
  return Cabling(parameters, counts).Build();
}

}  // namespace astra
