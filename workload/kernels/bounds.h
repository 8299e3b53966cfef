// Formulas for the least time of a kernel at the peaks of a GPU, in
// microseconds: max(operations / peak, bytes / bandwidth). Each takes a call of
// its family; the columns are those of families.cc.

#ifndef WORKLOAD_KERNELS_BOUNDS_H_
#define WORKLOAD_KERNELS_BOUNDS_H_

#include "workload/kernels/expert_load.h"
#include "workload/kernels/kernel_call.h"
#include "workload/kernels/kernel_element.h"

namespace astra {

// Signature of all formulas.
using KernelBound = double(const KernelCall& call, const KernelPeaks& peaks,
                           ExpertLoads& loads);

// clang-format off
//                        operations            bytes
// products               2 m n k               m k a + n k w + 2 m n
// prefill attention      4 b h d P             b s h d (a + 2) + 2 b (s + past) kv d c
// decode attention       4 b h d K             2 b K kv d c + 4 b h d
// prefill of MLA         640 b h P             640 b s h
// decode of MLA          2176 b h (step + 1)   576 b (step + 1) c + 2176 b h
// a layer of MLA         its attention + 2 t W W w + cache + t (28672 + 1280 h | 2176 h)
// products within MLA    2 x h 128 512         h (128 x + 65536) e + 1024 h x
// experts                2 R hidden f M        A M hidden f w + R (hidden (a + 2) + f (2 (M - 1) + a))
// quantisation           0                     3 m k
// delta rule             10 t v 128^2 (6)      see bounds.cc
// clang-format on
//
// a, w, c: bytes of an activation, a weight, an entry of the cache; P: pairs of
// a query and a key that it sees; K: keys in the window; t: tokens; W: weights
// of DeepSeek-V3's attention with h heads; f: width of an expert on a rank; M:
// its matrices; R, A: rows and active experts of the busiest rank.
KernelBound GemmBound;
KernelBound ContextAttentionBound;
KernelBound GenerationAttentionBound;
KernelBound ContextMlaBound;
KernelBound GenerationMlaBound;
KernelBound MlaContextModuleBound;
KernelBound MlaGenerationModuleBound;
KernelBound MlaBmmBound;
KernelBound MoeBound;
KernelBound QuantisationBound;
KernelBound GatedDeltaBound;

}  // namespace astra

#endif  // WORKLOAD_KERNELS_BOUNDS_H_
