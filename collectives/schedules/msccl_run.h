// An algorithm of MSCCL becomes a schedule: it is executed once, with sets of
// ranks in the place of data.

#ifndef COLLECTIVES_SCHEDULES_MSCCL_RUN_H_
#define COLLECTIVES_SCHEDULES_MSCCL_RUN_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/schedules/custom_schedule.h"
#include "collectives/schedules/msccl_algorithm.h"

namespace astra {

// A GPU may have this many thread blocks, and all together this many chunks of
// memory and of steps.
constexpr uint32_t kMaxMscclBlocks = 256;
constexpr uint32_t kMaxMscclSlots = 1 << 22;
constexpr uint32_t kMaxMscclMoves = 1 << 20;

// The messages that the steps of `algorithm` send, in an order in which they
// can be sent. `file` is its name in messages.
//
// - The steps of a thread block run in order. The k-th message that a block
//   sends to a GPU on a channel is the k-th that a block there receives from it
//   on that channel.
// - A message waits for whatever has arrived, on its GPU, before its step: in
//   steps of its own thread block, or in those that it waits for by `depid`,
//   however many steps lie between. Messages from one GPU on one channel are
//   taken to arrive in order. It does not wait for messages that its block sent
//   before: they leave one after the other, without waiting for an answer.
//   (NCCL sends at most 8 ahead; that is not modelled.)
// - What is sent at once and is not consecutive in the buffer of the collective
//   becomes several messages.
// - An arrival is a reduction if it is added to something, be it by a later
//   step on the receiving GPU.
//
// Memory that two steps use in no order is not looked for; they are executed in
// some order.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." if two thread blocks share a
// connection, or send other messages than are received; thread blocks wait for
// one another in a cycle; a step reads memory that holds nothing, adds one
// chunk to another, or a contribution to a sum that has it; a rank does not end
// with what the collective demands; there is more than a CustomSchedule can
// have.
absl::StatusOr<CustomSchedule> RunMsccl(std::string_view file,
                                        const MscclAlgorithm& algorithm);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_MSCCL_RUN_H_
