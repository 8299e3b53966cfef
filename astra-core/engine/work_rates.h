// The rates of an iteration: model FLOPs and tokens over its time.

#ifndef ASTRA_CORE_ENGINE_WORK_RATES_H_
#define ASTRA_CORE_ENGINE_WORK_RATES_H_

#include <string>

#include "astra-core/base/units.h"
#include "workload/program.h"

namespace astra {

// A rate is 0 if the program does not have the numbers for it.
//
// Counts the FLOPs of the model, forward and backward: products, and attention
// only where its mask lets it look, which is half of it if it is causal.
// Recomputation does not count. The model FLOPs utilisation (MFU) is defined in
// this way.
//
// Source: A. Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways",
// 2022, appendix B, which counts all of attention.
struct WorkRates {
  double tflops_per_gpu = 0;
  double utilisation = 0;  // Share of the GPU's peak, 0 to 1.
  double tokens_per_second = 0;
  double tokens_per_second_per_gpu = 0;
};

// Returns the rates of an iteration of `program` that takes `total`, above 0.
WorkRates RatesOf(const Program& program, TimePs total);

// Returns the rates as lines of text; empty if none is known.
std::string DescribeRates(const WorkRates& rates);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_WORK_RATES_H_
