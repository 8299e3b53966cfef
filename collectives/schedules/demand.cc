#include "collectives/schedules/demand.h"

#include "astra-core/base/check.h"

namespace astra {
namespace {

enum class Cut { kWhole, kByRank, kByPair };

struct Demand {
  bool reduces;
  bool is_rooted;
  Cut cut;
};

Demand DemandOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return {true, false, Cut::kWhole};
    case CollectiveKind::kReduceScatter:
      return {true, false, Cut::kByRank};
    case CollectiveKind::kReduce:
      return {true, true, Cut::kWhole};
    case CollectiveKind::kAllGather:
      return {false, false, Cut::kByRank};
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return {false, true, Cut::kByRank};
    case CollectiveKind::kBroadcast:
      return {false, true, Cut::kWhole};
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return {false, false, Cut::kByPair};
    case CollectiveKind::kSendRecv:
      return {false, false, Cut::kWhole};
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(kind));
}

}  // namespace

bool ChunkedCollective::reduces() const { return DemandOf(kind).reduces; }

bool ChunkedCollective::is_rooted() const { return DemandOf(kind).is_rooted; }

uint32_t ChunkedCollective::num_parts() const {
  switch (DemandOf(kind).cut) {
    case Cut::kWhole:
      return 1;
    case Cut::kByRank:
      return num_ranks;
    case Cut::kByPair:
      return num_ranks * num_ranks;
  }
  ASTRA_CHECK(false, "cut of {}", Name(kind));
}

uint32_t ChunkedCollective::origin(uint32_t chunk) const {
  const uint32_t part = chunk / (num_chunks / num_parts());
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kGather:
      return part;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return part / num_ranks;
    case CollectiveKind::kSendRecv:
      return 0;
    default:
      return root;
  }
}

bool ChunkedCollective::Has(uint32_t rank, uint32_t chunk) const {
  return reduces() || rank == origin(chunk);
}

bool ChunkedCollective::Wants(uint32_t rank, uint32_t chunk) const {
  const uint32_t part = chunk / (num_chunks / num_parts());
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kBroadcast:
      return true;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kScatter:
      return rank == part;
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
      return rank == root;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kDispatch:
    case CollectiveKind::kCombine:
      return rank == part % num_ranks;
    case CollectiveKind::kSendRecv:
      return rank == 1;
  }
  ASTRA_CHECK(false, "collective kind {}", static_cast<int>(kind));
}

}  // namespace astra
