// What is asked of a collective algorithm.

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
  // Channels that work beside one another, each on its share of the buffer. 0:
  // as few as use every NIC: 1 on one server, else one for each rank of a
  // server (and 2 trees).
  uint32_t num_channels = 0;

  // The most that a channel moves in one step; a larger share takes several
  // loops. 0: no limit, so that there is one loop.
  Bytes max_chunk;

  // A chunk is sent as that many messages, which are pipelined.
  uint32_t slices_per_chunk = 1;

  friend auto operator<=>(const Chunking&, const Chunking&) = default;
};

// One collective operation of one group. A request that exists is valid, so
// the algorithms that read it have nothing left to check of what is here.
class CollectiveRequest {
 public:
  // Far beyond any cluster; keeps products of ranks within 64 bits.
  static constexpr uint32_t kMaxRanks = 1 << 24;
  static constexpr uint32_t kMaxChannels = 64;  // NCCL's MAXCHANNELS.
  static constexpr uint32_t kMaxSlices = 64;

  // `bytes` is the larger of a rank's input and output buffers, the "size" of
  // nccl-tests: the input of a reduce-scatter, the output of an all-gather. A
  // send-recv goes from group rank 0 to group rank 1.
  //
  // Errors: InvalidArgument unless bytes >= 1, 2 <= ranks <= kMaxRanks, and
  // a send-recv has 2 ranks.
  static absl::StatusOr<CollectiveRequest> Create(
      CollectiveKind kind, Bytes bytes,
      std::shared_ptr<const GroupLayout> layout);

  // An all-to-all-v: rank i sends sizes[i * n + j] bytes to rank j; what it
  // would send to itself counts for nothing. bytes() is the most that one rank
  // sends or receives.
  //
  // Errors: InvalidArgument unless there are n * n sizes, none negative, one
  // positive off the diagonal.
  static absl::StatusOr<CollectiveRequest> AllToAllV(
      std::vector<int64_t> sizes, std::shared_ptr<const GroupLayout> layout);

  // The same request with other chunking. Errors: InvalidArgument beyond
  // kMaxChannels or kMaxSlices, or with 0 slices.
  absl::StatusOr<CollectiveRequest> With(const Chunking& chunking) const;

  // The same with `root` for broadcast, reduce, gather and scatter (else it
  // means nothing). Errors: InvalidArgument unless it is a rank of the group.
  absl::StatusOr<CollectiveRequest> WithRoot(GroupRank root) const;

  CollectiveKind kind() const { return kind_; }
  Bytes bytes() const { return bytes_; }
  const GroupLayout& layout() const { return *layout_; }
  uint32_t num_ranks() const { return layout_->num_ranks(); }
  const Chunking& chunking() const { return chunking_; }
  GroupRank root() const { return root_; }

  // Part r of n of the buffer, for kinds whose buffer has a part for each rank
  // (and for those who cut it so); sizes differ by at most one byte, the first
  // parts are the larger ones.
  ByteRange Part(GroupRank r) const;

  // What rank `source` sends to rank `target` in an all-to-all or send-recv, as
  // a range of the buffer of all ranks' parts.
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
  // Of an all-to-all-v: where each pair's part begins, n * n and the end.
  std::shared_ptr<const std::vector<int64_t>> pair_begin_;
};

}  // namespace astra

#endif  // COLLECTIVES_COLLECTIVE_REQUEST_H_
