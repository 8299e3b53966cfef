// Reads the inputs of programs that run a workload, and warns of what is odd in
// them.

#ifndef ASTRA_CORE_APPS_RUN_INPUTS_H_
#define ASTRA_CORE_APPS_RUN_INPUTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/communicators.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {

// Reads the workload file: SimAI's text or a program file, told by the content.
//
// Errors: those of the readers.
absl::StatusOr<Program> ReadWorkload(const std::string& path,
                                     Warnings* warnings);

// Checks that both inputs have the same number of GPUs. Errors: InvalidArgument
// that names the files.
absl::Status CheckSameGpus(const std::string& workload_file,
                           const Program& program, const std::string& cluster,
                           const Topology& topology);

// Returns whether the GPUs of `topology` are of the type `gpu`. It is true of a
// topology that does not say which GPUs it has.
bool MayHaveGpu(const Topology& topology, std::string_view gpu);

// Returns what to say where the topology of a file has other GPUs than
// --gpu-type names; nothing if it may have these.
std::optional<std::string> OtherGpus(std::string_view gpu,
                                     const std::string& file,
                                     const Topology& topology);

// Returns what to say where the program is timed for another GPU than those of
// the topology, since the times of a program hold for one GPU; nothing if the
// topology may have this GPU or the program names none. The text names both
// files and both GPUs.
std::optional<std::string> TimedForOtherGpus(const std::string& workload_file,
                                             const Program& program,
                                             const std::string& cluster,
                                             const Topology& topology);

// Checks that the program is timed for GPUs of the topology, in a program that
// has the option --gpu-mismatch. A difference is an error, or with `allowed`
// (the option was given) a warning.
//
// Errors: InvalidArgument with the text of TimedForOtherGpus and the option.
absl::Status CheckSameGpuType(const std::string& workload_file,
                              const Program& program,
                              const std::string& cluster,
                              const Topology& topology, bool allowed,
                              Warnings& warnings);

// Warns of collectives over groups of one rank, of numbers of layers in the
// place where AICB should write model chunks, and of memory that the program's
// GPU does not have.
void WarnOfWorkload(const std::string& workload_file, const Program& program,
                    const ParallelPlan& plan, Warnings& warnings);

// Warns if links lose packets, since that has no effect on `what`.
void WarnOfErrorRates(const std::string& topology_file,
                      const Topology& topology, std::string_view what,
                      Warnings& warnings);

// Checks that the GPUs of `system`, which was loaded by `name`, are those of
// the topology, if the topology names them. `cluster` is the origin of the
// topology for messages.
//
// Errors: those of CheckGpus.
absl::Status CheckSystem(const std::string& name, const SystemSpec& system,
                         const Topology& topology, const std::string& cluster);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_INPUTS_H_
