// The model that InternEvo's simulator reckons with: a decoder with RMS norms,
// rotary positions, grouped keys and values, and SwiGLU.
//
// A block has, for hidden size h, g = kv_heads / heads and f = ffn:
//
//   h h (1 + 2 g)  queries, keys and values      h h    output of attention
//   3 h f          gate, up and down             2 h    two norms
//
// The model adds an embedding and a head of vocabulary x h each, and a norm.
//
// Source: github.com/CokeDong/InternEvo, branch simulator,
// internlm/simulator/common.py (cal_block_p_elem, cal_model_p_elem).

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_MODEL_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_MODEL_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace astra {

struct EvoModel {
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t vocabulary = 0;
  int64_t ffn = 0;  // Inner width of the feed-forward part.
  bool flash_attention = true;

  double head_size() const {
    return static_cast<double>(hidden) / static_cast<double>(heads);
  }
  // Returns keys and values for each query: 1 where nothing is grouped.
  double kv_share() const {
    return static_cast<double>(kv_heads) / static_cast<double>(heads);
  }

  friend bool operator==(const EvoModel&, const EvoModel&) = default;
};

// Returns the width of the feed-forward part: `ratio` x `hidden` without
// decimals, rounded up to a multiple of `multiple_of`.
int64_t EvoFfn(int64_t hidden, double ratio, int64_t multiple_of);

// Returns the parameters of the five weight matrices of a block: queries, keys
// and values together; output of attention; gate; up; down.
std::array<double, 5> BlockWeights(const EvoModel& model);

double BlockParameters(const EvoModel& model);
double EmbeddingParameters(const EvoModel& model);  // The head has as many.
double ModelParameters(const EvoModel& model);

// Returns the model of --model_size, in billions of parameters; none for a size
// that is not in the table: 7, 13, 20, 30, 65, 104. All have 103168 words, no
// grouped keys, and a feed-forward part of 8/3 in multiples of 256.
//
// Source: as above, get_model_config().
std::optional<EvoModel> EvoModelOfSize(int64_t billions);

// Returns the sizes for messages: "7, 13, 20, 30, 65, 104".
std::string EvoModelSizes();

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_MODEL_H_
