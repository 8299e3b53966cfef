// What a workload asks of the collectives library.

#ifndef COLLECTIVES_COLLECTIVE_REQUEST_H_
#define COLLECTIVES_COLLECTIVE_REQUEST_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/group_shape.h"

namespace astra {

// One collective operation of one group. A request that exists is valid, so
// the algorithms that read it have nothing left to check.
class CollectiveRequest {
 public:
  // Far beyond any cluster; keeps products of ranks within 64 bits.
  static constexpr uint32_t kMaxRanks = 1 << 24;

  // `bytes` is the larger of a rank's input and output buffers, the "size" of
  // nccl-tests: the input of a reduce-scatter, the output of an all-gather. A
  // send-recv goes from group rank 0 to group rank 1.
  //
  // Errors: InvalidArgument unless bytes >= 1, 2 <= num_ranks <= kMaxRanks, and
  // a send-recv has 2 ranks.
  static absl::StatusOr<CollectiveRequest> Create(CollectiveKind kind,
                                                  Bytes bytes,
                                                  GroupShape shape);

  CollectiveKind kind() const { return kind_; }
  Bytes bytes() const { return bytes_; }
  const GroupShape& shape() const { return shape_; }
  uint32_t num_ranks() const { return shape_.num_ranks; }

 private:
  CollectiveRequest(CollectiveKind kind, Bytes bytes, GroupShape shape)
      : kind_(kind), shape_(shape), bytes_(bytes) {}

  CollectiveKind kind_;
  GroupShape shape_;
  Bytes bytes_;
};

}  // namespace astra

#endif  // COLLECTIVES_COLLECTIVE_REQUEST_H_
