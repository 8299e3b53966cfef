// The system of SimuMax; see simumax_files.h.

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/names.h"
#include "astra-core/planner/simumax/simumax_files.h"
#include "astra-core/planner/simumax/tool_fields.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr NumberRange kRate = {.min = 1e-6, .max = 1e9};
constexpr NumberRange kEfficiency = {.min = 0, .max = 1000};
constexpr NumberRange kMicroseconds = {.min = 0, .max = 1e9};

constexpr std::string_view kOperators[] = {
    "default", "matmul",       "fp8_matmul",      "sdp_fwd",
    "sdp_bwd", "group_matmul", "fp8_group_matmul"};
constexpr std::string_view kBandwidths[] = {"default", "permute_fwd",
                                            "permute_bwd", "ce", "ce_fusion"};
constexpr std::string_view kNetworks[] = {
    "low_intra_node",     "high_intra_node",    "intra_node_pcie_2x",
    "intra_node_pcie_4x", "intra_node_pcie_8x", "inter_node"};
constexpr std::string_view kCollectives[] = {
    "all_reduce", "all_gather", "reduce_scatter", "p2p", "all2all"};

// Calls `read` with each object of `fields` that has a known name.
template <class Read>
void ForEach(ToolFields& fields, absl::Span<const std::string_view> names,
             const Read& read) {
  for (const std::string_view name : names) {
    if (!fields.Has(name)) continue;
    ToolFields object = fields.Object(name, name);
    read(std::string(name), object);
    object.WarnOfOthers();
  }
  fields.WarnOfOthers();
}

SimumaxOperator ReadOperator(ToolFields& fields) {
  SimumaxOperator op;
  op.tflops = fields.Number("tflops", kRate);
  op.efficiency = fields.Number("efficient_factor", kEfficiency);
  op.by_shape = fields.Numbers("accurate_efficient_factor", kEfficiency);
  return op;
}

SimumaxBandwidth ReadBandwidth(ToolFields& fields) {
  SimumaxBandwidth bandwidth;
  bandwidth.gib_per_second = fields.Number("gbps", kRate);
  bandwidth.efficiency = fields.Number("efficient_factor", kEfficiency);
  bandwidth.latency_us = fields.Number("latency_us", kMicroseconds);
  bandwidth.fixed_latency_us =
      fields.Number("fixed_latency", kMicroseconds, 0.0);
  bandwidth.fixed_latency_by_ranks =
      fields.ByRanks("fixed_latency_us_by_comm_num", kMicroseconds);
  return bandwidth;
}

SimumaxCollective ReadCollective(ToolFields& fields) {
  const auto optional = [&fields](std::string_view key, NumberRange range) {
    std::optional<double> value;
    if (fields.Has(key)) value = fields.Number(key, range);
    return value;
  };
  constexpr NumberRange kOffset = {.min = -1, .max = 1e6};
  SimumaxCollective collective;
  collective.scale = fields.Number("scale", kRate);
  collective.offset = fields.Number("offset", kOffset);
  collective.efficiency = optional("efficient_factor", kEfficiency);
  collective.latency_us = optional("latency_us", kMicroseconds);
  collective.fixed_latency_us = optional("fixed_latency_us", kMicroseconds);
  collective.fixed_latency_by_ranks =
      fields.ByRanks("fixed_latency_us_by_comm_num", kMicroseconds);
  collective.data_gib_per_second = fields.ByRanks("dp_fixed_bw", kRate);
  return collective;
}

SimumaxNetwork ReadNetwork(ToolFields& fields) {
  SimumaxNetwork network;
  fields.Ignore("processor_usage");  // SimuMax overlaps nothing.
  ToolFields bandwidth = fields.Object("bandwidth", "the bandwidth");
  network.bandwidth = ReadBandwidth(bandwidth);
  bandwidth.WarnOfOthers();
  ToolFields operations = fields.Object("op", "the operations");
  ForEach(operations, kCollectives,
          [&network](std::string name, ToolFields& each) {
            network.operations[std::move(name)] = ReadCollective(each);
          });
  return network;
}

void ReadAccelerator(ToolFields& fields, SimumaxSystem& system) {
  fields.Ignore("backend");
  system.memory_gib = fields.Number("mem_gbs", {.min = 1, .max = 1e6});
  const std::string mode = fields.Text("mode");
  constexpr std::string_view kModes[] = {"roofline", "only_compute"};
  if (std::find(std::begin(kModes), std::end(kModes), mode) ==
      std::end(kModes)) {
    fields.Error("mode", UnknownName("mode", mode, kModes));
  }
  system.is_roofline = mode == "roofline";
  ToolFields operators = fields.Object("op", "the operators");
  ForEach(operators, kOperators, [&](std::string name, ToolFields& each) {
    system.operators[std::move(name)] = ReadOperator(each);
  });
  ToolFields bandwidths = fields.Object("bandwidth", "the bandwidths");
  ForEach(bandwidths, kBandwidths, [&](std::string name, ToolFields& each) {
    system.bandwidths[std::move(name)] = ReadBandwidth(each);
  });
  for (const auto& [key, has_default] :
       {std::pair("op", system.operators.contains("default")),
        std::pair("bandwidth", system.bandwidths.contains("default"))}) {
    if (has_default) continue;
    fields.Error(key, fmt::format("accelerator.{} has no \"default\"", key));
  }
}

}  // namespace

absl::StatusOr<SimumaxSystem> ParseSimumaxSystem(std::string_view file,
                                                 std::string_view contents,
                                                 Warnings* warnings) {
  YamlDocument document(file, contents);
  ToolFields fields(file, document.Root("a system of SimuMax"), warnings);
  SimumaxSystem system;
  system.file = file;
  system.name = fields.Text("sys_name");
  system.gpus_per_node =
      fields.Integer("num_per_node", {.min = 1, .max = 1 << 20});
  system.is_fully_connected = fields.Flag("FC8", false);
  ToolFields accelerator = fields.Object("accelerator", "the accelerator");
  ReadAccelerator(accelerator, system);
  accelerator.WarnOfOthers();
  ToolFields networks = fields.Object("networks", "the networks");
  system.has_pcie = networks.Flag("intra_with_pcie", false);
  ForEach(networks, kNetworks, [&](std::string name, ToolFields& each) {
    system.networks[std::move(name)] = ReadNetwork(each);
  });
  // What SimuMax adds when it writes its configuration.
  for (const std::string_view key :
       {"real_comm_bw", "miss_efficiency", "hit_efficiency"}) {
    fields.Ignore(key);
  }
  fields.WarnOfOthers();
  if (!document.status().ok()) return document.status();
  return system;
}

}  // namespace astra
