// Turns an algorithm of MSCCL into a schedule by executing it once, with sets
// of ranks in the place of data.

#ifndef COLLECTIVES_SCHEDULES_MSCCL_RUN_H_
#define COLLECTIVES_SCHEDULES_MSCCL_RUN_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/schedules/custom_schedule.h"
#include "collectives/schedules/msccl_algorithm.h"

namespace astra {

// Largest numbers of thread blocks of a GPU, of chunks of memory of all GPUs,
// and of chunks of all steps.
constexpr uint32_t kMaxMscclBlocks = 256;
constexpr uint32_t kMaxMscclSlots = 1 << 22;
constexpr uint32_t kMaxMscclMoves = 1 << 20;

// Returns the messages that the steps of `algorithm` send, in an order in which
// they can be sent. `file` is its name in messages.
//
// - The steps of a thread block run in order. The k-th message that a block
//   sends to a GPU on a channel is the k-th message that a block there receives
//   from its GPU on this channel.
// - A message waits for the messages that have arrived on its GPU before its
//   step: in earlier steps of its thread block, or in steps for which these
//   wait by `depid`, however many steps lie between. Messages from one GPU on
//   one channel are taken to arrive in order. A message does not wait for
//   earlier messages of its block: they leave one after the other, without
//   waiting for an answer. (NCCL sends at most 8 ahead; this is not modelled.)
// - Data that is sent at once but is not consecutive in the buffer of the
//   collective becomes several messages.
// - An arrival is a reduction if it is added to something, even if by a later
//   step on the receiving GPU.
//
// Races, where two steps use the same memory in no order, are not detected;
// such steps are executed in some order.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." if two thread blocks share a
// connection or send other messages than are received; if thread blocks wait
// for one another in a cycle; if a step reads memory that holds nothing, or
// adds one chunk to another, or a contribution to a sum that has it; if a rank
// does not end with what the collective demands; or if there is more than a
// CustomSchedule can have.
absl::StatusOr<CustomSchedule> RunMsccl(std::string_view file,
                                        const MscclAlgorithm& algorithm);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_MSCCL_RUN_H_
