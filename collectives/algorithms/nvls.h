// Collectives on one server whose NVSwitch adds up what ranks hold and copies
// what one rank writes to all (NVLink SHARP).
//
// Every rank is the head of its part of the buffer, one of n. A channel handles
// its share of every part and uses one of the NVSwitches: channel c uses
// NVSwitch c (modulo their number).
//
//   reduce-scatter  all n ranks send a part to the NVSwitch, which sends the
//                   sum to the head
//   all-gather      the head sends its part to the NVSwitch, which sends it to
//                   all n ranks
//   all-reduce      the one, then the other
//
//                   hops   a rank sends     a rank receives
//   reduce-scatter  2      S                S/n
//   all-gather      2      S/n              S
//   all-reduce      4      S + S/n          S + S/n
//
// for a buffer of S bytes, in pieces that follow one another (see pipelined.h).
// With idle links, a the latency of a message and B the bandwidth of a rank's
// port, an all-reduce takes about 4 a + (S + S/n)/B.
//
// Source: NCCL's NVLS kernels (src/device/all_reduce.h, all_gather.h,
// reduce_scatter.h, src/transport/nvls.cc). A head reads by multimem.ld_reduce
// from all GPUs and writes by multimem.st to all, itself among them.

#ifndef COLLECTIVES_ALGORITHMS_NVLS_H_
#define COLLECTIVES_ALGORITHMS_NVLS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/algorithms/pipelined.h"

namespace astra {

// Returns the pattern, in which chunk c n + r is what channel c handles of the
// part of rank r.
//
// Errors: FailedPrecondition unless the group is on one server with an NVSwitch
// that all of its ranks are linked to; ResourceExhausted if there are too many
// flows to store.
absl::StatusOr<std::unique_ptr<const FlowGraph>> NvlsPattern(
    const CollectiveRequest& request, Bytes bytes);

inline constexpr PatternAlgorithm kNvlsAlgorithm = {"nvls", &NvlsPattern, true};

// Checks that the group is on one server with an NVSwitch.
//
// Errors: FailedPrecondition, about the algorithm `name`.
absl::Status CheckOneServerWithNvSwitch(std::string_view name,
                                        const GroupLayout& layout);

}  // namespace astra

#endif  // COLLECTIVES_ALGORITHMS_NVLS_H_
