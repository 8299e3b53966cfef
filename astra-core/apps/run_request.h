// Reads the files that a run names, and checks them against one another and
// against the options.

#ifndef ASTRA_CORE_APPS_RUN_REQUEST_H_
#define ASTRA_CORE_APPS_RUN_REQUEST_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/base/log.h"
#include "astra-core/engine/collective_costs.h"
#include "astra-core/run/run.h"
#include "collectives/systems/system_spec.h"
#include "topology/topology.h"
#include "workload/program.h"

namespace astra {

struct RunCluster {
  Topology topology;
  std::optional<SystemSpec> system;  // Present if the options name one.
};

// Returns the topology that the options name, or that of their system with
// `num_gpus`. Errors: those of the readers and of BuildSystemTopology.
absl::StatusOr<RunCluster> ReadCluster(const RunOptions& options,
                                       int64_t num_gpus);

// Returns the network that `options` name, or the default one, with what the
// command line adds. `topology` is that of the network.
//
// Errors: those of ReadNetwork, CheckFollows and CheckPacketOptions.
absl::StatusOr<NetworkOptions> ReadNetworkOptions(const RunOptions& options,
                                                  const Topology& topology,
                                                  Warnings* warnings);

// Returns the events that `options` name, on `topology` with `network`; none if
// they name none.
//
// Errors: those of ReadFile and ParseEvents; InvalidArgument for events that
// have no effect with the fidelity.
absl::StatusOr<RunEvents> ReadEvents(const RunOptions& options,
                                     const Topology& topology,
                                     const NetworkOptions& network);

// Returns the request for `program` on `cluster`, with `network` and without
// events. Errors: as below.
absl::StatusOr<RunRequest> RequestOn(const RunOptions& options, Program program,
                                     RunCluster cluster, NetworkOptions network,
                                     Warnings* warnings);

// Returns the options of the simulation of a trace that uses these collectives.
// Errors: as below.
absl::StatusOr<SimulationOptions> SimulationForTrace(
    const RunOptions& options, const RunCluster& cluster,
    const CollectiveSizes& used, const NetworkOptions& network,
    Warnings* warnings);

// Reads the files. Appends to `warnings` what is odd in the inputs but stops no
// run. Prints the cost of a closed form, if it is high, before reading the
// cluster.
//
// Errors: those of the readers and of CheckPacketOptions; InvalidArgument if
// the files and the command line disagree on the number or the type of the
// GPUs, or give something that has no effect; ResourceExhausted if the memory
// does not suffice and --force is not given.
absl::StatusOr<RunRequest> ReadRequest(const RunOptions& options,
                                       Warnings* warnings);

// Like ReadRequest(), with `program` instead of a file.
// RunOptions::workload_file names it in messages.
absl::StatusOr<RunRequest> RequestFor(const RunOptions& options,
                                      Program program, Warnings* warnings);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_REQUEST_H_
