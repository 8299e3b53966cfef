// A collective algorithm that a user wrote down: every message of it, for a
// fixed number of ranks. Buffers of any size are cut as it says.
//
// Read from a file by schedule_file.h (YAML) or msccl_file.h (MSCCL's XML),
// both of which also make sure that the messages carry out the collective.

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
  std::vector<uint32_t> after;  // Positions of flows it waits for, increasing.

  friend bool operator==(const ScheduleFlow&, const ScheduleFlow&) = default;
};

// What is wrong with a schedule. Positions count from 0.
struct ScheduleFault {
  std::optional<size_t> flow;  // Position of the one at fault.
  std::string message;         // Calls it "step I".
};

class CustomSchedule {
 public:
  // What a schedule may have at most.
  static constexpr uint32_t kMaxRanks = 1024;
  static constexpr uint32_t kMaxChunks = 1 << 16;
  static constexpr uint32_t kMaxMoves = 1 << 18;  // Chunks of all flows.
  static constexpr uint32_t kMaxDependencies = 1 << 21;

  // The first of: a name is empty or has control characters; a number is beyond
  // the limits, or `num_chunks` no multiple of num_parts(); a flow has a rank
  // or chunks that are not there, goes to its source, reduces in a collective
  // that does not, waits for one that is not before it or has nothing to do
  // with its source.
  static std::optional<ScheduleFault> FindFault(
      const std::string& name, const ChunkedCollective& collective,
      absl::Span<const ScheduleFlow> flows);

  // Errors: InvalidArgument, with the message of FindFault.
  static absl::StatusOr<CustomSchedule> Create(
      std::string name, const ChunkedCollective& collective,
      std::vector<ScheduleFlow> flows);

  const std::string& name() const { return name_; }
  const ChunkedCollective& collective() const { return collective_; }
  absl::Span<const ScheduleFlow> flows() const { return flows_; }

  // The messages for `request`. The schedule itself says how the buffer is cut
  // and which channels there are; the request's chunking means nothing to it.
  // A part of n bytes cut into f chunks has n mod f that are a byte larger, the
  // first ones.
  //
  // Errors: FailedPrecondition if the request is of another kind, number of
  // ranks, or root.
  absl::StatusOr<std::unique_ptr<const FlowGraph>> Lower(
      const CollectiveRequest& request) const;

  // The same as steps, pipelined: step i has the flows that wait for a chain of
  // i others at most, those between the same ranks added up.
  //
  // Errors: as above.
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
