#include "astra-core/planner/simumax/cost_model.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/units.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kUsPerMs = 1e3;
constexpr int64_t kUsualNode = 8;  // GPUs of the nodes that SimuMax measured.
constexpr std::string_view kBetweenNodes = "inter_node";
constexpr std::string_view kWithinNode = "high_intra_node";

// Returns the value for `ranks`, or `otherwise`.
template <class Value>
Value ByRanks(const std::map<int64_t, double>& values, int64_t ranks,
              Value otherwise) {
  const auto found = values.find(ranks);
  return found == values.end() ? otherwise : Value(found->second);
}

std::string_view PcieNetwork(int64_t gpus) {
  constexpr int64_t kFour = 4;
  if (gpus <= 2) return "intra_node_pcie_2x";
  if (gpus <= kFour) return "intra_node_pcie_4x";
  return gpus <= kUsualNode ? "intra_node_pcie_8x" : kBetweenNodes;
}

}  // namespace

SimumaxCost& SimumaxCost::operator+=(const SimumaxCost& other) {
  compute_ms += other.compute_ms;
  net_ms += other.net_ms;
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

void SimumaxCosts::Fail(std::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      fmt::format("{}:1:1: {}", system_.file, message));
}

double SimumaxCosts::Checked(double efficiency, std::string_view key) {
  if (efficiency > 0) return efficiency;
  Fail(fmt::format("{} is {}: expected a number above 0, as it is used", key,
                   efficiency));
  return 1;
}

double SimumaxCosts::ComputeMs(const SimumaxKernel& kernel) {
  if (kernel.flops <= 0) return 0;
  auto found = system_.operators.find(kernel.op);
  if (found == system_.operators.end()) {
    found = system_.operators.find("default");
  }
  const SimumaxOperator& op = found->second;
  const auto exact = op.by_shape.find(kernel.shape);
  const bool is_hit = exact != op.by_shape.end();
  const double efficiency =
      Checked(is_hit ? exact->second : op.efficiency,
              fmt::format("accelerator.op.{}.efficient_factor", found->first));
  if (!kernel.shape.empty()) {
    (is_hit ? hits_ : misses_)[std::string(kernel.op)][kernel.shape] = {
        kernel.flops, efficiency};
  }
  constexpr double kTera = 1e12;
  return kernel.flops / (op.tflops * kTera * efficiency) * kMsPerSecond;
}

double SimumaxCosts::MemoryMs(std::string_view name, double bytes) {
  if (bytes <= 0) return 0;
  auto found = system_.bandwidths.find(name);
  if (found == system_.bandwidths.end()) {
    found = system_.bandwidths.find("default");
  }
  const SimumaxBandwidth& bandwidth = found->second;
  const double efficiency = Checked(
      bandwidth.efficiency,
      fmt::format("accelerator.bandwidth.{}.efficient_factor", found->first));
  return bytes / (bandwidth.gib_per_second * kBytesPerGib * efficiency) *
             kMsPerSecond +
         bandwidth.latency_us / kUsPerMs;
}

SimumaxCost SimumaxCosts::Of(const SimumaxKernel& kernel) {
  const double compute = ComputeMs(kernel);
  const double memory = MemoryMs(kernel.op, kernel.bytes);
  const bool takes_both = system_.is_roofline || compute == 0;
  return {.compute_ms = takes_both ? std::max(compute, memory) : compute,
          .flops = kernel.flops,
          .bytes = kernel.bytes};
}

int64_t SimumaxCosts::RanksOf(SimumaxGroup group) const {
  switch (group) {
    case SimumaxGroup::kTensor:
      return strategy_.tensor;
    case SimumaxGroup::kContext:
      return strategy_.context;
    case SimumaxGroup::kExpert:
      return strategy_.expert;
    case SimumaxGroup::kExpertTensor:
      return strategy_.expert_tensor;
    case SimumaxGroup::kData:
      return strategy_.data() * strategy_.context;
    case SimumaxGroup::kExpertData:
      return strategy_.expert_data();
    case SimumaxGroup::kPipeline:
      break;
  }
  return 2;
}

std::string_view SimumaxCosts::NetworkOf(SimumaxGroup group) const {
  const bool of_experts = group == SimumaxGroup::kExpert ||
                          group == SimumaxGroup::kExpertTensor ||
                          group == SimumaxGroup::kExpertData;
  // GPUs from the first to the last of a group.
  int64_t span = of_experts ? strategy_.expert_tensor : strategy_.tensor;
  switch (group) {
    case SimumaxGroup::kTensor:
    case SimumaxGroup::kExpertTensor:
      break;
    case SimumaxGroup::kContext:
      span *= strategy_.context;
      break;
    case SimumaxGroup::kExpert:
      span *= strategy_.expert;
      break;
    case SimumaxGroup::kData:
      span *= strategy_.context * strategy_.data();
      break;
    case SimumaxGroup::kExpertData:
      span *= strategy_.expert * strategy_.expert_data();
      break;
    case SimumaxGroup::kPipeline:
      if (system_.has_pcie) return PcieNetwork(strategy_.gpus);
      return strategy_.gpus / strategy_.pipeline < system_.gpus_per_node
                 ? kWithinNode
                 : kBetweenNodes;
  }
  if (system_.has_pcie) return PcieNetwork(span);
  return span <= system_.gpus_per_node ? kWithinNode : kBetweenNodes;
}

