// Reads the values of an InternEvo config.py, written as YAML:
//
// clang-format off
//   data:     {seq_len, micro_bsz, micro_num (1)}
//   model:    {hidden_size, num_layers, num_attention_heads, vocab_size,
//              mlp_ratio, num_kv_attention_heads (num_attention_heads),
//              multiple_of (256), use_flash_attn (true), checkpoint (false)}
//   parallel: {zero1: {size (-1)}, tensor: {size (1), mode (mtp)},
//              pipeline: {size (1)}, weight: {size (1)}}
// clang-format on
//
// Values in brackets hold where a key is absent. `checkpoint` is true, false or
// the share of the blocks that are recomputed. A part of `parallel` may be its
// size alone (`tensor: 2`). A zero1 size of 0 or less means all replicas.
// Without `model`, --model_size says what is trained.
//
// Keys that InternEvo has beside these change no time here. The reader warns of
// them, a line for each mapping. Those that would change times (experts, FSDP,
// model chunks) are errors.
//
// Source: github.com/InternLM/InternEvo, configs/7B_internlm2.py, and
// internlm/initialize/launch.py for what absent keys mean.

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_CONFIG_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_model.h"

namespace astra {

struct EvoConfig {
  std::optional<EvoModel> model;
  int64_t seq_len = 0;
  EvoLayout layout;  // `zero` is 0 or less where all replicas are meant.
};

// Most tokens of a micro-batch, which keeps every time below its limit.
constexpr int64_t kMostEvoTokens = int64_t{1} << 24;

// Reads `contents`. `file` is its name in messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is no such file, a
// missing key, a value out of range, and sizes that contradict one another.
absl::StatusOr<EvoConfig> ReadEvoConfig(std::string_view file,
                                        std::string_view contents,
                                        Warnings* warnings);

// Returns a config that reads back as the same values.
std::string FormatEvoConfig(const EvoModel& model, int64_t seq_len,
                            const EvoLayout& layout);

// Checks that InternEvo can train with `layout`, whose `zero` is 1 or more.
//
// Errors: InvalidArgument that names the rule and the sizes.
absl::Status CheckEvoLayout(const EvoModel& model, int64_t seq_len,
                            int64_t world, const EvoLayout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_CONFIG_H_
