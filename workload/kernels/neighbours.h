// Borrows the share of a shape that was not measured from the shapes nearest to
// it.

#ifndef WORKLOAD_KERNELS_NEIGHBOURS_H_
#define WORKLOAD_KERNELS_NEIGHBOURS_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "workload/kernels/family.h"
#include "workload/kernels/surface.h"

namespace astra {

// A measured shape and what it counts.
struct Neighbour {
  size_t line = 0;
  double distance = 0;  // Squared.
  double inverse = 0;   // Weight by the inverse distance; all sum up to 1.
  double linear = 0;    // Weight of the local plane; all sum up to 1.
};

// Returns the lines nearest to `call`, nearest first, at most as many as the
// family asks for. With `leaves_out_group`, lines of the group of the call are
// left out; see KernelFamily::group_sizes. Of families that know their kernels,
// only lines of the kernel of the call count, where there are two of them.
std::vector<Neighbour> FindNeighbours(const Surface& surface,
                                      const KernelCall& call,
                                      bool leaves_out_group);

// Sets `linear` of the neighbours, whose coordinates less those of the call are
// `offsets`:
//
//   w_i = 1 / (D_i + 0.05), normalised; D the squared distance
//   mu = sum w_i d_i,   S = sum w_i (d_i - mu) (d_i - mu)^T + 0.05 I
//   linear_i = w_i (1 - (d_i - mu) . S^-1 mu)
//
// This is the value at the call of the plane that fits the neighbours best,
// with slopes held back where they say little of them.
void SetLinearWeights(absl::Span<const KernelCoordinates> offsets,
                      size_t num_coordinates,
                      std::vector<Neighbour>& neighbours);

// Returns whether something like the call was measured: its own shape, or one
// that has each size within a factor of two, at a point that is near
// (Surface::IsNear).
bool HasMeasuredNear(const Surface& surface, const KernelCall& call);

// Returns the share of `call` from its neighbours, or none without any.
//
// Experts are read at tokens scaled by the square root of the ratio of topk /
// experts, so that an expert has as many rows. Of TensorRT-LLM's experts, whose
// rows are sometimes far off, the weighted median counts.
std::optional<SharePoint> ShareOfNeighbours(const Surface& surface,
                                            const KernelCall& call,
                                            bool leaves_out_group);

}  // namespace astra

#endif  // WORKLOAD_KERNELS_NEIGHBOURS_H_
