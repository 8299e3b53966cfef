#include "workload/regressors/batch_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Both passes of something, in microseconds.
struct Passes {
  double forward = 0;
  double backward = 0;

  Passes& operator+=(const Passes& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
};
Passes operator*(double times, const Passes& passes) {
  return {times * passes.forward, times * passes.backward};
}

enum StageKind : uint8_t { kFirst, kMiddle, kLast };
constexpr std::array<std::string_view, 3> kStageNames = {"first", "middle",
                                                         "last"};

class BatchEstimate {
 public:
  BatchEstimate(const EstimatorTarget& target, OperatorRegressors& operators,
                OperatorRegressors& collectives)
      : target_(target), operators_(operators), collectives_(collectives) {
    const auto number = [](int64_t value) {
      return static_cast<double>(value);
    };
    sizes_ = {{"mp", number(target.tensor)},
              {"b", number(target.sequences)},
              {"h", number(target.heads)},
              {"l", number(target.positions)},
              {"dim", number(target.hidden)}};
    const double parts = number(target.layers + 5) / number(target.pipeline);
    layers_ = {std::ceil(parts) - 2, std::floor(parts), std::floor(parts) - 3};
  }

  absl::StatusOr<BatchTime> Estimate() {
    ASTRA_RETURN_IF_ERROR(AddStages());
    ASTRA_RETURN_IF_ERROR(AddUpdate());
    return std::move(time_);
  }

 private:
  void Add(std::string name, double time_us) {
    time_.components.push_back({std::move(name), time_us});
  }

  // Returns the times of an operator, and lists them once.
  absl::StatusOr<Passes> Operator(const std::string& name) {
    const auto found = passes_.find(name);
    if (found != passes_.end()) return found->second;
    Passes passes;
    ASTRA_ASSIGN_OR_RETURN(
        passes.forward, operators_.TimeUs(name, SampledPass::kForward, sizes_));
    ASTRA_ASSIGN_OR_RETURN(
        passes.backward,
        operators_.TimeUs(name, SampledPass::kBackward, sizes_));
    Add(name + " forward", passes.forward);
    Add(name + " backward", passes.backward);
    passes_[name] = passes;
    return passes;
  }

  double Activation() const {
    return sizes_.at("b") * sizes_.at("l") * sizes_.at("dim");
  }

  absl::StatusOr<double> SyncUs() {
    if (target_.tensor == 1) return 0.0;
    const int64_t near = std::min(target_.tensor, target_.gpus_per_node);
    ASTRA_ASSIGN_OR_RETURN(
        const double time,
        collectives_.CollectiveUs("allreduce", target_.tensor / near, near,
                                  Activation()));
    Add("all-reduce of MP", time);
    return time;
  }

  absl::StatusOr<Passes> Layer(double sync_us) {
    Passes layer;
    for (const std::string& name : target_.layer_operators) {
      ASTRA_ASSIGN_OR_RETURN(const Passes passes, Operator(name));
      layer += passes;
    }
    layer.forward += static_cast<double>(target_.forward_syncs) * sync_us;
    // All activations are computed again.
    layer.backward +=
        static_cast<double>(target_.backward_syncs) * sync_us + layer.forward;
    Add("layer forward", layer.forward);
    Add("layer backward", layer.backward);
    return layer;
  }

  absl::Status AddStages() {
    ASTRA_ASSIGN_OR_RETURN(const double sync_us, SyncUs());
    ASTRA_ASSIGN_OR_RETURN(const Passes layer, Layer(sync_us));
    ASTRA_ASSIGN_OR_RETURN(const Passes embedding, Operator("embedding"));
    ASTRA_ASSIGN_OR_RETURN(
        const double send_us,
        collectives_.CollectiveUs("p2p", 2, 1, Activation() / sizes_.at("mp")));
    Add("message between stages", send_us);
    std::array<Passes, 3> stages;
    for (const StageKind kind : {kFirst, kMiddle, kLast}) {
      stages[kind] = layers_[kind] * layer;
    }
    stages[kFirst] += embedding;
    stages[kFirst] += {sync_us + send_us, sync_us};
    stages[kMiddle] += {send_us, send_us};
    stages[kLast].backward += send_us;
    for (const std::string& name :
         {target_.last_norm, std::string("linear_final"),
          std::string("parallel_cross_entropy_128")}) {
      ASTRA_ASSIGN_OR_RETURN(const Passes passes, Operator(name));
      stages[kLast] += passes;
    }
    Passes longest;
    for (const StageKind kind : {kFirst, kMiddle, kLast}) {
      if (!Exists(kind)) continue;
      Add(fmt::format("{} stage forward", kStageNames[kind]),
          stages[kind].forward);
      Add(fmt::format("{} stage backward", kStageNames[kind]),
          stages[kind].backward);
      longest.forward = std::max(longest.forward, stages[kind].forward);
      longest.backward = std::max(longest.backward, stages[kind].backward);
    }
    const double turns =
        static_cast<double>(target_.micro_batches - 1 + target_.pipeline);
    time_.total_us += turns * (longest.forward + longest.backward);
    Add("pipeline", time_.total_us);
    return absl::OkStatus();
  }

