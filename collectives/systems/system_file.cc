#include "collectives/systems/system_file.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/base/yaml_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// Names of the enumerators, in the order of the enumerations.
constexpr std::array<std::string_view, 4> kArchitectures = {
    "volta", "ampere", "hopper", "blackwell"};
constexpr std::array<std::string_view, 3> kCpus = {"intel", "amd", "arm"};
constexpr std::array<std::string_view, 2> kKinds = {"nvlink", "pcie"};

// Limits wide enough for any system, and narrow enough that no time overflows.
constexpr double kLeastRate = 1e-3;
constexpr double kMostRate = 1e6;
constexpr double kMostTime = 1e6;
constexpr double kLeastEfficiency = 1e-3;
constexpr double kMostEfficiency = 2;
constexpr double kMostFactor = 1e3;
constexpr double kMostCrowding = 8;
constexpr int64_t kMostDevices = 1024;  // Devices of a kind in a server.
constexpr int64_t kMostServers = 100'000;
constexpr double kBitsPerByte = 8;

// A calibrated constant, listed once for both reading and writing.
struct Constant {
  std::string_view key;
  double* value;
  double min;
  double max;
  bool is_required = true;  // In a calibration of its own.
};

std::vector<Constant> ConstantsOf(Pace& pace) {
  return {{"efficiency", &pace.efficiency, kLeastEfficiency, kMostEfficiency},
          {"ramp_us", &pace.ramp_us, 0, kMostTime},
          {"ramp_MiB", &pace.ramp_MiB, kLeastRate, kMostRate}};
}

std::vector<Constant> ConstantsOf(ProtocolLatency& latency) {
  return {{"start", &latency.start, 0, kMostFactor},
          {"hop", &latency.hop, 0, kMostFactor},
          {"spread", &latency.spread, 0, kMostFactor},
          {"spread_KiB", &latency.spread_KiB, kLeastRate, kMostRate}};
}

std::vector<Constant> ConstantsOf(Interconnect& interconnect) {
  return {
      {"launch_us", &interconnect.launch_us, 0, kMostTime},
      {"graph_launch_us", &interconnect.graph_launch_us, 0, kMostTime},
      {"ll_GBps", &interconnect.ll_GBps, kLeastRate, kMostRate},
      {"symmetric_us", &interconnect.symmetric_us, 0, kMostTime},
      {"copy_GBps", &interconnect.copy_GBps, kLeastRate, kMostRate},
      {"crowding", &interconnect.crowding, 0, kMostCrowding, false},
  };
}

std::vector<Constant> ConstantsOf(Transport& transport) {
  return {{"latency_us", &transport.latency_us, 0, kMostTime},
          {"launch_us", &transport.launch_us, 0, kMostTime},
          {"one_queue_pair", &transport.one_queue_pair, kLeastEfficiency, 1}};
}

// A pace or a latency, with its key.
template <class Part>
struct Keyed {
  std::string_view key;
  Part* part;
};

std::vector<Keyed<ProtocolLatency>> LatenciesOf(Interconnect& interconnect) {
  Latencies& latencies = interconnect.latencies;
  return {
      {"latency_ll", &latencies.protocols[IndexOf(NcclProtocol::kLl)]},
      {"latency_ll128", &latencies.protocols[IndexOf(NcclProtocol::kLl128)]},
      {"latency_simple", &latencies.protocols[IndexOf(NcclProtocol::kSimple)]},
      {"latency_nvls", &latencies.nvls},
      {"latency_direct", &latencies.direct}};
}

// Between servers, NCCL's constants and `latency_us` are the latency.
std::vector<Keyed<ProtocolLatency>> LatenciesOf(Transport& /*transport*/) {
  return {};
}

std::vector<Keyed<Pace>> PatternsOf(Paces& paces) {
  std::vector<Keyed<Pace>> patterns;
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    patterns.push_back(
        {RegistryName(algorithm), &paces.algorithms[IndexOf(algorithm)]});
  }
  patterns.push_back({"direct", &paces.direct});
  patterns.push_back({"send_recv", &paces.send_recv});
  patterns.push_back({"symmetric", &paces.symmetric});
  return patterns;
}

void Override(YamlFields& fields, absl::Span<const Constant> constants) {
  for (const Constant& constant : constants) {
    *constant.value = fields.NumberOr(constant.key, *constant.value,
                                      constant.min, constant.max);
  }
}

template <class Part>
void OverrideEach(YamlFields& fields, const std::vector<Keyed<Part>>& parts) {
  for (const Keyed<Part>& keyed : parts) {
    YamlFields part = fields.Map(keyed.key, keyed.key);
    Override(part, ConstantsOf(*keyed.part));
    part.Close();
  }
}

