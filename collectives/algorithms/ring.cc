#include "collectives/algorithms/ring.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/chunks.h"

namespace astra {
namespace {

// The steps of an all-reduce that make up a collective.
struct StepRange {
  uint32_t begin;
  uint32_t end;

  uint32_t size() const { return end - begin; }
};

StepRange StepsOf(CollectiveKind kind, uint32_t num_ranks) {
  const uint32_t half = num_ranks - 1;
  if (kind == CollectiveKind::kReduceScatter) return {0, half};
  if (kind == CollectiveKind::kAllGather) return {half, 2 * half};
  ASTRA_CHECK(kind == CollectiveKind::kAllReduce, "{} on a ring", Name(kind));
  return {0, 2 * half};
}

class RingGraph final : public FlowGraph {
 public:
  struct Dimensions {
    uint32_t num_loops;
    uint32_t num_slices;
    StepRange steps;
  };

  RingGraph(const CollectiveRequest& request, Rings rings,
            const Dimensions& dimensions)
      : FlowGraph(SizeOf(request, rings, dimensions)),
        n_(request.num_ranks()),
        num_channels_(rings.num_channels),
        num_slices_(dimensions.num_slices),
        num_loops_(dimensions.num_loops),
        steps_(dimensions.steps),
        request_(request),
        orders_(std::move(rings.orders)) {
    for (const std::vector<GroupRank>& order : orders_) {
      std::vector<uint32_t>& positions = positions_.emplace_back(n_);
      for (uint32_t p = 0; p < n_; ++p) positions[order[p].index()] = p;
    }
  }

  static Size SizeOf(const CollectiveRequest& request, const Rings& rings,
                     const Dimensions& dimensions) {
    const uint32_t n = request.num_ranks();
    const uint64_t num_chunks = uint64_t{dimensions.num_loops} *
                                rings.num_channels * dimensions.num_slices * n;
    return {.num_ranks = n,
            .num_members = n,
            .num_flows = num_chunks * dimensions.steps.size(),
            .num_chunks = static_cast<uint32_t>(num_chunks)};
  }

  Flow flow(FlowId id) const override {
    const Place place = PlaceOf(id);
    const uint32_t step = steps_.begin + place.step;
    const auto& order = OrderOf(place.channel);
    const GroupRank owner = order[(place.position + 2 * n_ - step - 1) % n_];
    const ChunkId chunk(
        ((place.loop * num_channels_ + place.channel) * num_slices_ +
         place.slice) *
            n_ +
        owner.index());
    return {.source = order[place.position],
            .target = order[(place.position + 1) % n_],
            .first_chunk = chunk,
            .bytes = Bytes(RingGraph::chunk(chunk).size()),
            .channel = static_cast<uint16_t>(place.channel),
            .op = step < n_ - 1 ? FlowOp::kReduce : FlowOp::kCopy};
  }

  ByteRange chunk(ChunkId chunk) const override {
    const uint32_t part = chunk.index() % n_;
    const uint32_t row = chunk.index() / n_;
    const uint32_t slice = row % num_slices_;
    const uint32_t channel = row / num_slices_ % num_channels_;
    const uint32_t loop = row / num_slices_ / num_channels_;
    const ByteRange share =
        Piece(request_.Part(GroupRank(part)), channel, num_channels_);
    return Piece(Piece(share, loop, num_loops_), slice, num_slices_);
  }

  uint32_t num_dependencies(FlowId id) const override {
    const Place place = PlaceOf(id);
    return place.step > 0 || place.loop > 0;
  }

  void AppendDependents(FlowId id, std::vector<FlowId>* out) const override {
    Place next = PlaceOf(id);
    next.position = (next.position + 1) % n_;
    if (next.step + 1 < steps_.size()) {
      ++next.step;
      out->push_back(IdOf(next));
      return;
    }
    if (next.loop + 1 == num_loops_ || next.slice + 1 < num_slices_) return;
    ++next.loop;
    next.step = 0;
    for (next.slice = 0; next.slice < num_slices_; ++next.slice) {
      out->push_back(IdOf(next));
    }
  }

  void AppendFirstFlows(GroupRank source,
                        std::vector<FlowId>* out) const override {
    Place first;
    for (uint32_t channel = 0; channel < num_channels_; ++channel) {
      first.channel = channel;
      first.position = positions_[channel % positions_.size()][source.index()];
      for (first.slice = 0; first.slice < num_slices_; ++first.slice) {
        out->push_back(IdOf(first));
      }
    }
  }

  uint64_t num_flows_of(GroupRank /*member*/) const override {
    return 2 * (num_flows() / n_);
  }

  // Loops, and their steps.
  std::vector<uint64_t> flows_per_round() const override {
    const uint64_t of_loop = num_flows() / num_loops_;
    return {of_loop, of_loop / steps_.size()};
  }

 private:
  struct Place {
    uint32_t loop = 0;
    uint32_t step = 0;  // Counted from steps_.begin.
    uint32_t channel = 0;
    uint32_t slice = 0;
    uint32_t position = 0;
  };

