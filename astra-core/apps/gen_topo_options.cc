#include "astra-core/apps/gen_topo_options.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/gen_topo_texts.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "topology/templates/registry.h"
#include "workload/operators/gpu_library.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: gen_topo [-topo NAME] [options]\n"
    "\n"
    "Writes the topology file of a GPU cluster, in SimAI's format.\n"
    "Without -o the file gets SimAI's name, in the current folder.\n";

constexpr CommandExample kExamples[] = {
    {"gen_topo -topo Spectrum-X -g 16 -gt H100 -o h100_16.txt",
     "Two servers of eight H100 GPUs:"},
    {"gen_topo -topo Spectrum-X -g 8192 --pods 2 -o two_pods.txt --describe",
     "Two pods below core switches, and what they are made of:"},
};

constexpr OptionSpec kOptions[] = {
    {"topology", "topo", "NAME", "Design",
     "a named design, see below (default: custom)"},
    {"fabric", "", "FILE", "Design",
     "a fabric of your own, in place of all other options of designs, sizes "
     "and links: YAML that begins with simai_fabric"},
    {"ibnetdiscover", "", "FILE", "Design",
     "an InfiniBand fabric as it is: what ibnetdiscover printed; the hosts are "
     "servers of the type below, or of -gps, -gt and -nvbw"},
    {"server-type", "", "NAME|FILE", "Design",
     "with --ibnetdiscover: the servers of a system, such as dgx-h100"},
    {"nccl-topology", "", "FILE", "Design",
     "with --ibnetdiscover: a server from the file of NCCL_TOPO_DUMP_FILE"},
    {"hosts", "", "FILE", "Design",
     "with --ibnetdiscover: these hosts only, one a line, in the order of "
     "ranks (default: all, node2 before node10)"},
    {"ro", "", "", "Design", "rail-optimised"},
    {"dt", "", "", "Design", "dual ToR"},
    {"dp", "", "", "Design", "dual plane"},
    {"gpus", "gpu g", "N", "Size", "GPUs in all"},
    {"gpus-per-server", "gpu-per-server gps", "N", "Size", "GPUs of a server"},
    {"nv-switch-per-server", "nsps", "N", "Size", "NVSwitches of a server"},
    {"nics-per-aswitch", "npa nps", "N", "Size", "NIC ports of an ASW"},
    {"psw-switch-num", "psn", "N", "Size", "PSWs of a pod"},
    {"asw-per-psw", "app", "N", "Size", "ASW ports of a PSW: limits a pod"},
    {"asw-switch-num", "asn asw", "N", "Size",
     "no effect: computed; a different number is a warning"},
    {"pods", "", "N", "Size", "pods, joined by core switches (default 1)"},
    {"core-switch-num", "csn", "N", "Size",
     "core switches (default: as much rate above the PSWs as below)"},
    {"bandwidth", "bw", "RATE", "Links", "NIC to ASW"},
    {"nvlink-bw", "nvbw", "RATE", "Links", "GPU to NVSwitch"},
    {"ap-bandwidth", "apbw", "RATE", "Links", "ASW to PSW"},
    {"pc-bandwidth", "pcbw", "RATE", "Links",
     "PSW to core (default: that of ASW to PSW)"},
    {"latency", "l", "TIME", "Links", "of every link but NVLink"},
    {"nv-latency", "nl", "TIME", "Links", "of NVLink"},
    {"error-rate", "er", "P", "Links", "probability that a packet is lost"},
    {"gpu-type", "gt", "NAME", "Links", "type of the GPUs, such as H100"},
    {"storage", "", "N", "Storage", "storage servers (default 0)"},
    {"storage-nics", "", "N", "Storage",
     "NICs of each, each to another switch (default 1)"},
    {"storage-tier", "", "N", "Storage",
     "tier of these switches: 1 (default), the ASWs, to 3, the core"},
    {"storage-bw", "", "RATE", "Storage",
     "NIC to switch (default: that of GPUs to ASW)"},
    {"output", "o", "FILE", "Output", "the file to write"},
    {"describe", "", "", "Output", "print tiers, counts, oversubscription"},
    {"draw", "", "FILE", "Output",
     "draw the topology as SVG, by groups of equal parts if it is large"},
    {"force", "", "", "Output",
     "go on where memory is too small for what it takes"},
};