// Reads all constants; of the paces, ring's efficiency is required. What is
// missing is as of the ring, but of send_recv as of direct messages.
template <class Part>
void ReadCalibration(YamlFields fields, Part& part) {
  part.origin = fields.Text("origin");
  for (const Constant& constant : ConstantsOf(part)) {
    *constant.value =
        constant.is_required
            ? fields.Number(constant.key, constant.min, constant.max)
            : fields.NumberOr(constant.key, *constant.value, constant.min,
                              constant.max);
  }
  Pace ring;
  YamlFields ring_fields = fields.Map("ring", "ring");
  ring_fields.Number("efficiency", kLeastEfficiency, kMostEfficiency);
  Override(ring_fields, ConstantsOf(ring));
  for (const Keyed<Pace>& pattern : PatternsOf(part.paces)) {
    *pattern.part = ring;
  }
  YamlFields direct = fields.Map("direct", "direct");
  Override(direct, ConstantsOf(part.paces.send_recv));
  OverrideEach(fields, PatternsOf(part.paces));
  OverrideEach(fields, LatenciesOf(part));
  fields.Close();
}

// Replaces the constants that the field `key` of a system names, if any.
template <class Part>
void OverrideCalibration(YamlFields& system, std::string_view key, Part& part) {
  YamlFields fields = system.Map(key, key);
  if (!system.has(key)) return;
  part.origin = fields.Text("origin");
  Override(fields, ConstantsOf(part));
  OverrideEach(fields, PatternsOf(part.paces));
  OverrideEach(fields, LatenciesOf(part));
  fields.Close();
}

template <class Part>
const Part* FindPart(std::string_view name, const std::vector<Part>& parts) {
  const auto found =
      std::find_if(parts.begin(), parts.end(),
                   [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

// Returns the part of the library that the field `key` names.
template <class Part>
Part ReadPart(YamlFields& system, std::string_view key,
              const std::vector<Part>& parts) {
  const std::string name = system.Text(key);
  if (const Part* part = FindPart(name, parts)) return *part;
  std::vector<std::string_view> names;
  names.reserve(parts.size());
  for (const Part& part : parts) names.push_back(part.name);
  system.Error(key, UnknownName(key, name, names));
  return {};
}

uint32_t Count(YamlFields& fields, std::string_view key, int64_t min,
               int64_t max) {
  return static_cast<uint32_t>(fields.Integer(key, min, max));
}

void ReadFabric(YamlFields& fields, const SystemParts& parts,
                SystemSpec& system) {
  system.transport = ReadPart(fields, "transport", parts.transports);
  OverrideCalibration(fields, "transport_calibration", system.transport);
  system.nics_per_server = Count(fields, "nics_per_server", 1, kMostDevices);
  system.nic_GBps =
      fields.Number("nic_Gbps", kLeastRate, kMostRate) / kBitsPerByte;
  system.max_servers = Count(fields, "max_servers", 1, kMostServers);
  system.sharp = fields.BoolOr("sharp", false);
}

void RefuseFabric(YamlFields& fields, SystemSpec& system) {
  for (const std::string_view key : {"transport_calibration", "nics_per_server",
                                     "nic_Gbps", "max_servers", "sharp"}) {
    if (fields.Value(key) == nullptr) continue;
    fields.Error(key, fmt::format("expected no {} without a transport", key));
  }
  system.nics_per_server = 0;
}

// Returns fields "key: value" for the constants that differ from `base`, which
// has the same length.
std::vector<std::string> Differences(absl::Span<const Constant> constants,
                                     absl::Span<const Constant> base) {
  std::vector<std::string> fields;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (*constants[i].value == *base[i].value) continue;
    fields.push_back(
        fmt::format("{}: {}", constants[i].key, *constants[i].value));
  }
  return fields;
}

// Appends "key: {...}" for each part that differs from `base`.
template <class Part>
void AppendDifferences(const std::vector<Keyed<Part>>& parts,
                       const std::vector<Keyed<Part>>& base,
                       std::vector<std::string>& fields) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<std::string> constants =
        Differences(ConstantsOf(*parts[i].part), ConstantsOf(*base[i].part));
    if (constants.empty()) continue;
    fields.push_back(
        fmt::format("{}: {{{}}}", parts[i].key, fmt::join(constants, ", ")));
  }
}

// Returns the field `key` of a system with the constants in which `part`
// differs from the library's; empty if none does. Both are copies because a
// Constant allows writing.
template <class Part>
std::string FormatCalibration(std::string_view key, Part part, Part base) {
  std::vector<std::string> fields =
      Differences(ConstantsOf(part), ConstantsOf(base));
  AppendDifferences(LatenciesOf(part), LatenciesOf(base), fields);
  AppendDifferences(PatternsOf(part.paces), PatternsOf(base.paces), fields);
  if (fields.empty() && part.origin == base.origin) return "";
  fields.insert(fields.begin(),
                fmt::format("origin: {}", YamlQuoted(part.origin)));
  return fmt::format("{}:\n  {}\n", key, fmt::join(fields, "\n  "));
}

