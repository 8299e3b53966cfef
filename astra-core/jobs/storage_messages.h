// The messages between the ranks of a job and storage servers that move an
// amount at once.
//
// Model. The amount is cut into equal parts, `stripes` for each of its ranks,
// and the parts take the storage servers in turn: part p, counted by rank and
// then by stripe, has server p modulo their number. Where every replica moves
// the amount, the parts of the second replica follow those of the first, and so
// on.

#ifndef ASTRA_CORE_JOBS_STORAGE_MESSAGES_H_
#define ASTRA_CORE_JOBS_STORAGE_MESSAGES_H_

#include <vector>

#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/jobs/storage_use.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"

namespace astra {

struct StorageMessage {
  NodeId rank;
  NodeId storage;
  Bytes bytes;  // Above 0.
};

// Returns the messages of `amount`, on `topology`, whose GPUs are the ranks of
// `plan`. Parts differ by at most one byte; parts without a byte are left out.
// Requires a storage server.
std::vector<StorageMessage> StorageMessagesOf(const StorageAmount& amount,
                                              const ParallelPlan& plan,
                                              const Topology& topology);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_STORAGE_MESSAGES_H_
