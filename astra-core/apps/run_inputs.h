// What the programs that run a workload read, and what all of them find odd in
// it.

#ifndef ASTRA_CORE_APPS_RUN_INPUTS_H_
#define ASTRA_CORE_APPS_RUN_INPUTS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/communicators.h"
#include "collectives/nccl/nccl_options.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {

// Reads what -w names: SimAI's text or a program file, told by the content.
//
// Errors: those of the readers.
absl::StatusOr<Program> ReadWorkload(const std::string& path,
                                     Warnings* warnings);

// Errors: InvalidArgument, naming the files, if the numbers of GPUs differ.
absl::Status CheckSameGpus(const std::string& workload_file,
                           const Program& program, const std::string& cluster,
                           const Topology& topology);

// The times of a program are of one GPU, and the topology may name another.
// A difference between two named GPUs is an error, or with `allowed` (the
// option --gpu-mismatch) a warning.
//
// Errors: InvalidArgument that names both files, both GPUs and the option.
absl::Status CheckSameGpuType(const std::string& workload_file,
                              const Program& program,
                              const std::string& cluster,
                              const Topology& topology, bool allowed,
                              Warnings& warnings);

// Warns of collectives over groups of one rank, of numbers of layers where AICB
// means model chunks, and of memory that the program's GPU does not have.
void WarnOfWorkload(const std::string& workload_file, const Program& program,
                    const ParallelPlan& plan, Warnings& warnings);

// That links lose packets, where that has no effect on `what`.
void WarnOfErrorRates(const std::string& topology_file,
                      const Topology& topology, std::string_view what,
                      Warnings& warnings);

// The system `name`; it must have the GPUs of the topology, where that names
// them. `cluster` is where the topology comes from, for messages.
//
// Errors: those of LoadSystem and CheckGpus.
absl::StatusOr<NcclSystem> ReadNcclSystem(const std::string& name,
                                          const NcclOptions& nccl,
                                          const Topology& topology,
                                          const std::string& cluster);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_INPUTS_H_