// Returns the lines of a part: its name, and its differences from the
// library's.
template <class Part>
std::string FormatPart(std::string_view key, const Part& part,
                       const std::vector<Part>& parts) {
  const Part* base = FindPart(part.name, parts);
  ASTRA_CHECK(base != nullptr, "no {} {}", key, part.name);
  return fmt::format(
      "{}: {}\n{}", key, YamlQuoted(part.name),
      FormatCalibration(fmt::format("{}_calibration", key), part, *base));
}

}  // namespace

absl::StatusOr<Interconnect> ParseInterconnect(std::string_view file,
                                               std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("an interconnect");
  Interconnect interconnect;
  interconnect.name = fields.Text("name");
  interconnect.sources = fields.Texts("source");
  interconnect.kind =
      static_cast<InterconnectKind>(fields.Choice("kind", kKinds));
  interconnect.GBps = fields.Number("GBps", kLeastRate, kMostRate);
  interconnect.nccl_GBps = fields.Number("nccl_GBps", kLeastRate, kMostRate);
  interconnect.has_nvls = fields.Bool("nvls");
  interconnect.latency_ns = fields.Number("latency_ns", 0, kMostTime);
  interconnect.num_peers =
      static_cast<uint32_t>(fields.IntegerOr("peers", 0, 0, kMostDevices));
  ReadCalibration(fields.Map("calibration", "calibration"), interconnect);
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return interconnect;
}

absl::StatusOr<Transport> ParseTransport(std::string_view file,
                                         std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a transport");
  Transport transport;
  transport.name = fields.Text("name");
  transport.sources = fields.Texts("source");
  transport.fabric_latency_ns =
      fields.Number("fabric_latency_ns", 0, kMostTime);
  transport.nccl = fields.Texts("nccl");
  ReadCalibration(fields.Map("calibration", "calibration"), transport);
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return transport;
}

absl::StatusOr<SystemSpec> ParseSystem(std::string_view file,
                                       std::string_view contents,
                                       const SystemParts& parts) {
  YamlDocument document(file, contents);
  YamlFields fields = document.Root("a system");
  SystemSpec system;
  system.name = fields.Text("name");
  system.aliases = fields.Texts("aliases");
  system.sources = fields.Texts("source");
  system.gpu = fields.Text("gpu");
  system.architecture = static_cast<GpuArchitecture>(
      fields.Choice("architecture", kArchitectures));
  system.cpu = static_cast<CpuVendor>(fields.Choice("cpu", kCpus));
  system.gpus_per_server = Count(fields, "gpus_per_server", 1, kMostDevices);
  system.nv_switches_per_server =
      Count(fields, "nv_switches_per_server", 0, kMostDevices);
  system.interconnect = ReadPart(fields, "interconnect", parts.interconnects);
  OverrideCalibration(fields, "interconnect_calibration", system.interconnect);
  if (fields.Value("transport") != nullptr) {
    ReadFabric(fields, parts, system);
  } else {
    RefuseFabric(fields, system);
  }
  fields.Close();
  ASTRA_RETURN_IF_ERROR(document.status());
  return system;
}

std::string FormatSystem(const SystemSpec& system, const SystemParts& parts) {
  std::string text = fmt::format("name: {}\n", YamlQuoted(system.name));
  if (!system.aliases.empty()) {
    text += fmt::format("aliases: {}\n", YamlList(system.aliases));
  }
  if (!system.sources.empty()) {
    text += fmt::format("source: {}\n", YamlList(system.sources));
  }
  text += fmt::format(
      "gpu: {}\narchitecture: {}\ncpu: {}\ngpus_per_server: {}\n"
      "nv_switches_per_server: {}\n",
      YamlQuoted(system.gpu),
      kArchitectures[static_cast<size_t>(system.architecture)],
      kCpus[static_cast<size_t>(system.cpu)], system.gpus_per_server,
      system.nv_switches_per_server);
  text += FormatPart("interconnect", system.interconnect, parts.interconnects);
  if (system.transport.name.empty()) return text;
  text += FormatPart("transport", system.transport, parts.transports);
  text += fmt::format(
      "nics_per_server: {}\nnic_Gbps: {}\nmax_servers: {}\nsharp: {}\n",
      system.nics_per_server, system.nic_GBps * kBitsPerByte,
      system.max_servers, system.sharp);
  return text;
}

}  // namespace astra
