// The request that a collective algorithm carries out.

#ifndef COLLECTIVES_COLLECTIVE_REQUEST_H_
#define COLLECTIVES_COLLECTIVE_REQUEST_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "collectives/flow_graph.h"
#include "collectives/group_layout.h"

namespace astra {

// How an algorithm cuts the buffer, in NCCL's terms.
struct Chunking {
  // Channels that work in parallel, each on its share of the buffer. 0: as few
  // as use every NIC, which is 1 on one server, and on several one (or two
  // trees) for each rank of a server.
  uint32_t num_channels = 0;

  // Largest size that a channel moves in one step; a larger share takes several
  // loops. 0: no limit, so that there is one loop.
  Bytes max_chunk;

  // Number of messages in which a chunk is sent; they are pipelined.
  uint32_t slices_per_chunk = 1;

  friend auto operator<=>(const Chunking&, const Chunking&) = default;
};

// One collective operation of one group. Every request is valid, so the
// algorithms that read it need not check its values.
class CollectiveRequest {
 public:
  // Limit far beyond any cluster; products of ranks stay within 64 bits.
  static constexpr uint32_t kMaxRanks = 1 << 24;
  static constexpr uint32_t kMaxChannels = 64;  // NCCL's MAXCHANNELS.
  static constexpr uint32_t kMaxSlices = 64;

  // Creates a request. `bytes` is the larger of a rank's input and output
  // buffers, the "size" of nccl-tests: the input of a reduce-scatter, the
  // output of an all-gather. A send-recv goes from group rank 0 to group rank
  // 1.
  //
  // Errors: InvalidArgument unless bytes >= 1, 2 <= ranks <= kMaxRanks, and a
  // send-recv has 2 ranks.
  static absl::StatusOr<CollectiveRequest> Create(
      CollectiveKind kind, Bytes bytes,
      std::shared_ptr<const GroupLayout> layout);

  // Creates an all-to-all-v: rank i sends sizes[i * n + j] bytes to rank j.
  // Sizes from a rank to itself are ignored. bytes() is the most that one rank
  // sends or receives.
  //
  // Errors: InvalidArgument unless there are n * n sizes, none negative, and
  // one off the diagonal is positive.
  static absl::StatusOr<CollectiveRequest> AllToAllV(
      std::vector<int64_t> sizes, std::shared_ptr<const GroupLayout> layout);

  // Returns the request with other chunking. Errors: InvalidArgument beyond
  // kMaxChannels or kMaxSlices, or with 0 slices.
  absl::StatusOr<CollectiveRequest> With(const Chunking& chunking) const;

  // Returns the request with `root`, which only broadcast, reduce, gather and
  // scatter use. Errors: InvalidArgument unless it is a rank of the group.
  absl::StatusOr<CollectiveRequest> WithRoot(GroupRank root) const;

  CollectiveKind kind() const { return kind_; }
  Bytes bytes() const { return bytes_; }
  const GroupLayout& layout() const { return *layout_; }
  uint32_t num_ranks() const { return layout_->num_ranks(); }
  const Chunking& chunking() const { return chunking_; }
  GroupRank root() const { return root_; }

  // Returns part r of n of the buffer, for kinds whose buffer has a part for
  // each rank and for algorithms that cut it so. Sizes differ by at most one
  // byte, and the first parts are the larger ones.
  ByteRange Part(GroupRank r) const;

  // Returns what rank `source` sends to rank `target` in an all-to-all or
  // send-recv, as a range of the buffer of all ranks' parts.
  ByteRange PairPart(GroupRank source, GroupRank target) const;

 private:
  CollectiveRequest(CollectiveKind kind, Bytes bytes,
                    std::shared_ptr<const GroupLayout> layout)
      : kind_(kind), bytes_(bytes), layout_(std::move(layout)) {}

  CollectiveKind kind_;
  Bytes bytes_;
  std::shared_ptr<const GroupLayout> layout_;
  Chunking chunking_;
  GroupRank root_;
  // For an all-to-all-v: begin of each pair's part, n * n entries and the end.
  std::shared_ptr<const std::vector<int64_t>> pair_begin_;
};

}  // namespace astra

#endif  // COLLECTIVES_COLLECTIVE_REQUEST_H_
