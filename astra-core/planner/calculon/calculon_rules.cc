#include "astra-core/planner/calculon/calculon_rules.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/field_error.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/calculon/calculon_schedule.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the divisor of `whole` that is nearest to `wanted`; of two, the
// smaller.
int64_t NearestDivisor(int64_t wanted, int64_t whole) {
  int64_t nearest = 1;
  const auto consider = [&](int64_t divisor) {
    const int64_t distance = std::abs(divisor - wanted);
    const int64_t least = std::abs(nearest - wanted);
    if (distance < least || (distance == least && divisor < nearest)) {
      nearest = divisor;
    }
  };
  for (int64_t i = 1; i * i <= whole; ++i) {
    if (whole % i != 0) continue;
    consider(i);
    consider(whole / i);
  }
  return nearest;
}

absl::Status Divides(std::string_view key, int64_t value, int64_t whole,
                     std::string_view what, int64_t nearest) {
  if (whole % value == 0) return absl::OkStatus();
  return FieldError(key, fmt::format("{} is {}: expected a divisor of {} {}; "
                                     "the nearest legal value is {}",
                                     key, value, what, whole, nearest));
}

absl::Status CheckSizes(const CalculonExecution& execution) {
  const int64_t procs =
      execution.tensor_par * execution.pipeline_par * execution.data_par;
  if (execution.num_procs != procs) {
    return FieldError(
        "num_procs",
        fmt::format("num_procs is {}: expected {}, which is tensor_par {} x "
                    "pipeline_par {} x data_par {}",
                    execution.num_procs, procs, execution.tensor_par,
                    execution.pipeline_par, execution.data_par));
  }
  const int64_t batch = execution.batch_size;
  const int64_t replicas = execution.data_par;
  if (batch % replicas != 0) {
    const int64_t nearest =
        std::max<int64_t>((batch + replicas / 2) / replicas, 1) * replicas;
    return FieldError("batch_size",
                      fmt::format("batch_size is {}: expected a multiple of "
                                  "data_par {}; the nearest is {}",
                                  batch, replicas, nearest));
  }
  const int64_t share = batch / replicas;
  return Divides("microbatch_size", execution.microbatch_size, share,
                 "batch_size / data_par, which is",
                 NearestDivisor(execution.microbatch_size, share));
}

absl::Status CheckTensorParallelism(const CalculonApplication& application,
                                    const CalculonExecution& execution) {
  const int64_t positions = execution.microbatch_size * application.seq_size;
  const bool splits =
      execution.tensor_par_comm_type != CalculonTensorComm::kAllReduce;
  const int64_t common =
      std::gcd(std::gcd(application.hidden, application.feedforward),
               std::gcd(application.attn_heads, splits ? positions : 0));
  const int64_t nearest = NearestDivisor(execution.tensor_par, common);
  const auto divides = [&](int64_t whole, std::string_view what) {
    return Divides("tensor_par", execution.tensor_par, whole, what, nearest);
  };
  ASTRA_RETURN_IF_ERROR(divides(application.hidden, "hidden"));
  ASTRA_RETURN_IF_ERROR(divides(application.feedforward, "feedforward"));
  ASTRA_RETURN_IF_ERROR(divides(application.attn_heads, "attn_heads"));
  if (!splits) return absl::OkStatus();
  return divides(positions, "microbatch_size x seq_size, which is");
}

absl::Status CheckBlocks(const CalculonInputs& inputs) {
  const CalculonExecution& execution = inputs.execution;
  const int64_t blocks = CalculonScheduleOf(inputs).blocks;
  ASTRA_RETURN_IF_ERROR(
      Divides("pipeline_interleaving", execution.pipeline_interleaving, blocks,
              "the blocks of a processor, which are",
              NearestDivisor(execution.pipeline_interleaving, blocks)));
  constexpr int64_t kLeastBlocks = 3;
  for (const auto& [key, value] :
       {std::pair("weight_offload", execution.weight_offload),
        std::pair("activations_offload", execution.activations_offload),
        std::pair("optimizer_offload", execution.optimizer_offload)}) {
    if (!value || blocks >= kLeastBlocks) continue;
    return FieldError(
        key,
        fmt::format("{} is true: expected false where a processor has {} "
                    "of the {} blocks, and not {} or more",
                    key, blocks, inputs.application.num_blocks, kLeastBlocks));
  }
  return absl::OkStatus();
}

// A setting that needs another one.
struct Condition {
  std::string_view key;
  bool is_set;
  bool may_be_set;
  std::string value;       // Value of `key`, as in the file.
  std::string_view legal;  // Value of `key` that keeps the rule.
  std::string_view where;  // What must be otherwise for `value`.
};

