// Predicts an iteration as Calculon does, from the inputs of its three files.
//
//   const CalculonCost cost = CalculonCostOf(inputs);
//   cost.times.total();   // Seconds of the iteration.
//   cost.space.tier1;     // Bytes of a processor.
//
// Calculon is an analytical model of transformers with tensor, pipeline and
// data parallelism: equal blocks, neither embedding nor output layer, no
// FlashAttention, no experts, no context parallelism, no latency of kernels.
// This library gives its numbers, for those who compare with it; the planner's
// own estimates are elsewhere. The headers of the parts say which properties
// of Calculon seem unintended and are kept for equal numbers.
//
// Source: M. Isaev et al., "Calculon: a Methodology and Tool for High-Level
// Codesign of Systems and Large Language Models", SC 2023, and
// https://github.com/calculon-ai/calculon (Apache-2.0), of which only formulas
// and names of keys were taken over.

#ifndef ASTRA_CORE_PLANNER_CALCULON_CALCULON_COST_H_
#define ASTRA_CORE_PLANNER_CALCULON_CALCULON_COST_H_

#include <optional>

#include "astra-core/planner/calculon/calculon_block.h"
#include "astra-core/planner/calculon/calculon_inputs.h"
#include "astra-core/planner/calculon/calculon_memory.h"
#include "astra-core/planner/calculon/calculon_times.h"

namespace astra {

// Bytes/s of the second memory that would hide offloading; none where a pass
// leaves no time beside its accesses to memory.
struct CalculonOffloadRates {
  std::optional<double> activations;
  std::optional<double> weights;
  std::optional<double> optimizer;
  std::optional<double> all;  // Of what the execution offloads.
};

struct CalculonCost {
  CalculonBlockCost block;
  CalculonTimes times;
  CalculonSpace space;
  CalculonOffloadRates offload_rates;

  // Shares: of the peak while computing; of the iteration that computes; their
  // product, which counts no recomputation.
  double compute_efficiency = 0;
  double system_efficiency = 0;
  double total_efficiency = 0;
  double sample_rate = 0;  // Sequences of all processors per second.
};

CalculonCost CalculonCostOf(const CalculonInputs& inputs);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_CALCULON_CALCULON_COST_H_
