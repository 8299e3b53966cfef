#include "collectives/algorithms/halving_doubling.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/bit_order.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"

namespace astra {
namespace {

// Builds the flows. Actors are the 2^k ranks that exchange: a pair's odd rank,
// or a single rank.
class HalvingDoubling {
 public:
  HalvingDoubling(CollectiveKind kind, uint32_t n)
      : kind_(kind),
        n_(n),
        num_actors_(std::bit_floor(n)),
        num_pairs_(n - num_actors_),
        order_(BitOrder(num_actors_)),
        place_of_(PlacesIn(order_)),
        builder_(n) {
    first_chunk_ = {0};
    for (const uint32_t actor : order_) {
      const bool has_two = HasParts() && actor < num_pairs_;
      first_chunk_.push_back(first_chunk_.back() + (has_two ? 2 : 1));
    }
  }

  uint32_t num_chunks() const { return first_chunk_.back(); }

  void AddChannel(uint32_t channel, uint32_t num_channels, Bytes bytes) {
    channel_ = channel;
    AddChunks(num_channels, bytes);
    Fold();
    if (kind_ != CollectiveKind::kAllGather) {
      for (uint32_t bit = 1; bit < num_actors_; bit *= 2) Halve(bit);
    }
    if (kind_ != CollectiveKind::kReduceScatter) {
      for (uint32_t bit = num_actors_ / 2; bit > 0; bit /= 2) Double(bit);
    }
    Unfold();
  }

  std::unique_ptr<const FlowGraph> Build() && {
    return std::move(builder_).Build();
  }

 private:
  // Returns true if there is a chunk for each rank, false if for each actor.
  bool HasParts() const { return kind_ != CollectiveKind::kAllReduce; }

  GroupRank RankOf(uint32_t actor) const {
    return GroupRank(actor < num_pairs_ ? 2 * actor + 1 : actor + num_pairs_);
  }

  void AddChunks(uint32_t num_channels, Bytes bytes) {
    const auto add = [&](uint32_t part, uint32_t num_parts) {
      builder_.AddChunk(Piece(Piece({0, bytes.count()}, part, num_parts),
                              channel_, num_channels));
    };
    for (const uint32_t actor : order_) {
      const uint32_t rank = RankOf(actor).index();
      if (!HasParts()) {
        add(actor, num_actors_);
        continue;
      }
      if (actor < num_pairs_) add(rank - 1, n_);
      add(rank, n_);
    }
  }

  ChunkSpan Chunks(uint32_t first, uint32_t end) const {
    return {channel_ * num_chunks() + first, end - first, channel_};
  }

  // Returns the chunks of all actors that agree with `actor` in the bits up to
  // `bit`.
  ChunkSpan ChunksLike(uint32_t actor, uint32_t bit) const {
    const uint32_t place = place_of_[actor & (2 * bit - 1)];
    return Chunks(first_chunk_[place],
                  first_chunk_[place + num_actors_ / (2 * bit)]);
  }

  void Halve(uint32_t bit) {
    for (uint32_t actor = 0; actor < num_actors_; ++actor) {
      const uint32_t other = actor ^ bit;
      builder_.Reduce(RankOf(actor), RankOf(other), ChunksLike(other, bit));
    }
  }

  void Double(uint32_t bit) {
    for (uint32_t actor = 0; actor < num_actors_; ++actor) {
      const uint32_t other = actor ^ bit;
      builder_.Copy(RankOf(actor), RankOf(other), ChunksLike(actor, bit));
    }
  }

  // Returns the chunk of a pair's even rank.
  ChunkSpan EvenPart(uint32_t pair) const {
    const uint32_t first = first_chunk_[place_of_[pair]];
    return Chunks(first, first + 1);
  }

  void Fold() {
    for (uint32_t pair = 0; pair < num_pairs_; ++pair) {
      const GroupRank even(2 * pair);
      if (kind_ == CollectiveKind::kAllGather) {
        builder_.Copy(even, RankOf(pair), EvenPart(pair));
      } else {
        builder_.Reduce(even, RankOf(pair), Chunks(0, num_chunks()));
      }
    }
  }

  void Unfold() {
    for (uint32_t pair = 0; pair < num_pairs_; ++pair) {
      const GroupRank even(2 * pair);
      if (kind_ == CollectiveKind::kAllReduce) {
        builder_.Copy(RankOf(pair), even, Chunks(0, num_chunks()));
      } else if (kind_ == CollectiveKind::kReduceScatter) {
        builder_.Copy(RankOf(pair), even, EvenPart(pair));
      } else {
        const uint32_t own = first_chunk_[place_of_[pair]];
        if (own > 0) builder_.Copy(RankOf(pair), even, Chunks(0, own));
        builder_.Copy(RankOf(pair), even, Chunks(own + 1, num_chunks()));
      }
    }
  }

  CollectiveKind kind_;
  uint32_t n_;
  uint32_t num_actors_;
  uint32_t num_pairs_;
  std::vector<uint32_t> order_;        // Actors by place.
  std::vector<uint32_t> place_of_;     // Place of each actor.
  std::vector<uint32_t> first_chunk_;  // First chunk by place, and the end.
  uint32_t channel_ = 0;
  CausalBuilder builder_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> HalvingDoublingPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const uint32_t n = request.num_ranks();
  const uint32_t num_channels = NumChannels(request);
  const uint64_t most_flows = 2 * uint64_t{n} * (std::bit_width(n) + 1);
  ASTRA_RETURN_IF_ERROR(CheckSize(kHalvingDoublingAlgorithm.name, request,
                                  {most_flows, n}, num_channels,
                                  FlowGraph::kMaxStoredFlows));
  HalvingDoubling algorithm(request.kind(), n);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    algorithm.AddChannel(channel, num_channels, bytes);
  }
  return std::move(algorithm).Build();
}

}  // namespace astra
