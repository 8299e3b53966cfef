// The collective operations a workload can ask for, under their MPI and NCCL
// names, and the factor that turns their algorithm bandwidth into bus
// bandwidth.
//
// The two all-to-alls of expert parallelism have kinds of their own: a dispatch
// brings tokens to their experts, and a combine brings the results back, where
// they are summed. A library may have kernels for them, under these names.
// Without such a library, both run as an all-to-all.
//
// Source of the names: DeepEP, github.com/deepseek-ai/DeepEP, README.md.

#ifndef ASTRA_CORE_BASE_COLLECTIVE_KIND_H_
#define ASTRA_CORE_BASE_COLLECTIVE_KIND_H_

#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"

namespace astra {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSendRecv,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kDispatch,
  kCombine,
};

constexpr CollectiveKind kCollectiveKinds[] = {
    CollectiveKind::kAllReduce,     CollectiveKind::kAllGather,
    CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
    CollectiveKind::kSendRecv,      CollectiveKind::kBroadcast,
    CollectiveKind::kReduce,        CollectiveKind::kGather,
    CollectiveKind::kScatter,       CollectiveKind::kDispatch,
    CollectiveKind::kCombine,
};

// Returns the name used in results and messages, such as "all-reduce".
constexpr std::string_view Name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "all-reduce";
    case CollectiveKind::kAllGather:
      return "all-gather";
    case CollectiveKind::kReduceScatter:
      return "reduce-scatter";
    case CollectiveKind::kAllToAll:
      return "all-to-all";
    case CollectiveKind::kSendRecv:
      return "send-recv";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kReduce:
      return "reduce";
    case CollectiveKind::kGather:
      return "gather";
    case CollectiveKind::kScatter:
      return "scatter";
    case CollectiveKind::kDispatch:
      return "dispatch";
    case CollectiveKind::kCombine:
      return "combine";
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(kind));
}

// Returns whether `kind` has the pattern of an all-to-all: each rank sends a
// different part of its buffer to each rank.
constexpr bool IsAllToAll(CollectiveKind kind) {
  return kind == CollectiveKind::kAllToAll ||
         kind == CollectiveKind::kDispatch || kind == CollectiveKind::kCombine;
}

// Returns whether a dispatcher of experts' tokens can run the collective.
constexpr bool IsOfExperts(CollectiveKind kind) {
  return kind == CollectiveKind::kDispatch || kind == CollectiveKind::kCombine;
}

// Returns bus bandwidth over algorithm bandwidth, which is buffer size over
// time. The factor is the share of the buffer that crosses the port of a rank.
//
// Source: nccl-tests, doc/PERFORMANCE.md.
constexpr double BusBandwidthFactor(CollectiveKind kind, uint32_t num_ranks) {
  const double n = num_ranks;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return (n - 1) / n;
    case CollectiveKind::kSendRecv:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return 1;
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(kind));
}

}  // namespace astra

#endif  // ASTRA_CORE_BASE_COLLECTIVE_KIND_H_