constexpr int64_t kMaxCount = Topology::kMaxNodes;

// Overwrites the parameter with the user's value, if any.
absl::Status Override(const CommandLine& flags, std::string_view name,
                      int64_t min, int64_t* parameter) {
  ASTRA_ASSIGN_OR_RETURN(*parameter,
                         flags.integer(name, *parameter, min, kMaxCount));
  return absl::OkStatus();
}

absl::Status OverrideCounts(const CommandLine& flags, ClusterParameters& p) {
  const std::pair<std::string_view, int64_t*> counts[] = {
      {"gpus-per-server", &p.gpus_per_server},
      {"nv-switch-per-server", &p.nv_switches_per_server},
      {"nics-per-aswitch", &p.nics_per_asw},
      {"asw-per-psw", &p.asws_per_psw},
      {"pods", &p.num_pods},
      {"core-switch-num", &p.num_cores},
  };
  for (const auto& [name, parameter] : counts) {
    const bool may_be_zero = name == "nv-switch-per-server";
    ASTRA_RETURN_IF_ERROR(
        Override(flags, name, may_be_zero ? 0 : 1, parameter));
  }
  ASTRA_RETURN_IF_ERROR(Override(flags, "psw-switch-num", 0, &p.num_psws));
  p.num_gpus *= p.num_pods;  // The template gives the GPUs of one pod.
  return Override(flags, "gpus", 1, &p.num_gpus);
}

// Overwrites texts with those of the user. Rates, times and names are copied
// into the file as they are spelt, so they are only checked here.
absl::Status OverrideTexts(const CommandLine& flags, ClusterParameters& p) {
  p.asw_psw_bandwidth =
      flags.value("ap-bandwidth").value_or(p.asw_psw_bandwidth);
  p.psw_core_bandwidth = p.asw_psw_bandwidth;
  const std::pair<std::string_view, std::string*> texts[] = {
      {"bandwidth", &p.bandwidth},
      {"nvlink-bw", &p.nvlink_bandwidth},
      {"ap-bandwidth", &p.asw_psw_bandwidth},
      {"pc-bandwidth", &p.psw_core_bandwidth},
      {"latency", &p.latency},
      {"nv-latency", &p.nvlink_latency},
      {"error-rate", &p.error_rate},
      {"gpu-type", &p.gpu_type},
  };
  for (const auto& [name, parameter] : texts) {
    *parameter = flags.value(name).value_or(*parameter);
    ASTRA_RETURN_IF_ERROR(CheckTopologyText(name, *parameter));
  }
  return absl::OkStatus();
}

// Refuses options for parts that the cluster does not have.
absl::Status CheckEffects(const CommandLine& flags,
                          const ClusterParameters& p) {
  struct Rule {
    std::string_view option;
    bool has_effect;
    std::string_view why;
  };
  const Rule rules[] = {
      {"core-switch-num", p.num_pods > 1, "one pod has no core switches"},
      {"pc-bandwidth", p.num_pods > 1, "one pod has no core switches"},
      {"nvlink-bw", p.nv_switches_per_server > 0, "there are no NVSwitches"},
      {"nv-latency", p.nv_switches_per_server > 0, "there are no NVSwitches"},
      {"ap-bandwidth", p.num_psws > 0, "there are no PSWs"},
  };
  for (const Rule& rule : rules) {
    if (flags.has(rule.option) && !rule.has_effect) {
      return absl::InvalidArgumentError(
          fmt::format("--{} has no effect: {}", rule.option, rule.why));
    }
  }
  return absl::OkStatus();
}

// Reads the storage servers, whose cables are those of NICs unless the user
// gives their rate.
absl::Status ReadStorage(const CommandLine& flags, GenTopoOptions& options) {
  if (!flags.has("storage")) {
    constexpr std::string_view kOfStorage[] = {"storage-nics", "storage-tier",
                                               "storage-bw"};
    return Refuse(flags, kOfStorage, "--storage adds storage servers");
  }
  constexpr int64_t kHighestTier = 3;
  StorageSpec& storage = options.storage.emplace();
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t servers,
      flags.integer("storage", 0, 1, StorageSpec::kMaxServers));
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t nics,
      flags.integer("storage-nics", 1, 1, StorageSpec::kMaxNics));
  ASTRA_ASSIGN_OR_RETURN(const int64_t tier,
                         flags.integer("storage-tier", 1, 1, kHighestTier));
  storage.servers = static_cast<uint32_t>(servers);
  storage.nics = static_cast<uint32_t>(nics);
  storage.tier = static_cast<uint32_t>(tier);
  storage.cable = {
      flags.value("storage-bw").value_or(options.cluster.bandwidth),
      options.cluster.latency, options.cluster.error_rate};
  return CheckTopologyText("storage-bw", storage.cable.rate);
}

