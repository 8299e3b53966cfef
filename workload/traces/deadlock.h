// Finds ranks of a trace that wait for one another forever.
//
// The trace is played without times. A node begins once all that it depends on
// has ended, and the node before it on its stream: the kernels of a rank, its
// work of the CPU, its copies, the collectives of a group, or the messages of
// one sender, receiver and tag. A collective or message ends once all ranks
// that take part in it have begun it; all else ends as it begins. What has not
// ended when nothing can begin any more never will.
//
// The root of a broadcast may go on before others have come to it. A correct
// program must not rely on that, so here a collective ends on no rank before
// all have begun it.
//
// Source: MPI 4.0, section 6.14, "Correctness" of collective communication.

#ifndef WORKLOAD_TRACES_DEADLOCK_H_
#define WORKLOAD_TRACES_DEADLOCK_H_

#include "absl/status/status.h"
#include "workload/traces/execution_trace.h"

namespace astra {

// Checks that every node of `trace` ends. Requires that CheckRanksAgree() has
// succeeded.
//
// Errors: InvalidArgument that names the ranks and nodes of a circle that is as
// short as any among those that stop the trace. If the search for it takes too
// long, the circle is the shortest that was found.
absl::Status CheckEnds(const ExecutionTrace& trace);

}  // namespace astra

#endif  // WORKLOAD_TRACES_DEADLOCK_H_
