// Computes how long the multiply units of a GPU take for a matrix product.

#ifndef WORKLOAD_OPERATORS_GEMM_TIME_H_
#define WORKLOAD_OPERATORS_GEMM_TIME_H_

#include "workload/operators/gpu_spec.h"
#include "workload/operators/operator.h"

namespace astra {

// Returns the FLOP/s that the best matrix products reach. A precision without a
// unit on the GPU, or without a calibration, runs as the next wider one.
double GemmFlopsPerSecond(const GpuSpec& gpu, Precision precision);

// Returns the seconds that a product takes once its operands are at hand. The
// result is cut into tiles, and an SM computes one tile at a time, so that the
// last wave of tiles takes as long as a full one. The model tries a few tile
// shapes, of which larger ones are more efficient, and a few ways to split k
// over SMs, whose partial results pass through memory. The fastest combination
// counts. The time never falls as m, n, k or the number of groups grows.
//
// Source: NVIDIA, "Matrix Multiplication Background User's Guide", for tiles
// and waves; A. Kerr et al., "CUTLASS", for split k.
double GemmComputeTime(const GpuSpec& gpu, const Gemm& gemm,
                       Precision precision);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_GEMM_TIME_H_
