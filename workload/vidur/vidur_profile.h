// Reads the tables of Vidur's profiler: samples of the operators of a model's
// layer for one degree of tensor parallelism.
//
// clang-format off
//   table          operators                        depend on
//   compute        attn_pre_proj, attn_post_proj,   num_tokens
//                  mlp_up_proj, mlp_down_proj,
//                  mlp_act, input_layernorm,
//                  post_attention_layernorm,
//                  attn_rope, add
//   attention      attn_kv_cache_save               max(prefill_chunk_size, batch_size)
//                  attn_prefill                     kv_cache_size, prefill_chunk_size^2
//                  attn_decode                      batch_size, kv_cache_size
//   all_reduce     all_reduce                       size / n_embd / 2
//   send_recv      send_recv                        size / n_embd / 2
//   cpu_overhead   schedule, sampler_e2e,           batch_size
//                  prepare_inputs_e2e,
//                  process_model_outputs,
//                  ray_comm_time
// clang-format on
//
// A time is the median in milliseconds (of ray_comm_time, the mean). Rows of
// other models, degrees, block sizes and nodes are left out. A time of 0, which
// the profiler writes for what is below a microsecond, counts as a nanosecond.
// A table without attn_kv_cache_save, a norm or add lets it take no time, as in
// Vidur, with a warning.
//
// Source: Vidur (microsoft/vidur, MIT),
// vidur/execution_time_predictor/sklearn_execution_time_predictor.py.

#ifndef WORKLOAD_VIDUR_VIDUR_PROFILE_H_
#define WORKLOAD_VIDUR_VIDUR_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/log.h"
#include "workload/regressors/training_set.h"
#include "workload/vidur/vidur_model.h"

namespace astra {

enum class VidurOperator : uint8_t {
  kAttnPreProj,
  kAttnPostProj,
  kMlpUpProj,
  kMlpDownProj,
  kMlpAct,
  kInputLayernorm,
  kPostAttentionLayernorm,
  kAttnRope,
  kAdd,
  kAttnKvCacheSave,
  kAttnPrefill,
  kAttnDecode,
  kAllReduce,
  kSendRecv,
  kSchedule,
  kSamplerE2e,
  kPrepareInputsE2e,
  kProcessModelOutputs,
  kRayCommTime,
};
inline constexpr std::array<std::string_view, 19> kVidurOperatorNames = {
    "attn_pre_proj",
    "attn_post_proj",
    "mlp_up_proj",
    "mlp_down_proj",
    "mlp_act",
    "input_layernorm",
    "post_attention_layernorm",
    "attn_rope",
    "add",
    "attn_kv_cache_save",
    "attn_prefill",
    "attn_decode",
    "all_reduce",
    "send_recv",
    "schedule",
    "sampler_e2e",
    "prepare_inputs_e2e",
    "process_model_outputs",
    "ray_comm_time"};

enum class VidurTable : uint8_t {
  kCompute,
  kAttention,
  kAllReduce,
  kSendRecv,
  kCpuOverhead
};
inline constexpr std::array<std::string_view, 5> kVidurTableNames = {
    "compute", "attention", "all_reduce", "send_recv", "cpu_overhead"};

// Samples by operator; empty for operators that take no time.
using VidurSamples = std::array<TrainingSet, kVidurOperatorNames.size()>;

// Adds the samples of a table for `replica`. `spans_nodes` chooses the rows of
// send_recv between nodes. Warns of a column that is not known, and of
// operators that the table lacks.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what CsvReader refuses,
// a missing column and an invalid value; "FILE: ..." if no row fits, with the
// values that the file has instead.
absl::Status ReadVidurTable(VidurTable table, std::string_view file,
                            std::string_view contents,
                            const VidurReplica& replica, bool spans_nodes,
                            VidurSamples* samples, Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_VIDUR_VIDUR_PROFILE_H_
