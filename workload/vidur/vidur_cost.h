// Times the steps of a replica in Vidur's way: one forest of decision trees for
// each operator, fitted to the tables of Vidur's profiler.
//
// clang-format off
//   step    = layers (attention + feed-forward + add) + (stages - 1) send_recv
//             + stages (schedule + sampler_e2e + prepare_inputs_e2e
//                       + process_model_outputs + ray_comm_time)
//   attention    = input_layernorm + attn_pre_proj + attn_rope
//                  + attn_kv_cache_save + attn_decode + attn_prefill
//                  + attn_post_proj + all-reduce
//   feed-forward = post_attention_layernorm + mlp_up_proj + mlp_act
//                  + mlp_down_proj + all-reduce
//   all-reduce   = all_reduce + launch + skew tp^1.25, of several GPUs
// clang-format on
//
// The positions of a step are rounded up to a multiple of 8, but for
// attn_kv_cache_save. attn_decode is of all decoding sequences with their mean
// cache; attn_prefill of one chunk whose square is the sum of the squares of
// all chunks, behind the sum of their caches. Caches are rounded up to
// `kv_granularity`. With grouped queries, several sequences take a share more
// (`prefill_overhead`, `decode_overhead`).
//
// Embeddings, the product with the vocabulary and sampling on the GPU take no
// time, as in Vidur.
//
// The forests are those of tree_model.h. Vidur's are scikit-learn's, with the
// sizes that do best in a cross-validation; scripts/compare_vidur measures the
// difference. A size halfway between two samples takes the time of the smaller
// one in scikit-learn's trees, and of the larger one in XGBoost's. Since
// rounded sizes lie on samples and halfway between their neighbours, XGBoost
// gets negated features here, which lets it do as scikit-learn. Forests answer
// with what they saw: Outside() counts the steps whose sizes the tables do not
// have.
//
// Source: Vidur (microsoft/vidur, MIT),
// vidur/execution_time_predictor/sklearn_execution_time_predictor.py and
// vidur/entities/execution_time.py.

#ifndef WORKLOAD_VIDUR_VIDUR_COST_H_
#define WORKLOAD_VIDUR_VIDUR_COST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "workload/regressors/tree_model.h"
#include "workload/serving/step.h"
#include "workload/vidur/vidur_model.h"
#include "workload/vidur/vidur_profile.h"

namespace astra {

struct VidurPredictorOptions {
  double prefill_overhead = 0.1;
  double decode_overhead = 0.1;
  double nccl_launch_ms = 0.02;
  double nccl_skew_ms = 0;  // Times tp^1.25.
  int64_t kv_granularity = 64;
};

class VidurCost : public StepCost {
 public:
  // Fits the forests. Errors: those of TreeModel.
  static absl::StatusOr<VidurCost> Create(const VidurReplica& replica,
                                          const VidurPredictorOptions& options,
                                          const VidurSamples& samples);

  TimePs TimeOf(const StepWork& work) override;

  // Returns the time of an operator in milliseconds; 0 without samples.
  double Milliseconds(VidurOperator which, absl::Span<const double> features);

  // Returns a line for operators that were asked for sizes outside of their
  // samples. Neighbours with the same sizes share a line.
  Warnings Outside() const;

 private:
  struct Range {
    std::string name;
    double least = 0;
    double most = 0;
  };
  struct Forest {
    explicit Forest(TreeModel fitted) : model(std::move(fitted)) {}

    TreeModel model;  // Of the negated features.
    std::vector<Range> ranges;
    std::map<std::vector<double>, double> known;  // Times that were asked for.
    int64_t asked = 0;
    int64_t outside = 0;
    std::vector<Range> asked_ranges;
  };

  VidurCost(const VidurReplica& replica, const VidurPredictorOptions& options)
      : replica_(replica), options_(options) {}

  // Says how often and where the forest was asked outside of its samples.
  static std::string TextOf(const Forest& forest);

  double OfTokens(VidurOperator which, int64_t tokens);
  int64_t RoundedCache(int64_t tokens) const;
  double DecodeMs(const StepWork& work);
  double PrefillMs(const StepWork& work);
  double LayerMs(const StepWork& work);
  double HostMs(int64_t sequences);

  VidurReplica replica_;
  VidurPredictorOptions options_;
  std::array<std::optional<Forest>, kVidurOperatorNames.size()> forests_;
};

}  // namespace astra

#endif  // WORKLOAD_VIDUR_VIDUR_COST_H_