double SimumaxCosts::ShareOf(const SimumaxTransfer& transfer) const {
  const int64_t node = system_.gpus_per_node;
  const bool is_exchange = transfer.op == "all2all";
  int64_t sharers = 1;
  switch (transfer.group) {
    case SimumaxGroup::kPipeline:
      sharers = node;
      break;
    case SimumaxGroup::kContext:
    case SimumaxGroup::kExpert:
      sharers = is_exchange ? node : 1;
      break;
    case SimumaxGroup::kData:
      sharers = std::min(node, strategy_.tensor);
      break;
    case SimumaxGroup::kExpertData:
      sharers = std::min(node, strategy_.expert * strategy_.expert_tensor);
      break;
    case SimumaxGroup::kTensor:
    case SimumaxGroup::kExpertTensor:
      break;
  }
  return 1 / static_cast<double>(sharers);
}

double SimumaxCosts::LatencyUs(const SimumaxTransfer& transfer,
                               const SimumaxNetwork& network,
                               const SimumaxCollective& collective) const {
  const double base =
      collective.latency_us.value_or(network.bandwidth.latency_us);
  const bool grows =
      system_.gpus_per_node == kUsualNode && transfer.op != "p2p";
  if (!grows) return base;
  const auto ranks = static_cast<double>(RanksOf(transfer.group));
  return base * (ranks + collective.offset) * collective.scale;
}

std::optional<double> SimumaxCosts::FixedRate(
    const SimumaxTransfer& transfer,
    const SimumaxCollective& collective) const {
  const bool may_be_fixed = system_.has_pcie &&
                            transfer.group == SimumaxGroup::kData &&
                            NetworkOf(transfer.group) != kBetweenNodes;
  const auto found =
      collective.data_gib_per_second.find(RanksOf(transfer.group));
  if (!may_be_fixed || found == collective.data_gib_per_second.end()) {
    return std::nullopt;
  }
  return found->second;
}

SimumaxNetRecord SimumaxCosts::RecordOf(const SimumaxTransfer& transfer,
                                        const SimumaxNetwork& network,
                                        const SimumaxCollective& collective) {
  const int64_t ranks = RanksOf(transfer.group);
  const SimumaxBandwidth& bandwidth = network.bandwidth;
  SimumaxNetRecord record;
  record.network = NetworkOf(transfer.group);
  record.ranks = ranks;
  record.base_gib_per_second = bandwidth.gib_per_second;
  record.bytes = transfer.bytes * collective.scale *
                 (1 + collective.offset / static_cast<double>(ranks));
  if (const auto fixed = FixedRate(transfer, collective)) {
    record.is_fixed = true;
    record.real_gib_per_second = *fixed;
    return record;
  }
  record.efficiency =
      Checked(collective.efficiency.value_or(bandwidth.efficiency),
              fmt::format("the efficient_factor of networks.{}.op.{}",
                          record.network, transfer.op));
  double rate = bandwidth.gib_per_second * record.efficiency;
  if (system_.is_fully_connected && record.network == kWithinNode) {
    rate *= static_cast<double>(ranks - 1) / (kUsualNode - 1);
  }
  if (record.network == kBetweenNodes) {
    rate *= ShareOf(transfer);
    if (transfer.op == "all2all") {
      const int64_t nodes =
          (ranks + system_.gpus_per_node - 1) / system_.gpus_per_node;
      record.bytes *=
          static_cast<double>(nodes - 1) / static_cast<double>(nodes);
    }
  }
  record.real_gib_per_second = rate;
  record.latency_us = LatencyUs(transfer, network, collective);
  record.fixed_latency_us =
      ByRanks(collective.fixed_latency_by_ranks, ranks,
              collective.fixed_latency_us)
          .value_or(ByRanks(bandwidth.fixed_latency_by_ranks, ranks,
                            bandwidth.fixed_latency_us));
  return record;
}

SimumaxCost SimumaxCosts::Of(const SimumaxTransfer& transfer) {
  const int64_t ranks = RanksOf(transfer.group);
  if (ranks == 1 || transfer.bytes <= 0) return {};
  const std::string_view name = NetworkOf(transfer.group);
  const auto network = system_.networks.find(name);
  if (network == system_.networks.end()) {
    Fail(fmt::format("networks has no \"{}\", which a group of {} ranks uses",
                     name, ranks));
    return {};
  }
  const auto& operations = network->second.operations;
  const auto operation = operations.find(transfer.op);
  if (operation == operations.end()) {
    Fail(fmt::format("networks.{}.op has no \"{}\"", name, transfer.op));
    return {};
  }
  SimumaxNetRecord record =
      RecordOf(transfer, network->second, operation->second);
  const double ms = record.bytes / (record.real_gib_per_second * kBytesPerGib) *
                        kMsPerSecond +
                    (record.latency_us + record.fixed_latency_us) / kUsPerMs;
  record.us = ms * kUsPerMs;
  networks_[std::string(transfer.op)][std::string(transfer.stage)] = record;
  return {.net_ms = ms};
}

}  // namespace astra
