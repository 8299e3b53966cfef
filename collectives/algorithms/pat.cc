#include "collectives/algorithms/pat.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/bit_order.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"

namespace astra {
namespace {

// Calls `visit` with the first place and the length of each row of `places`.
template <class Visit>
void ForEachRow(std::vector<uint32_t>& places, const Visit& visit) {
  std::sort(places.begin(), places.end());
  for (size_t begin = 0; begin < places.size();) {
    size_t end = begin + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    visit(places[begin], static_cast<uint32_t>(end - begin));
    begin = end;
  }
}

class PatBuilder {
 public:
  explicit PatBuilder(uint32_t n)
      : n_(n), order_(BitOrder(n)), place_of_(PlacesIn(order_)), builder_(n) {}

  void AddChannel(bool gathers, uint32_t channel, uint32_t num_channels,
                  Bytes bytes) {
    for (const uint32_t part : order_) {
      builder_.AddChunk(
          Piece(Piece({0, bytes.count()}, part, n_), channel, num_channels));
    }
    const uint32_t farthest = std::bit_floor(n_ - 1);
    if (gathers) {
      for (uint32_t d = farthest; d > 0; d /= 2) AddStep(true, channel, d);
    } else {
      for (uint32_t d = 1; d <= farthest; d *= 2) AddStep(false, channel, d);
    }
  }

  std::unique_ptr<const FlowGraph> Build() && {
    return std::move(builder_).Build();
  }

 private:
  // Adds the messages between each rank and the rank `distance` further on.
  void AddStep(bool gathers, uint32_t channel, uint32_t distance) {
    std::vector<uint32_t> places;
    for (uint32_t i = 0; i < n_; ++i) {
      places.clear();
      for (uint32_t behind = 0; behind + distance < n_;
           behind += 2 * distance) {
        places.push_back(place_of_[(i + n_ - behind) % n_]);
      }
      const GroupRank near(i);
      const GroupRank far((i + distance) % n_);
      ForEachRow(places, [&](uint32_t first, uint32_t count) {
        const ChunkSpan chunks = {channel * n_ + first, count, channel};
        if (gathers) {
          builder_.Copy(near, far, chunks);
        } else {
          builder_.Reduce(far, near, chunks);
        }
      });
    }
  }

  uint32_t n_;
  std::vector<uint32_t> order_;     // Part at each place.
  std::vector<uint32_t> place_of_;  // Place of each part.
  CausalBuilder builder_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> PatPattern(
    const CollectiveRequest& request, Bytes bytes) {
  const bool gathers = request.kind() == CollectiveKind::kAllGather;
  ASTRA_CHECK(gathers || request.kind() == CollectiveKind::kReduceScatter,
              "{} on trees in parallel", Name(request.kind()));
  const uint32_t n = request.num_ranks();
  const uint32_t num_channels = NumChannels(request);
  const uint64_t most_flows = std::has_single_bit(n)
                                  ? uint64_t{n} * std::bit_width(n - 1)
                                  : uint64_t{n} * (n - 1);
  ASTRA_RETURN_IF_ERROR(CheckSize(kPatAlgorithm.name, request, {most_flows, n},
                                  num_channels, FlowGraph::kMaxStoredFlows));
  PatBuilder builder(n);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    builder.AddChannel(gathers, channel, num_channels, bytes);
  }
  return std::move(builder).Build();
}

}  // namespace astra
