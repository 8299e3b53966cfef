#include "workload/serving/router.h"

#include <vector>

#include "astra-core/base/names.h"
#include "astra-core/base/random.h"

namespace astra {
namespace {

size_t RoundRobin(const RoutingCase& routing) {
  return routing.turn % routing.replicas.size();
}

size_t Random(const RoutingCase& routing) {
  constexpr uint64_t kPurpose = 0x726f757465;  // "route"
  return HashOf(routing.seed, kPurpose, routing.turn) % routing.replicas.size();
}

// The first of the replicas with the fewest sequences.
size_t LeastLoaded(const RoutingCase& routing) {
  size_t best = 0;
  for (size_t i = 1; i < routing.replicas.size(); ++i) {
    if (routing.replicas[i]->outstanding() <
        routing.replicas[best]->outstanding()) {
      best = i;
    }
  }
  return best;
}

// The replica that holds the longest prefix, of equal ones the least loaded.
// The least loaded of all where the prefix is shorter than kMinShare of the
// prompt, or where the loads differ too much.
//
// Source of the rule and its constants: SGLang's router, policy cache_aware
// (sgl-router: cache_threshold 0.3, balance_abs_threshold 64,
// balance_rel_threshold 1.5). It guesses the caches from past requests; this
// one looks into them.
size_t PrefixAware(const RoutingCase& routing) {
  constexpr double kMinShare = 0.3;
  constexpr int64_t kMaxDifference = 64;
  constexpr double kMaxRatio = 1.5;
  const size_t least = LeastLoaded(routing);
  const int64_t low = routing.replicas[least]->outstanding();
  int64_t high = low;
  size_t best = least;
  int64_t best_tokens = 0;
  for (size_t i = 0; i < routing.replicas.size(); ++i) {
    const Replica& replica = *routing.replicas[i];
    high = std::max(high, replica.outstanding());
    const int64_t tokens =
        replica.blocks()
            .Match(routing.request, routing.request.prompt_tokens - 1)
            .tokens;
    if (tokens > best_tokens ||
        (tokens == best_tokens &&
         replica.outstanding() < routing.replicas[best]->outstanding())) {
      best = i;
      best_tokens = tokens;
    }
  }
  const bool is_uneven =
      high - low > kMaxDifference &&
      static_cast<double>(high) > kMaxRatio * static_cast<double>(low);
  const bool is_short =
      static_cast<double>(best_tokens) <
      kMinShare * static_cast<double>(routing.request.prompt_tokens);
  return is_uneven || is_short ? least : best;
}

constexpr RouterKind kRouters[] = {
    {"round-robin", "each replica in turn", RoundRobin},
    {"least-loaded", "the fewest requests that have not ended", LeastLoaded},
    {"prefix-aware", "the longest cached prefix, unless loads differ much",
     PrefixAware},
    {"random", "any, by a seeded hash", Random},
};

}  // namespace

absl::Span<const RouterKind> Routers() { return kRouters; }

absl::StatusOr<const RouterKind*> FindRouter(std::string_view name) {
  std::vector<std::string_view> names;
  for (const RouterKind& router : kRouters) {
    if (IsNamed(name, router.name, {})) return &router;
    names.push_back(router.name);
  }
  return absl::InvalidArgumentError(UnknownName("router", name, names));
}

}  // namespace astra
