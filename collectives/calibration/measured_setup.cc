#include "collectives/calibration/measured_setup.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "collectives/dispatchers/dispatcher.h"
#include "collectives/inference_engines/engine_file.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kBitsPerByte = 8;

bool Contains(std::string_view text, std::string_view part) {
  return LowerCase(text).find(part) != std::string::npos;
}

// Returns whether `text` has one of `words` as a whole word, between characters
// that are no letters or digits. Case does not matter.
bool HasWord(std::string_view text, absl::Span<const std::string_view> words) {
  const std::string lower = LowerCase(text);
  const auto is_of_word = [](unsigned char c) { return std::isalnum(c) != 0; };
  auto begin = lower.begin();
  while (true) {
    begin = std::find_if(begin, lower.end(), is_of_word);
    if (begin == lower.end()) return false;
    const auto end = std::find_if_not(begin, lower.end(), is_of_word);
    const std::string word(begin, end);
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    begin = end;
  }
}

// Returns the bundled transport of the NICs that a row names; default:
// InfiniBand.
std::string TransportOf(const MeasuredRow& row) {
  const std::string& word = row.nics.transport;
  if (word == "EFA") return row.gpu_model == "A100" ? "efa-v1" : "efa";
  if (word == "TCPX") return "tcpx";
  if (word == "TCPXO") return "tcpxo";
  if (word == "Slingshot") return "slingshot";
  if (word == "RoCE") {
    // Compares whole words, since "associate" also contains "oci".
    if (HasWord(row.source, {"gcp", "google", "googlecloudplatform"})) {
      return "gcp-roce";
    }
    if (HasWord(row.source, {"oci", "oracle"})) return "oci-roce";
    return "roce";
  }
  return row.gpu_model == "A100" || row.gpu_model == "A800" ? "infiniband-hdr"
                                                            : "infiniband";
}

// Returns whether the GPUs of a row are the two that a bridge of NVLink joins.
bool IsPair(const MeasuredRow& row) {
  return row.nvlink.joins_pairs && row.num_nodes == 1 && row.num_gpus == 2;
}

// Returns whether messages of a row pass through PCIe. Where bridges join pairs
// of GPUs, a ring over several pairs is as slow as PCIe between them.
bool IsPcie(const MeasuredRow& row) {
  if (row.nvlink.joins_pairs) return !IsPair(row);
  return Contains(row.gpu, "pcie") && !row.nvlink.generation;
}

// Returns whether the system has the row's GPU: "h100-sxm" is an H100, "gh200"
// is not.
bool IsOfModel(const SystemSpec& system, const MeasuredRow& row) {
  const std::string model = LowerCase(row.gpu_model);
  const std::string_view gpu = system.gpu;
  return gpu.substr(0, model.size()) == model &&
         (gpu.size() == model.size() || gpu[model.size()] == '-');
}

double ServerGbps(const SystemSpec& system) {
  return system.nics_per_server * system.nic_GBps * kBitsPerByte;
}

// Returns how little a system has in common with a row; less is nearer.
double DistanceOf(const SystemSpec& system, const MeasuredRow& row) {
  constexpr double kOtherInterconnect = 1000;
  constexpr double kOtherTransport = 100;
  constexpr double kOtherUnusedTransport = 1;
  constexpr double kOtherServer = 10;
  double distance = 0;
  const bool is_one_server = row.num_nodes == 1;
  const bool is_pcie = system.interconnect.kind == InterconnectKind::kPcie;
  const bool is_bridge = system.interconnect.num_peers == 1;
  if (is_pcie != IsPcie(row)) distance += kOtherInterconnect;
  if (is_bridge != IsPair(row)) distance += kOtherInterconnect;
  if (system.transport.name != TransportOf(row)) {
    distance += is_one_server ? kOtherUnusedTransport : kOtherTransport;
  }
  if (is_one_server ? system.gpus_per_server < row.num_gpus
                    : system.gpus_per_server % row.num_gpus_per_node() != 0) {
    distance += kOtherServer;
  }
  if (!is_one_server && row.nics.count && row.nics.gbps) {
    const double stated = *row.nics.count * *row.nics.gbps *
                          (row.nics.per_gpu ? system.gpus_per_server : 1);
    distance += std::abs(std::log2(ServerGbps(system) / stated));
  }
  return distance;
}

