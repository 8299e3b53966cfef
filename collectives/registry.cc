#include "collectives/registry.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "collectives/algorithms/chain.h"
#include "collectives/algorithms/collnet.h"
#include "collectives/algorithms/direct.h"
#include "collectives/algorithms/halving_doubling.h"
#include "collectives/algorithms/nvls.h"
#include "collectives/algorithms/nvls_tree.h"
#include "collectives/algorithms/pat.h"
#include "collectives/algorithms/pipelined.h"
#include "collectives/algorithms/pxn.h"
#include "collectives/algorithms/ring.h"
#include "collectives/algorithms/shots.h"
#include "collectives/algorithms/simai.h"
#include "collectives/algorithms/torus.h"
#include "collectives/algorithms/tree.h"
#include "fmt/core.h"

namespace astra {
namespace {

using enum CollectiveKind;

// Returns the table entry of an algorithm that is a pattern.
template <const PatternAlgorithm& kAlgorithm>
constexpr CollectiveAlgorithm Of(CollectiveKind kind,
                                 bool needs_reducers = false,
                                 bool is_out_of_place = false) {
  return {
      kind,           kAlgorithm.name, &Lower<kAlgorithm>, &Steps<kAlgorithm>,
      needs_reducers, is_out_of_place};
}

// Table of the algorithms; the first of a kind is its default.
constexpr CollectiveAlgorithm kAlgorithms[] = {
    {kAllReduce, "ring", &LowerRing, &RingSteps},
    Of<kTreeAlgorithm>(kAllReduce),
    Of<kNvlsAlgorithm>(kAllReduce),
    Of<kNvlsTreeAlgorithm>(kAllReduce),
    Of<kCollnetDirectAlgorithm>(kAllReduce, /*needs_reducers=*/true),
    Of<kCollnetChainAlgorithm>(kAllReduce, /*needs_reducers=*/true),
    Of<kHalvingDoublingAlgorithm>(kAllReduce),
    Of<kTorus2dAlgorithm>(kAllReduce),
    Of<kTorus3dAlgorithm>(kAllReduce),
    Of<kOneShotAlgorithm>(kAllReduce, /*needs_reducers=*/false,
                          /*is_out_of_place=*/true),
    Of<kTwoShotAlgorithm>(kAllReduce),
    {kAllReduce, "simai_ring", &LowerSimaiRing, &SimaiRingSteps},
    {kAllReduce, "simai_nvls", &LowerSimaiNvls, &SimaiNvlsSteps},

    {kAllGather, "ring", &LowerRing, &RingSteps},
    Of<kNvlsAlgorithm>(kAllGather),
    Of<kPatAlgorithm>(kAllGather),
    Of<kHalvingDoublingAlgorithm>(kAllGather),
    {kAllGather, "simai_ring", &LowerSimaiRing, &SimaiRingSteps},

    {kReduceScatter, "ring", &LowerRing, &RingSteps},
    Of<kNvlsAlgorithm>(kReduceScatter),
    Of<kPatAlgorithm>(kReduceScatter),
    Of<kHalvingDoublingAlgorithm>(kReduceScatter),
    {kReduceScatter, "simai_ring", &LowerSimaiRing, &SimaiRingSteps},

    {kAllToAll, "direct", &LowerDirect, &DirectSteps},
    Of<kPxnAlgorithm>(kAllToAll),
    {kAllToAll, "simai_direct", &LowerSimaiDirect, &DirectSteps},

    {kSendRecv, "direct", &LowerDirect, &DirectSteps},

    Of<kChainAlgorithm>(kBroadcast),
    Of<kChainAlgorithm>(kReduce),

    {kGather, "direct", &LowerDirect, &DirectSteps},
    {kScatter, "direct", &LowerDirect, &DirectSteps},

    {kDispatch, "direct", &LowerDirect, &DirectSteps},
    Of<kPxnAlgorithm>(kDispatch),
    {kDispatch, "simai_direct", &LowerSimaiDirect, &DirectSteps},

    {kCombine, "direct", &LowerDirect, &DirectSteps},
    Of<kPxnAlgorithm>(kCombine),
    {kCombine, "simai_direct", &LowerSimaiDirect, &DirectSteps},
};

}  // namespace

absl::Span<const CollectiveAlgorithm> CollectiveAlgorithms() {
  return kAlgorithms;
}

absl::StatusOr<CollectiveAlgorithm> FindCollectiveAlgorithm(
    CollectiveKind kind, std::string_view name) {
  std::vector<std::string_view> known;
  for (const CollectiveAlgorithm& algorithm : kAlgorithms) {
    if (algorithm.kind != kind) continue;
    if (algorithm.name == name) return algorithm;
    known.push_back(algorithm.name);
  }
  return absl::NotFoundError(
      UnknownName(fmt::format("{} algorithm", Name(kind)), name, known));
}

const CollectiveAlgorithm& DefaultCollectiveAlgorithm(CollectiveKind kind) {
  for (const CollectiveAlgorithm& algorithm : kAlgorithms) {
    if (algorithm.kind == kind) return algorithm;
  }
  ASTRA_CHECK(false, "no algorithm for {}", Name(kind));
}

}  // namespace astra
