// Reads the three JSON files of SimuMax: a model, a strategy, and a system.
//
//   Warnings warnings;
//   ASTRA_ASSIGN_OR_RETURN(
//       const SimumaxFiles files,
//       ReadSimumaxFiles({"llama3-8b.json", "tp1_pp2.json", "a100.json"},
//                        &warnings));
//
// A key that SimuMax does not know, or that changes nothing, is a warning with
// its place and the nearest key, because the files come from another tool. An
// absent key, or one that is null, has the value that SimuMax gives it.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that is no JSON, a
// missing key, a value of the wrong type or beyond its range, a broken rule of
// SimuMax with the nearest legal value, and a setting that this program cannot
// express.
//
// Source of the keys, defaults and rules: SimuMax 1.2 (MooreThreads/SimuMax),
// simumax/core/config.py, ModelConfig, StrategyConfig and SystemConfig.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_SIMUMAX_FILES_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_SIMUMAX_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"

namespace astra {

// SimuMax counts two bytes (BF16) for each value of weights and activations.
inline constexpr int64_t kValueBytes = 2;

// SimuMax says times in milliseconds.
inline constexpr double kMsPerSecond = 1e3;

struct SimumaxModel {
  std::string file;  // Name of the file in messages.
  std::string name;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;  // 0 where the attention is latent.
  int64_t ffn = 0;        // Width of the dense feed-forward part.
  int64_t layers = 0;
  int64_t vocabulary = 0;  // Without padding.
  bool gated = false;      // SwiGLU rather than GELU.

  int64_t experts = 1;  // 1: no block has experts.
  int64_t top_k = 0;    // Experts of a token; 0: not stated.
  int64_t expert_ffn = 0;
  int64_t shared_ffn = 0;    // Width of all shared experts together, or 0.
  int64_t dense_layers = 0;  // Blocks before the first one with experts.
  double capacity = 1;       // Tokens of an expert, divided by the mean.
  bool pads_experts = true;  // Every expert gets the same whole number.
  bool is_moe = false;       // What model_type says.

  bool is_latent = false;  // Attention type "mla".
  int64_t q_lora_rank = 0;
  int64_t kv_lora_rank = 0;
  int64_t nope_head_dim = 0;
  int64_t rope_head_dim = 0;
  int64_t v_head_dim = 0;

  bool pads_vocabulary = true;
  int64_t vocabulary_divisor = 128;  // Times TP.
};

// What a block runs again in its backward pass.
enum class SimumaxGranularity : uint8_t {
  kNone,
  kFullBlock,
  kMlpOnly,    // The norm before the feed-forward part, and that part.
  kSdpOnly,    // Scores and weighted sums.
  kSelective,  // What the flags of SimumaxRecompute name.
  kMegatron,   // What Megatron-LM names, without its outputs.
};

struct SimumaxRecompute {
  SimumaxGranularity granularity = SimumaxGranularity::kNone;
  std::string name;             // The value of recompute_granularity.
  int64_t layers = 0;           // First blocks of each stage that recompute.
  bool attention = false;       // attn_recompute
  bool attention_norm = false;  // mla_rms_recompute
  bool mlp = false;             // mlp_recompute
  bool mlp_norm = false;        // mlp_rms_recompute
  bool skips_tails = false;     // recompute_variance
  std::vector<std::string> megatron;  // megatron_recompute_modules
};

struct SimumaxStrategy {
  std::string file;
  // "FILE:LINE:COLUMN" of each key, for errors that depend on the model as
  // well.
  std::map<std::string, std::string, std::less<>> places;
  int64_t sequence = 0;  // Positions of a sequence.
  int64_t micro_batch = 0;
  int64_t micro_batches = 0;
  int64_t gpus = 8;
  int64_t tensor = 1;
  int64_t context = 1;
  int64_t pipeline = 1;
  int64_t expert = 1;
  int64_t expert_tensor = 1;
  int64_t chunks = 1;  // interleaving_size
  std::optional<int64_t> first_stage_layers;
  std::optional<int64_t> last_stage_layers;
  bool account_for_embedding = false;
  bool account_for_loss = false;
  bool sequence_parallel = true;
  int64_t zero = 1;            // 0 or 1.
  int64_t gradient_bytes = 4;  // 2 or 4.
  bool fp8 = false;
  bool fused_loss = false;           // cross_entropy_loss_fusion
  bool sends_probabilities = false;  // dispatch_probs
  bool has_stragglers = true;        // enable_straggler_model
  double sparse_share = 0;           // attention_sparse_ratio
  double memory_share = 0.94;        // mem_factor
  std::string transformer_engine;    // te_version; empty: not stated.
  SimumaxRecompute recompute;

  int64_t data() const { return gpus / (tensor * context * pipeline); }
  int64_t expert_data() const {
    return gpus / (expert * expert_tensor * pipeline);
  }
  int64_t global_batch() const { return micro_batch * micro_batches * data(); }
};

// One of accelerator.op.
struct SimumaxOperator {
  double tflops = 0;
  double efficiency = 0;                   // Where the shape is not listed.
  std::map<std::string, double> by_shape;  // accurate_efficient_factor
};

// One of accelerator.bandwidth, or the bandwidth of a network.
struct SimumaxBandwidth {
  double gib_per_second = 0;
  double efficiency = 0;
  double latency_us = 0;
  double fixed_latency_us = 0;
  std::map<int64_t, double> fixed_latency_by_ranks;  // In microseconds.
};

// One of the operations of a network.
struct SimumaxCollective {
  double scale = 1;
  double offset = 0;
  std::optional<double> efficiency;  // None: that of the network's bandwidth.
  std::optional<double> latency_us;  // None: that of the network's bandwidth.
  std::optional<double> fixed_latency_us;
  std::map<int64_t, double> fixed_latency_by_ranks;
  std::map<int64_t, double> data_gib_per_second;  // dp_fixed_bw
};

struct SimumaxNetwork {
  SimumaxBandwidth bandwidth;
  std::map<std::string, SimumaxCollective, std::less<>> operations;
};

struct SimumaxSystem {
  std::string file;
  std::string name;
  int64_t gpus_per_node = 8;
  double memory_gib = 0;            // Of a GPU.
  bool is_roofline = true;          // Otherwise only compute counts.
  bool is_fully_connected = false;  // FC8
  bool has_pcie = false;            // intra_with_pcie
  std::map<std::string, SimumaxOperator, std::less<>> operators;
  std::map<std::string, SimumaxBandwidth, std::less<>> bandwidths;
  std::map<std::string, SimumaxNetwork, std::less<>> networks;
};

// `file` names the file in messages.
absl::StatusOr<SimumaxModel> ParseSimumaxModel(std::string_view file,
                                               std::string_view contents,
                                               Warnings* warnings);
absl::StatusOr<SimumaxStrategy> ParseSimumaxStrategy(std::string_view file,
                                                     std::string_view contents,
                                                     Warnings* warnings);
absl::StatusOr<SimumaxSystem> ParseSimumaxSystem(std::string_view file,
                                                 std::string_view contents,
                                                 Warnings* warnings);

struct SimumaxFiles {
  SimumaxModel model;
  SimumaxStrategy strategy;
  SimumaxSystem system;
};

struct SimumaxPaths {
  std::string model;
  std::string strategy;
  std::string system;
};

// Errors: also those of ReadFile.
absl::StatusOr<SimumaxFiles> ReadSimumaxFiles(const SimumaxPaths& paths,
                                              Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_SIMUMAX_FILES_H_
