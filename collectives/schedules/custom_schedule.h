// A collective algorithm that a user wrote down: each message, for a fixed
// number of ranks. It cuts buffers of any size.
//
// schedule_file.h (YAML) and msccl_file.h (MSCCL's XML) read it from a file.
// Both also check that the messages carry out the collective.

#ifndef COLLECTIVES_SCHEDULES_CUSTOM_SCHEDULE_H_
#define COLLECTIVES_SCHEDULES_CUSTOM_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "collectives/collective_request.h"
#include "collectives/flow_graph.h"
#include "collectives/schedules/demand.h"
#include "collectives/step_schedule.h"

namespace astra {

// A message of a schedule.
struct ScheduleFlow {
  GroupRank source;
  GroupRank target;
  ChunkId first_chunk;
  uint32_t num_chunks = 1;
  uint16_t channel = 0;
  FlowOp op = FlowOp::kCopy;
  std::vector<uint32_t> after;  // Indices of flows it waits for, increasing.

  friend bool operator==(const ScheduleFlow&, const ScheduleFlow&) = default;
};

// An error of a schedule. Indices count from 0.
struct ScheduleFault {
  std::optional<size_t> flow;  // Index of the flow at fault.
  std::string message;         // Message that calls the flow "step I".
};

class CustomSchedule {
 public:
  // Limits of a schedule.
  static constexpr uint32_t kMaxRanks = 1024;
  static constexpr uint32_t kMaxChunks = 1 << 16;
  // Chunks of all flows together.
  static constexpr uint32_t kMaxMoves = 1 << 18;
  static constexpr uint32_t kMaxDependencies = 1 << 21;

  // Returns the first fault, if there is one: a name is empty or has control
  // characters; a number is beyond the limits, or `num_chunks` is no multiple
  // of num_parts(); a flow has a rank or chunks that do not exist, goes to its
  // source, reduces in a collective that does not reduce, or waits for a flow
  // that is not before it or does not concern its source.
  static std::optional<ScheduleFault> FindFault(
      const std::string& name, const ChunkedCollective& collective,
      absl::Span<const ScheduleFlow> flows);

  // Returns a schedule. Errors: InvalidArgument, with the message of FindFault.
  static absl::StatusOr<CustomSchedule> Create(
      std::string name, const ChunkedCollective& collective,
      std::vector<ScheduleFlow> flows);

  const std::string& name() const { return name_; }
  const ChunkedCollective& collective() const { return collective_; }
  absl::Span<const ScheduleFlow> flows() const { return flows_; }

  // Returns the most connections that a rank sends on, each to one rank and on
  // one channel. A thread block works for each.
  uint32_t MostConnections() const;

  // Returns the messages for `request`. The schedule itself says how the buffer
  // is cut and which channels there are; the request's chunking has no effect.
  // If a part of n bytes is cut into f chunks, the first n mod f chunks are a
  // byte larger.
  //
  // Errors: FailedPrecondition if the request is of another kind, number of
  // ranks, or root.
  absl::StatusOr<std::unique_ptr<const FlowGraph>> Lower(
      const CollectiveRequest& request) const;

  // Returns the same messages as pipelined steps. Step i has the flows whose
  // longest chain of flows to wait for has i flows. Flows between the same
  // ranks are added up.
  //
  // Errors: those of Lower().
  absl::StatusOr<StepSchedule> Steps(const CollectiveRequest& request) const;

 private:
  CustomSchedule(std::string name, const ChunkedCollective& collective,
                 std::vector<ScheduleFlow> flows)
      : name_(std::move(name)),
        collective_(collective),
        flows_(std::move(flows)) {}

  absl::Status CheckFits(const CollectiveRequest& request) const;
  std::vector<ByteRange> ChunksOf(const CollectiveRequest& request) const;

  std::string name_;
  ChunkedCollective collective_;
  std::vector<ScheduleFlow> flows_;
};

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_CUSTOM_SCHEDULE_H_
