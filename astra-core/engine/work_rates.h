// What an iteration achieves: model FLOPs and tokens in its time.

#ifndef ASTRA_CORE_ENGINE_WORK_RATES_H_
#define ASTRA_CORE_ENGINE_WORK_RATES_H_

#include <string>

#include "astra-core/base/units.h"
#include "workload/program.h"

namespace astra {

// 0 where the program says too little.
//
// FLOPs are those of the model, forward and backward: of products, and of
// attention only where its mask lets it look, which is half of it if it is
// causal; without what is computed a second time. That is what the model FLOPs
// utilisation (MFU) counts.
//
// Source: A. Chowdhery et al., "PaLM: Scaling Language Modeling with Pathways",
// 2022, appendix B, which counts all of attention.
struct WorkRates {
  double tflops_per_gpu = 0;
  double utilisation = 0;  // Of the peak that the program names, 0 to 1.
  double tokens_per_second = 0;
  double tokens_per_second_per_gpu = 0;
};

// Of an iteration of `program` that takes `total`, above 0.
WorkRates RatesOf(const Program& program, TimePs total);

// As lines of text; empty where nothing is known.
std::string DescribeRates(const WorkRates& rates);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_WORK_RATES_H_