// Returns the system that the row names, or the nearest.
absl::StatusOr<SystemSpec> SystemOf(const MeasuredRow& row) {
  if (!row.system.empty()) {
    absl::StatusOr<SystemSpec> named = FindSystem(row.system);
    if (named.ok()) return named;
    return absl::InvalidArgumentError(named.status().message());
  }
  const SystemSpec* nearest = nullptr;
  for (const SystemSpec& system : BundledSystems()) {
    if (!IsOfModel(system, row)) continue;
    if (nearest == nullptr ||
        DistanceOf(system, row) < DistanceOf(*nearest, row)) {
      nearest = &system;
    }
  }
  if (nearest != nullptr) return *nearest;
  return absl::InvalidArgumentError(
      fmt::format("no system has the GPU \"{}\"", row.gpu_model));
}

// Replaces the system's NICs by those that the row states. An NVLink domain may
// be several of the row's nodes.
void ApplyNics(const MeasuredRow& row, uint32_t domain, SystemSpec* system) {
  const MeasuredNics& nics = row.nics;
  const uint32_t per_node = row.num_gpus_per_node();
  if (nics.per_gpu && nics.gbps) {
    system->nics_per_server = nics.count.value_or(1) * system->gpus_per_server;
  } else if (nics.count && domain > per_node) {
    const bool is_of_domain = *nics.count >= domain;
    system->nics_per_server =
        is_of_domain ? *nics.count : *nics.count * domain / per_node;
    system->gpus_per_server = domain;
  } else if (nics.count) {
    // A virtual machine with some of the GPUs has the same share of the NICs.
    const bool is_part = per_node < system->gpus_per_server &&
                         *nics.count < system->nics_per_server;
    if (is_part) system->gpus_per_server = per_node;
    system->nics_per_server = *nics.count;
  }
  // Rate of the fastest NIC, in Gbit/s; a higher stated rate is a sum.
  constexpr double kFastestNic = 800;
  const bool is_sum =
      nics.gbps && !nics.count && !nics.per_gpu && *nics.gbps > kFastestNic;
  if (nics.gbps) {
    system->nic_GBps =
        *nics.gbps / kBitsPerByte / (is_sum ? system->nics_per_server : 1);
  }
}

absl::Status ApplyTransport(const MeasuredRow& row, uint32_t domain,
                            SystemSpec* system) {
  const bool is_of_system = !row.system.empty() && row.nics.transport.empty();
  const std::string name =
      is_of_system ? system->transport.name : TransportOf(row);
  if (row.nics.none) {
    return absl::InvalidArgumentError(
        fmt::format("{} nodes without NICs", row.num_nodes));
  }
  if (row.nics.transport == "TCP") {
    return absl::InvalidArgumentError(
        "TCP reaches other rates on each host: no constants hold for it");
  }
  const std::vector<Transport>& transports = BundledParts().transports;
  const auto found =
      std::find_if(transports.begin(), transports.end(),
                   [&](const Transport& t) { return t.name == name; });
  if (found == transports.end()) {
    return absl::InvalidArgumentError(
        fmt::format("the transport {} has no description", name));
  }
  if (system->transport.name != name) system->transport = *found;
  ApplyNics(row, domain, system);
  system->max_servers = std::max(system->max_servers, row.num_nodes);
  return absl::OkStatus();
}

