#include "workload/kernels/family.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "workload/kernels/bounds.h"

namespace astra {
namespace {

// Above every size of a model; no product of sizes overflows a double.
constexpr double kMaxSize = 1 << 30;

KernelCoordinates FirstSize(const KernelSizes& sizes) {
  return {std::log2(sizes[0])};
}

KernelCoordinates TwoSizes(const KernelSizes& sizes) {
  return {std::log2(sizes[0]), std::log2(sizes[1])};
}

// Kernels differ by the dimension of a head and by whether a window limits the
// keys, and again where each head has keys of its own.
KernelCoordinates AttentionCoordinates(const KernelSizes& sizes) {
  constexpr double kLongestWindow = 17;  // Logarithm; nearer to no window.
  const auto [heads, kv_heads, dim, window] =
      std::array{sizes[0], sizes[1], sizes[2], sizes[3]};
  return {std::log2(heads / kv_heads), std::log2(kv_heads), 4 * std::log2(dim),
          window > 0 ? 4 * (std::log2(window) - kLongestWindow) : 0,
          heads == kv_heads ? 8.0 : 0.0};
}

KernelCoordinates MoeCoordinates(const KernelSizes& sizes) {
  const auto [hidden, inter, topk, experts, split, ranks, matrices] = sizes;
  return {0.5 * std::log2(hidden), 0.5 * std::log2(inter / split),
          std::log2(topk), std::log2(std::max(experts / ranks, 1.0)),
          std::log2(experts)};
}

// clang-format off
using Names = std::string_view;
constexpr Names kGemmType[] = {"gemm_dtype"};
constexpr Names kContextTypes[] = {"attn_dtype", "kv_cache_dtype"};
constexpr Names kCacheType[] = {"kv_cache_dtype"};
constexpr Names kModuleTypes[] = {"mla_dtype", "kv_cache_dtype", "gemm_type"};
constexpr Names kBmmWords[] = {"op_name", "bmm_dtype"};
constexpr Names kMoeType[] = {"moe_dtype"};
constexpr Names kQuantType[] = {"quant_dtype"};
constexpr Names kKernel[] = {"kernel"};

constexpr Names kWidthDepth[] = {"n", "k"};
constexpr Names kDepth[] = {"k"};
constexpr Names kHeads[] = {"num_heads", "num_key_value_heads", "head_dim",
                            "window_size"};
constexpr Names kNumHeads[] = {"num_heads"};
constexpr Names kExpertSizes[] = {"hidden_size", "inter_size", "topk",
                              "num_experts", "moe_tp_size", "moe_ep_size",
                              "matrices"};
constexpr Names kDeltaHeads[] = {"num_k_heads", "num_v_heads"};

constexpr KernelAxis kRows[] = {{"m"}};
constexpr KernelAxis kTokens[] = {{"num_tokens"}};
constexpr KernelAxis kPrompts[] = {{"batch_size"}, {"isl", 0, false, true}};
constexpr KernelAxis kSteps[] = {{"batch_size"}, {"step", 1}};
constexpr KernelAxis kRouted[] = {{"distribution", 0, true}, {"num_tokens"}};
constexpr KernelAxis kSequences[] = {{"batch_size"}, {"seq_len"}};
// clang-format on

constexpr KernelFamily kFamilies[] = {
    {.name = "gemm",
     .op_names = "gemm",
     .words = kGemmType,
     .sizes = kWidthDepth,
     .axes = kRows,
     .group_sizes = 2,
     .bound_us = GemmBound,
     .num_coordinates = 2,
     .coordinates = TwoSizes,
     .num_neighbours = 6,
     .host_timed = "fp8_block"},
    {.name = "context_attention",
     .op_names = "context_attention",
     .words = kContextTypes,
     .sizes = kHeads,
     .axes = kPrompts,
     .group_sizes = 4,
     .bound_us = ContextAttentionBound,
     .num_coordinates = 5,
     .coordinates = AttentionCoordinates,
     .num_neighbours = 6,
     .efficiency = &Calibration::attention_forward},
    {.name = "generation_attention",
     .op_names = "generation_attention",
     .words = kCacheType,
     .sizes = kHeads,
     .axes = kSteps,
     .first_axis = 1,
     .group_sizes = 4,
     .bound_us = GenerationAttentionBound,
     .num_coordinates = 5,
     .coordinates = AttentionCoordinates,
     .num_neighbours = 6,
     .transfer_power = 0.75,
     .merge = BackendMerge::kGeometricMean},
    {.name = "context_mla",
     .op_names = "context_mla mla_context",
     .words = kCacheType,
     .sizes = kNumHeads,
     .axes = kPrompts,
     .group_sizes = 1,
     .bound_us = ContextMlaBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3,
     .efficiency = &Calibration::attention_forward,
     .backend = "trtllm"},
    {.name = "generation_mla",
     .op_names = "generation_mla mla_generation",
     .words = kCacheType,
     .sizes = kNumHeads,
     .axes = kSteps,
     .first_axis = 1,
     .group_sizes = 1,
     .bound_us = GenerationMlaBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3,
     .backend = "trtllm"},
    {.name = "mla_context_module",
     .op_names = "mla_context_module",
     .words = kModuleTypes,
     .sizes = kNumHeads,
     .axes = kPrompts,
     .group_sizes = 1,
     .bound_us = MlaContextModuleBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3,
     .backend = "trtllm"},
    {.name = "mla_generation_module",
     .op_names = "mla_generation_module",
     .words = kModuleTypes,
     .sizes = kNumHeads,
     .axes = kSteps,
     .first_axis = 1,
     .group_sizes = 1,
     .bound_us = MlaGenerationModuleBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3,
     .backend = "trtllm"},
    {.name = "mla_bmm",
     .op_names = "mla_gen_pre mla_gen_post",
     .words = kBmmWords,
     .sizes = kNumHeads,
     .axes = kTokens,
     .group_sizes = 1,
     .bound_us = MlaBmmBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3},
    {.name = "moe",
     .op_names = "moe",
     .words = kMoeType,
     .sizes = kExpertSizes,
     .axes = kRouted,
     .first_axis = 1,
     .group_sizes = 4,
     .bound_us = MoeBound,
     .num_coordinates = 5,
     .coordinates = MoeCoordinates,
     .num_neighbours = 8,
     .neighbour_error = 0.08,
     .transfer_power = 0.75,
     .merge = BackendMerge::kLesser,
     .has_kernels = true,
     .is_of_engine = true},
    {.name = "computescale",
     .op_names = "compute_scale computescale",
     .words = kQuantType,
     .sizes = kDepth,
     .axes = kRows,
     .group_sizes = 1,
     .bound_us = QuantisationBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3},
    {.name = "scale_matrix",
     .op_names = "scale_matrix",
     .words = kQuantType,
     .sizes = kDepth,
     .axes = kRows,
     .group_sizes = 1,
     .bound_us = QuantisationBound,
     .num_coordinates = 1,
     .coordinates = FirstSize,
     .num_neighbours = 3},
    {.name = "gdn",
     .op_names = "gdn",
     .words = kKernel,
     .sizes = kDeltaHeads,
     .axes = kSequences,
     .group_sizes = 2,
     .bound_us = GatedDeltaBound,
     .num_coordinates = 2,
     .coordinates = TwoSizes,
     .num_neighbours = 4},
};

// Returns whether `list`, with spaces between its words, has the word.
bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

}  // namespace

KernelRange RangeOfSize(std::string_view column) {
  if (column == "window_size") return {0, kMaxSize};
  // The draws of expert_load.h take time for each expert.
  constexpr double kMaxExperts = 1 << 16;
  return {1, column == "num_experts" ? kMaxExperts : kMaxSize};
}

KernelRange RangeOfAxis(const KernelAxis& axis) {
  constexpr double kMaxExponent = 8;  // Exponent of the experts' power law.
  return {0, axis.is_discrete ? kMaxExponent : kMaxSize};
}

absl::Span<const KernelFamily> KernelFamilies() { return kFamilies; }

const KernelFamily* FindKernelFamily(std::string_view name) {
  for (const KernelFamily& family : KernelFamilies()) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

const KernelFamily* FamilyOfOpName(std::string_view op_name) {
  for (const KernelFamily& family : KernelFamilies()) {
    if (HasWord(family.op_names, op_name)) return &family;
  }
  return nullptr;
}

}  // namespace astra