absl::StatusOr<std::string> OutputFile(const CommandLine& flags,
                                       const TopologyTemplate& chosen,
                                       const ClusterParameters& p) {
  if (flags.has("output")) {
    if (!flags.value("output")->empty()) return *flags.value("output");
    return absl::InvalidArgumentError("--output is empty: expected a file");
  }
  std::string name = chosen.file_name(p);
  if (p.num_pods > 1) name += fmt::format("_{}pods", p.num_pods);
  if (name.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(fmt::format(
        "the rate \"{}\" cannot be part of a file name; use -o FILE",
        p.bandwidth));
  }
  return name;
}

// Warns of a word that names no known GPU. The word is written as it is. If a
// known GPU is meant, programs timed for that GPU would be refused on this
// topology.
void WarnOfGpuType(GenTopoOptions& options) {
  const std::string& type = options.cluster.gpu_type;
  // These words do not name a GPU.
  if (LowerCase(type) == "gpu" || LowerCase(type) == "none") return;
  std::vector<std::string_view> names;
  for (const GpuSpec& gpu : BundledGpus()) {
    if (IsGpuType(type, gpu.name)) return;
    names.push_back(gpu.name);
    names.insert(names.end(), gpu.aliases.begin(), gpu.aliases.end());
  }
  options.warnings.push_back(fmt::format(
      "--gpu-type {} is not a known GPU{} (gen_workload --list-gpus lists all)",
      Quoted(type), DidYouMean(type, names)));
}

