// Chooses the algorithms that carry out the collectives of a run.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_FAMILY_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_FAMILY_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/parallel_dimension.h"
#include "collectives/group_layout.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/registry.h"

namespace astra {

enum class CollectiveFamily : uint8_t {
  kNccl,   // The algorithms, channels and chunks that NCCL would choose.
  kRing,   // Rings and direct messages; software adds no cost.
  kSimai,  // SimAI's algorithms; see SimaiAlgorithm().
};

// Returns the spelling in options and results: "nccl", "ring" or "simai".
std::string_view Name(CollectiveFamily family);

// Returns the family that --collectives names.
//
// Errors: InvalidArgument, with the names there are, for any other name.
absl::StatusOr<CollectiveFamily> FindCollectiveFamily(std::string_view name);

// Returns the algorithm that SimAI runs over a group with `layout`: rings for
// all-reduce, all-gather and reduce-scatter, direct messages for all-to-all.
// NVLS replaces the ring for TP all-reduces of 8 ranks or more on one server
// with an NVSwitch, if NCCL_ALGO of `options` names NVLS.
//
// Errors: Unimplemented for collectives that SimAI lacks, and if NCCL_ALGO
// excludes both Ring and NVLS.
//
// Source: SimAI v1.6, MockNcclGroup.cc, get_algo_proto_info.
absl::StatusOr<CollectiveAlgorithm> SimaiAlgorithm(CollectiveKind kind,
                                                   ParallelDimension dimension,
                                                   const GroupLayout& layout,
                                                   const NcclOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_FAMILY_H_