  bool Exists(StageKind kind) const {
    return kind != kMiddle || target_.pipeline > 2;
  }

  // Returns the parameters that a rank of a stage has: 12 hidden^2 weights of a
  // layer over MP, with its biases and norms, and the embedding.
  double ParametersOf(StageKind kind) const {
    constexpr double kWeights = 12, kOthers = 13;
    const double hidden = sizes_.at("dim");
    const double tensor = sizes_.at("mp");
    const double layer = kWeights * hidden * hidden / tensor + kOthers * hidden;
    // {rows, in, out}, of which `in` is this rank's part of the vocabulary.
    const double vocabulary = FeaturesOf("embedding", sizes_).at(1).second;
    return layers_[kind] * layer + (kind == kMiddle ? 0 : vocabulary * hidden);
  }

  absl::StatusOr<double> DataUs(std::string_view name, double elements) {
    const int64_t near =
        std::max<int64_t>(1, target_.gpus_per_node / target_.tensor);
    const int64_t in_node = std::min(near, target_.data);
    return collectives_.CollectiveUs(name, target_.data / in_node, in_node,
                                     elements);
  }

  // Returns the time of an all-reduce in buckets.
  absl::StatusOr<double> ReduceUs(double elements) {
    const auto bucket = static_cast<double>(target_.bucket);
    const double full = std::floor(elements / bucket);
    double time = 0;
    if (full > 0) {
      ASTRA_ASSIGN_OR_RETURN(const double each, DataUs("allreduce", bucket));
      time += full * each;
    }
    const double rest = elements - full * bucket;
    if (rest > 0) {
      ASTRA_ASSIGN_OR_RETURN(const double last, DataUs("allreduce", rest));
      time += last;
    }
    return time;
  }

  absl::Status AddUpdate() {
    if (target_.data == 1) return absl::OkStatus();
    ASTRA_ASSIGN_OR_RETURN(const double reduce_us,
                           ReduceUs(ParametersOf(kFirst)));
    Add("all-reduce of DP", reduce_us);
    double longest = 0;
    for (const StageKind kind : {kFirst, kMiddle, kLast}) {
      if (!Exists(kind)) continue;
      ASTRA_ASSIGN_OR_RETURN(
          const double gather_us,
          DataUs("allgather",
                 ParametersOf(kind) / static_cast<double>(target_.data)));
      SampledSizes sizes = {{"mp", sizes_.at("mp")},
                            {"dim", sizes_.at("dim")},
                            {"encoders", layers_[kind]}};
      ASTRA_ASSIGN_OR_RETURN(
          const double step_us,
          operators_.TimeUs(fmt::format("{}Stage_optimizer", kStageNames[kind]),
                            SampledPass::kWhole, sizes));
      Add(fmt::format("{} stage all-gather of DP", kStageNames[kind]),
          gather_us);
      Add(fmt::format("{} stage optimizer", kStageNames[kind]), step_us);
      longest = std::max(longest, gather_us + step_us);
    }
    time_.total_us += reduce_us + longest;
    return absl::OkStatus();
  }

  const EstimatorTarget& target_;
  OperatorRegressors& operators_;
  OperatorRegressors& collectives_;
  SampledSizes sizes_;
  std::array<double, 3> layers_{};  // Layers of a stage of each kind.
  std::map<std::string, Passes> passes_;
  BatchTime time_;
};

}  // namespace

absl::StatusOr<BatchTime> BatchTimeOf(const EstimatorTarget& target,
                                      OperatorRegressors& operators,
                                      OperatorRegressors& collectives) {
  return BatchEstimate(target, operators, collectives).Estimate();
}

}  // namespace astra
