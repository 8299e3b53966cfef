// Writes an execution trace in GOAL, the text that LogGOPSim and ATLAHS read,
// so that they and the simulators behind them can be second opinions.
//
// Each rank has a block of labelled operations and of what they require:
//
//   rank 0 {
//   l1: calc 13000 cpu 0
//   l2: send 350000b to 1 tag 4 cpu 1
//   l2 requires l1
//   }
//
// Collectives become the messages of their default algorithms, rings and direct
// messages. Kernels are on cpu 0, communication on cpu 1, work of the CPU on
// cpu 2 and copies on cpu 3; times are whole nanoseconds.
//
// Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly
// Language", ICPP 2009; the grammar of LogGOPSim's txt2bin.

#ifndef ASTRA_CORE_TRACES_GOAL_TEXT_H_
#define ASTRA_CORE_TRACES_GOAL_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "topology/topology.h"
#include "workload/traces/execution_trace.h"

namespace astra {

constexpr uint64_t kMostGoalMessages = 50'000'000;

// Returns the text. Rings go through the servers of `topology`, whose GPUs are
// the ranks.
//
// Errors: those of the algorithms; ResourceExhausted for more than
// kMostGoalMessages messages.
absl::StatusOr<std::string> GoalText(const ExecutionTrace& trace,
                                     const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_TRACES_GOAL_TEXT_H_