absl::StatusOr<NcclOptions> OptionsOf(const MeasuredRow& row,
                                      SystemSpec* system) {
  NcclOptions options;
  if (row.nccl_version) {
    const std::string version =
        fmt::format("{}.{}", row.nccl_version->major, row.nccl_version->minor);
    const absl::StatusOr<NcclVersion> parsed = ParseNcclVersion(version);
    if (parsed.ok()) options.version = *parsed;
  }
  for (const auto& [key, value] : row.environment.settings) {
    // Other variables only say where data goes or what is printed.
    if (!IsNcclVariable(key)) continue;
    ASTRA_RETURN_IF_ERROR(
        ApplyNcclOption(fmt::format("{}={}", key, value), &options));
    if (key == "NCCL_ALGO" && Contains(value, "collnet")) {
      options.collnet = true;
    }
  }
  const std::optional<NcclAlgorithm> seen = row.environment.algorithm;
  if (row.environment.is_asked) {
    NcclChoices& choices = options.choices[row.collective];
    choices.algorithms = 1U << IndexOf(*seen);
    if (seen == NcclAlgorithm::kNvls) {
      choices.algorithms |= 1U << IndexOf(NcclAlgorithm::kNvlsTree);
    }
    const std::optional<NcclProtocol> protocol = row.environment.protocol;
    if (protocol) choices.protocols = 1U << IndexOf(*protocol);
  }
  if (seen == NcclAlgorithm::kCollnetChain ||
      seen == NcclAlgorithm::kCollnetDirect) {
    options.collnet = true;
  }
  system->sharp = options.collnet;
  options.launch = row.environment.launch.value_or(Launch::kHost);
  options.symmetric = row.environment.symmetric;
  if (!row.environment.dispatcher.empty()) {
    ASTRA_ASSIGN_OR_RETURN(options.dispatch,
                           ParseRouting(row.environment.routing));
    ASTRA_ASSIGN_OR_RETURN(options.dispatch->dispatcher,
                           LoadDispatcher(row.environment.dispatcher));
    options.dispatch->is_prepared = row.environment.is_prepared;
  }
  if (!row.environment.engine.empty()) {
    ASTRA_ASSIGN_OR_RETURN(options.engine,
                           LoadInferenceEngine(row.environment.engine));
  }
  return options;
}

}  // namespace

absl::StatusOr<MeasuredSetup> SetupOf(const MeasuredRow& row) {
  if (!row.problem.empty()) return absl::InvalidArgumentError(row.problem);
  MeasuredSetup setup;
  ASTRA_ASSIGN_OR_RETURN(setup.system, SystemOf(row));
  setup.kind = row.collective;
  setup.bytes = row.size;
  setup.num_gpus = row.num_gpus;
  SystemSpec& system = setup.system;
  const uint32_t domain = row.nvlink.nvlink_domain.value_or(
      row.nics.nvlink_domain.value_or(system.gpus_per_server));
  setup.gpus_per_server = IsRack(domain) ? GpusOfDomain(row.num_gpus, domain)
                                         : row.num_gpus_per_node();
  system.gpus_per_server =
      std::max(system.gpus_per_server, setup.gpus_per_server);
  if (setup.num_gpus > setup.gpus_per_server) {
    if (setup.num_gpus % setup.gpus_per_server != 0) {
      return absl::InvalidArgumentError(
          fmt::format("{} GPUs do not fill NVLink domains of {}",
                      setup.num_gpus, setup.gpus_per_server));
    }
    ASTRA_RETURN_IF_ERROR(ApplyTransport(row, setup.gpus_per_server, &system));
  }
  ASTRA_ASSIGN_OR_RETURN(setup.options, OptionsOf(row, &system));
  return setup;
}

absl::Status CheckTime(const MeasuredRow& row, const MeasuredSetup& setup) {
  constexpr double kBytesPerUsAndGBps = 1000;
  constexpr double kImpossible = 2;
  // The size counts all copies of a token, few of which cross to other servers.
  if (setup.options.dispatch) return absl::OkStatus();
  const SystemSpec& system = setup.system;
  const uint32_t servers = setup.num_gpus / setup.gpus_per_server;
  const double most = system.nics_per_server * system.nic_GBps *
                      setup.gpus_per_server / system.gpus_per_server;
  const double received =
      static_cast<double>(row.size.count()) * (servers - 1) / servers;
  const double reached = received / row.time_us / kBytesPerUsAndGBps;
  if (reached <= kImpossible * most) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "so short a time that NICs of {:.4g} GB/s carry less than half of the "
      "bytes",
      most));
}

bool IsOnLinksOf(const SystemSpec& system, const MeasuredSetup& setup) {
  if (setup.system.interconnect.name != system.interconnect.name) return false;
  return setup.num_gpus == setup.gpus_per_server ||
         setup.system.transport.name == system.transport.name;
}

}  // namespace astra
