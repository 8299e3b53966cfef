#include "collectives/registry.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "collectives/direct.h"
#include "collectives/ring.h"
#include "fmt/format.h"

namespace astra {
namespace {

constexpr CollectiveAlgorithm kAlgorithms[] = {
    {CollectiveKind::kAllReduce, "ring", &LowerRing, &RingSteps},
    {CollectiveKind::kAllGather, "ring", &LowerRing, &RingSteps},
    {CollectiveKind::kReduceScatter, "ring", &LowerRing, &RingSteps},
    {CollectiveKind::kAllToAll, "direct", &LowerDirect, &DirectSteps},
    {CollectiveKind::kSendRecv, "direct", &LowerDirect, &DirectSteps},
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
