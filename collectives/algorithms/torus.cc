#include "collectives/algorithms/torus.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/causal_builder.h"
#include "collectives/algorithms/chunks.h"
#include "fmt/core.h"

namespace astra {
namespace {

uint32_t Sum(const std::vector<uint32_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), uint32_t{0});
}

struct Dimension {
  uint32_t size;
  uint32_t stride;  // Distance from a rank to its neighbour.
};

// One channel. Its chunks are numbered like ranks, with the first dimension of
// the channel as the highest digit. The chunks that remain to a rank after each
// dimension are thus in a row.
class TorusChannel {
 public:
  TorusChannel(std::vector<Dimension> dimensions, uint32_t n, uint32_t channel,
               CausalBuilder& builder)
      : dimensions_(std::move(dimensions)),
        n_(n),
        channel_(channel),
        builder_(builder) {}

  void AddFlows() {
    for (size_t d = 0; d < dimensions_.size(); ++d) ReduceScatter(d);
    for (size_t d = dimensions_.size(); d-- > 0;) AllGather(d);
  }

 private:
  uint32_t PositionOf(uint32_t rank, size_t d) const {
    return rank / dimensions_[d].stride % dimensions_[d].size;
  }

  GroupRank Successor(uint32_t rank, size_t d) const {
    const Dimension& dimension = dimensions_[d];
    const bool is_last = PositionOf(rank, d) + 1 == dimension.size;
    return GroupRank(rank + dimension.stride -
                     (is_last ? dimension.size * dimension.stride : 0));
  }

  // Returns the chunks of `position` in dimension `d`, out of the chunks that
  // remain to `rank` before this dimension.
  ChunkSpan Block(uint32_t rank, size_t d, uint32_t position) const {
    uint32_t first = 0;
    uint32_t size = n_;
    for (size_t i = 0; i <= d; ++i) {
      size /= dimensions_[i].size;
      first += size * (i < d ? PositionOf(rank, i) : position);
    }
    return {channel_ * n_ + first, size, channel_};
  }

  void ReduceScatter(size_t d) {
    const uint32_t size = dimensions_[d].size;
    for (uint32_t step = 0; step + 1 < size; ++step) {
      for (uint32_t rank = 0; rank < n_; ++rank) {
        const uint32_t block = (PositionOf(rank, d) + 2 * size - step - 1);
        builder_.Reduce(GroupRank(rank), Successor(rank, d),
                        Block(rank, d, block % size));
      }
    }
  }

  void AllGather(size_t d) {
    const uint32_t size = dimensions_[d].size;
    for (uint32_t step = 0; step + 1 < size; ++step) {
      for (uint32_t rank = 0; rank < n_; ++rank) {
        const uint32_t block = PositionOf(rank, d) + size - step;
        builder_.Copy(GroupRank(rank), Successor(rank, d),
                      Block(rank, d, block % size));
      }
    }
  }

  std::vector<Dimension> dimensions_;
  uint32_t n_;
  uint32_t channel_;
  CausalBuilder& builder_;
};

absl::StatusOr<std::unique_ptr<const FlowGraph>> TorusPattern(
    const PatternAlgorithm& algorithm, uint32_t num_dimensions,
    const CollectiveRequest& request, Bytes bytes) {
  const uint32_t n = request.num_ranks();
  const std::vector<uint32_t> sizes = TorusSizes(n, num_dimensions);
  if (sizes.empty()) {
    return absl::FailedPreconditionError(fmt::format(
        "{} needs a number of ranks that is the product of {} factors of at "
        "least 2; {} is not",
        algorithm.name, num_dimensions, n));
  }
  const uint32_t num_channels = NumChannels(request);
  ASTRA_RETURN_IF_ERROR(
      CheckSize(algorithm.name, request,
                {2 * uint64_t{n} * (Sum(sizes) - num_dimensions), n},
                num_channels, FlowGraph::kMaxStoredFlows));

  std::vector<Dimension> dimensions;
  uint32_t stride = 1;
  for (const uint32_t size : sizes) {
    dimensions.push_back({size, stride});
    stride *= size;
  }
  CausalBuilder builder(n);
  for (uint32_t channel = 0; channel < num_channels; ++channel) {
    for (uint32_t part = 0; part < n; ++part) {
      builder.AddChunk(
          Piece(Piece({0, bytes.count()}, part, n), channel, num_channels));
    }
    std::vector<Dimension> order = dimensions;
    std::rotate(order.begin(), order.begin() + channel % num_dimensions,
                order.end());
    TorusChannel(std::move(order), n, channel, builder).AddFlows();
  }
  return std::move(builder).Build();
}

}  // namespace

std::vector<uint32_t> TorusSizes(uint32_t n, uint32_t num_dimensions) {
  std::vector<uint32_t> best;
  const auto consider = [&](std::vector<uint32_t> sizes) {
    if (best.empty() || Sum(sizes) < Sum(best)) best = std::move(sizes);
  };
  for (uint32_t smallest = 2; smallest <= n / smallest; ++smallest) {
    if (n % smallest != 0) continue;
    if (num_dimensions == 2) {
      consider({n / smallest, smallest});
      continue;
    }
    std::vector<uint32_t> others = TorusSizes(n / smallest, 2);
    if (others.empty()) continue;
    others.push_back(smallest);
    consider(std::move(others));
  }
  std::sort(best.begin(), best.end(), std::greater<>());
  return best;
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> Torus2dPattern(
    const CollectiveRequest& request, Bytes bytes) {
  return TorusPattern(kTorus2dAlgorithm, 2, request, bytes);
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> Torus3dPattern(
    const CollectiveRequest& request, Bytes bytes) {
  return TorusPattern(kTorus3dAlgorithm, 3, request, bytes);
}

}  // namespace astra