absl::Status CheckConditions(const CalculonExecution& execution) {
  const CalculonRecompute recompute = execution.activation_recompute;
  const bool recomputes = recompute != CalculonRecompute::kNone;
  const bool is_full = recompute == CalculonRecompute::kFull;
  const bool splits =
      execution.tensor_par_comm_type == CalculonTensorComm::kSplit;
  const bool is_ring =
      execution.tensor_par_overlap == CalculonTensorOverlap::kRing;
  const bool tensor = execution.tensor_par > 1;
  const bool data = execution.data_par > 1;
  const bool training = execution.training;
  const Condition conditions[] = {
      {"activation_recompute", recomputes, training,
       is_full ? "full" : "attn_only", "none", "training is false"},
      {"pipeline_interleaving", execution.pipeline_interleaving > 1,
       execution.pipeline_par > 1,
       std::to_string(execution.pipeline_interleaving), "1",
       "pipeline_par is 1"},
      {"optimizer_sharding", execution.optimizer_sharding, data, "true",
       "false", "data_par is 1"},
      {"tensor_par_overlap",
       execution.tensor_par_overlap != CalculonTensorOverlap::kNone, tensor,
       is_ring ? "ring" : "pipe", "none", "tensor_par is 1"},
      {"seq_par_ag_redo", execution.seq_par_ag_redo, splits, "true", "false",
       "tensor_par_comm_type is not rs_ag"},
      {"seq_par_ag_redo", execution.seq_par_ag_redo, !is_full, "true", "false",
       "activation_recompute is full"},
      {"data_par_overlap", execution.data_par_overlap, training, "true",
       "false", "training is false"},
      {"data_par_overlap", execution.data_par_overlap, data, "true", "false",
       "data_par is 1"},
      {"optimizer_offload", execution.optimizer_offload, training, "true",
       "false", "training is false"},
  };
  for (const Condition& one : conditions) {
    if (!one.is_set || one.may_be_set) continue;
    return FieldError(one.key,
                      fmt::format("{} is {}: expected {} where {}", one.key,
                                  one.value, one.legal, one.where));
  }
  return absl::OkStatus();
}

// Groups of one parallelism on a network.
struct Group {
  std::string_view key;
  std::string_view network_key;
  size_t network;
  int64_t size;
};

absl::Status CheckNetworks(const CalculonInputs& inputs) {
  const CalculonExecution& execution = inputs.execution;
  const std::vector<CalculonNetwork>& networks = inputs.system.networks;
  const Group groups[] = {
      {"tensor_par", "tensor_par_net", execution.tensor_par_net,
       execution.tensor_par},
      {"pipeline_par", "pipeline_par_net", execution.pipeline_par_net,
       execution.pipeline_par},
      {"data_par", "data_par_net", execution.data_par_net, execution.data_par}};
  for (const Group& group : groups) {
    if (group.network < networks.size()) continue;
    return FieldError(
        group.network_key,
        fmt::format("{} is {}: expected a network of the system, 0 to {}",
                    group.network_key, group.network, networks.size() - 1));
  }
  for (size_t i = 0; i < networks.size(); ++i) {
    int64_t used = 1;
    std::string product;
    std::string_view last;
    for (const Group& group : groups) {
      if (group.network != i || group.size == 1) continue;
      used *= group.size;
      product += fmt::format("{}{} {}", product.empty() ? "" : " x ", group.key,
                             group.size);
      last = group.key;
    }
    if (used == 1) continue;
    const int64_t size = networks[i].size;
    if (used > size) {
      return FieldError(last, fmt::format("{} is on network {} of the system, "
                                          "which joins {}: expected at most {}",
                                          product, i, size, size));
    }
    if (networks[i].must_be_filled && size % used != 0) {
      return FieldError(
          last, fmt::format("{} is on network {} of the system, which must be "
                            "filled: expected a divisor of its size {}; the "
                            "nearest is {}",
                            product, i, size, NearestDivisor(used, size)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCalculonExecution(const CalculonInputs& inputs) {
  ASTRA_RETURN_IF_ERROR(CheckSizes(inputs.execution));
  ASTRA_RETURN_IF_ERROR(CheckConditions(inputs.execution));
  ASTRA_RETURN_IF_ERROR(
      CheckTensorParallelism(inputs.application, inputs.execution));
  ASTRA_RETURN_IF_ERROR(CheckBlocks(inputs));
  return CheckNetworks(inputs);
}

}  // namespace astra