  const std::vector<GroupRank>& OrderOf(uint32_t channel) const {
    return orders_[channel % orders_.size()];
  }

  // PlaceOf and IdOf convert between a flow's number and its digits.
  Place PlaceOf(FlowId id) const {
    uint64_t rest = id.index();
    const auto digit = [&rest](uint32_t base) {
      const auto value = static_cast<uint32_t>(rest % base);
      rest /= base;
      return value;
    };
    Place place;
    place.position = digit(n_);
    place.slice = digit(num_slices_);
    place.channel = digit(num_channels_);
    place.step = digit(steps_.size());
    place.loop = static_cast<uint32_t>(rest);
    return place;
  }

  FlowId IdOf(const Place& place) const {
    uint64_t id = place.loop;
    id = id * steps_.size() + place.step;
    id = id * num_channels_ + place.channel;
    id = id * num_slices_ + place.slice;
    return FlowId(id * n_ + place.position);
  }

  uint32_t n_;
  uint32_t num_channels_;
  uint32_t num_slices_;
  uint32_t num_loops_;
  StepRange steps_;
  CollectiveRequest request_;
  std::vector<std::vector<GroupRank>> orders_;
  // Position of a rank in an order, by order and rank.
  std::vector<std::vector<uint32_t>> positions_;
};

// Returns the local rank at which a ring enters a server; it goes up or down
// from there.
uint32_t EntryOf(absl::Span<const GroupRank> ranks, const GroupLayout& layout,
                 uint32_t channel, bool goes_up, const GroupRank* left) {
  for (uint32_t local = 0; left != nullptr && local < ranks.size(); ++local) {
    if (layout.rail_of(ranks[local]) == layout.rail_of(*left)) return local;
  }
  const auto num_local = static_cast<uint32_t>(ranks.size());
  return (channel + (goes_up ? 0 : num_local - 1)) % num_local;
}

Rings RingsOf(const CollectiveRequest& request) {
  const GroupLayout& layout = request.layout();
  Rings rings = {
      .name = "ring", .num_channels = NumChannels(request), .orders = {}};
  const uint32_t num_orders =
      std::min(rings.num_channels, layout.min_ranks_per_server());
  for (uint32_t channel = 0; channel < num_orders; ++channel) {
    rings.orders.push_back(RingOrder(layout, channel));
  }
  return rings;
}

}  // namespace

std::vector<GroupRank> RingOrder(const GroupLayout& layout, uint32_t channel) {
  channel %= layout.min_ranks_per_server();
  std::vector<GroupRank> order;
  order.reserve(layout.num_ranks());
  for (uint32_t server = 0; server < layout.num_servers(); ++server) {
    const absl::Span<const GroupRank> ranks = layout.ranks_of(server);
    const auto num_local = static_cast<uint32_t>(ranks.size());
    const bool goes_up = server % 2 == 0;
    const uint32_t entry = EntryOf(ranks, layout, channel, goes_up,
                                   order.empty() ? nullptr : &order.back());
    for (uint32_t i = 0; i < num_local; ++i) {
      const uint32_t steps = goes_up ? i : num_local - i;
      order.push_back(ranks[(entry + steps) % num_local]);
    }
  }
  return order;
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerRings(
    const CollectiveRequest& request, Rings rings) {
  const uint32_t n = request.num_ranks();
  const ByteRange largest =
      Piece(request.Part(GroupRank(0)), 0, rings.num_channels);
  const uint64_t num_loops =
      NumPieces(Bytes(largest.size()), request.chunking().max_chunk);
  const uint32_t num_slices = request.chunking().slices_per_chunk;
  const StepRange steps = StepsOf(request.kind(), n);
  const uint64_t num_chunks = uint64_t{n} * rings.num_channels * num_slices;
  ASTRA_RETURN_IF_ERROR(CheckSize(
      rings.name, request,
      {.num_flows = num_chunks * steps.size(), .num_chunks = num_chunks},
      num_loops, FlowGraph::kMaxFlows));
  const RingGraph::Dimensions dimensions = {
      .num_loops = static_cast<uint32_t>(num_loops),
      .num_slices = num_slices,
      .steps = steps};
  return std::make_unique<RingGraph>(request, std::move(rings), dimensions);
}

StepSchedule RingsSteps(const CollectiveRequest& request, const Rings& rings) {
  const uint32_t n = request.num_ranks();
  const double share = 1 / (double{1} * n * rings.num_channels);
  ScheduleStep step = {.repeat = StepsOf(request.kind(), n).size(),
                       .flows = {}};
  for (uint32_t channel = 0; channel < rings.num_channels; ++channel) {
    const auto& order = rings.orders[channel % rings.orders.size()];
    for (uint32_t p = 0; p < n; ++p) {
      step.flows.push_back({order[p], order[(p + 1) % n], share});
    }
  }
  return {.steps = {std::move(step)}};
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerRing(
    const CollectiveRequest& request) {
  return LowerRings(request, RingsOf(request));
}

absl::StatusOr<StepSchedule> RingSteps(const CollectiveRequest& request) {
  return RingsSteps(request, RingsOf(request));
}

}  // namespace astra
