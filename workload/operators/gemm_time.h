// How long the multiply units of a GPU take for a matrix product.

#ifndef WORKLOAD_OPERATORS_GEMM_TIME_H_
#define WORKLOAD_OPERATORS_GEMM_TIME_H_

#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

// The FLOP/s that the best matrix products reach. A precision that the GPU has
// no unit for, or no calibration, runs as the next wider one.
double GemmFlopsPerSecond(const GpuSpec& gpu, Precision precision);

// Seconds, all operands being at hand. The result is cut into tiles; an SM
// computes one at a time, so that the last wave of tiles takes as long as a
// full one. Of a few shapes of tile, the larger the more efficient, and of a
// few ways to split k over SMs, whose partial results then go through memory,
// the fastest counts. It never falls as m, n, k or the groups grow.
//
// Source: NVIDIA, "Matrix Multiplication Background User's Guide", for tiles
// and waves; A. Kerr et al., "CUTLASS", for split k.
double GemmComputeTime(const GpuSpec& gpu, const Gemm& gemm,
                       Precision precision);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GEMM_TIME_H_