absl::Status CheckAswCount(const CommandLine& flags, GenTopoOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(
      const int64_t wanted,
      flags.integer("asw-switch-num", options.counts.num_asws, 0, kMaxCount));
  if (wanted != options.counts.num_asws) {
    options.warnings.push_back(
        fmt::format("--asw-switch-num {} has no effect: the other options make "
                    "{} ASWs",
                    wanted, options.counts.num_asws));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const OptionSpec> GenTopoOptionSpecs() { return kOptions; }

std::string GenTopoHelp() {
  std::string text = HelpText(kUsage, kOptions);
  text += "\nDesigns for -topo:\n";
  for (const TopologyTemplate& design : TopologyTemplates()) {
    text += fmt::format("  {:<38} {}\n", design.name, design.description);
  }
  return text + ExamplesText(kExamples);
}

absl::Span<const CommandExample> GenTopoExamples() { return kExamples; }

namespace {

// Returns the files that are read in place of options, with their options.
std::vector<std::pair<std::string_view, std::string>> InputsOf(
    const GenTopoOptions& options) {
  std::vector<std::pair<std::string_view, std::string>> inputs;
  const auto add = [&](std::string_view option,
                       const std::optional<std::string>& file) {
    if (file) inputs.emplace_back(option, *file);
  };
  add("fabric", options.fabric_file);
  if (options.discovered) {
    add("ibnetdiscover", options.discovered->file);
    add("nccl-topology", options.discovered->nccl_topology);
    add("hosts", options.discovered->hosts);
  }
  return inputs;
}

// Refuses files that would overwrite one another, or an input.
absl::Status CheckFiles(const GenTopoOptions& options) {
  for (const auto& [option, file] : InputsOf(options)) {
    const bool is_output = IsSameFile(options.output, file);
    if (!is_output &&
        !(options.drawing && IsSameFile(*options.drawing, file))) {
      continue;
    }
    return absl::InvalidArgumentError(
        fmt::format("--{} is the file of --{}: expected another",
                    is_output ? "output" : "draw", option));
  }
  if (options.drawing && IsSameFile(*options.drawing, options.output)) {
    return absl::InvalidArgumentError(
        "--draw is the file of --output: expected another");
  }
  return absl::OkStatus();
}

// Refuses options beside --fabric or --ibnetdiscover that have no effect there.
absl::Status CheckBeside(const CommandLine& flags, std::string_view source) {
  const bool is_discovered = source == "ibnetdiscover";
  for (const OptionSpec& option : kOptions) {
    const bool has_effect = is_discovered ? HasEffectOnDiscovered(option)
                                          : option.group == "Output";
    if (has_effect || option.name == source || !flags.has(option.name)) {
      continue;
    }
    return absl::InvalidArgumentError(
        fmt::format("--{} has no effect: --{} says what the fabric is",
                    option.name, source));
  }
  return absl::OkStatus();
}

// Reads the options beside --fabric or --ibnetdiscover.
absl::StatusOr<GenTopoOptions> ReadFabricOptions(const CommandLine& flags,
                                                 std::string_view source) {
  ASTRA_RETURN_IF_ERROR(CheckBeside(flags, source));
  GenTopoOptions options;
  const std::filesystem::path file(*flags.value(source));
  if (source == "fabric") {
    options.fabric_file = flags.value(source);
  } else {
    ASTRA_ASSIGN_OR_RETURN(options.discovered, ReadDiscoveredOptions(flags));
  }
  options.output =
      flags.value("output").value_or(file.stem().string() + ".topo");
  if (options.output.empty()) {
    return absl::InvalidArgumentError("--output is empty: expected a file");
  }
  options.describe = flags.has("describe");
  options.drawing = flags.value("draw");
  ASTRA_RETURN_IF_ERROR(CheckFiles(options));
  options.force = flags.has("force");
  return options;
}

// Refuses options that say more of --ibnetdiscover, which is not there.
absl::Status CheckWithoutDiscovered(const CommandLine& flags) {
  for (const std::string_view option :
       {"server-type", "nccl-topology", "hosts"}) {
    if (!flags.has(option)) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--{} has no effect without --ibnetdiscover{}", option,
        option == "hosts" ? ""
                          : ": a file of --fabric names types of servers"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GenTopoOptions> ReadGenTopoOptions(const CommandLine& flags) {
  if (flags.has("fabric")) return ReadFabricOptions(flags, "fabric");
  if (flags.has("ibnetdiscover")) {
    return ReadFabricOptions(flags, "ibnetdiscover");
  }
  ASTRA_RETURN_IF_ERROR(CheckWithoutDiscovered(flags));
  ASTRA_ASSIGN_OR_RETURN(
      const TopologyTemplate chosen,
      FindTopologyTemplate(flags.value("topology").value_or("custom")));
  TemplateChoice choice;
  choice.rail_optimised = flags.has("ro");
  choice.dual_tor = flags.has("dt");
  choice.dual_plane = flags.has("dp");
  if (flags.has("gpus-per-server")) {
    ASTRA_ASSIGN_OR_RETURN(choice.gpus_per_server,
                           flags.integer("gpus-per-server", 0, 1, kMaxCount));
  }

  GenTopoOptions options;
  ASTRA_ASSIGN_OR_RETURN(options.cluster, chosen.defaults(choice));
  ASTRA_RETURN_IF_ERROR(OverrideCounts(flags, options.cluster));
  ASTRA_RETURN_IF_ERROR(OverrideTexts(flags, options.cluster));
  ASTRA_RETURN_IF_ERROR(CheckEffects(flags, options.cluster));
  ASTRA_RETURN_IF_ERROR(ReadStorage(flags, options));
  ASTRA_ASSIGN_OR_RETURN(options.counts, CountCluster(options.cluster));
  ASTRA_RETURN_IF_ERROR(CheckAswCount(flags, options));
  ASTRA_ASSIGN_OR_RETURN(options.output,
                         OutputFile(flags, chosen, options.cluster));
  if (options.storage && !flags.has("output")) {
    options.output += fmt::format("_{}storage", options.storage->servers);
  }
  WarnOfGpuType(options);
  options.describe = flags.has("describe");
  options.drawing = flags.value("draw");
  ASTRA_RETURN_IF_ERROR(CheckFiles(options));
  options.keeps_uplinks =
      flags.has("bandwidth") && !flags.has("ap-bandwidth") &&
      options.cluster.bandwidth != options.cluster.asw_psw_bandwidth;
  options.force = flags.has("force");
  return options;
}

}  // namespace astra
