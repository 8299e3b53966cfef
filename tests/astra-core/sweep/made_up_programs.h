// A table of programs with few options, of each sort, for tests.

#ifndef TESTS_ASTRA_CORE_SWEEP_MADE_UP_PROGRAMS_H_
#define TESTS_ASTRA_CORE_SWEEP_MADE_UP_PROGRAMS_H_

#include "absl/types/span.h"
#include "astra-core/sweep/swept_program.h"

namespace astra::testing {

inline constexpr OptionSpec kMadeTopologyOptions[] = {
    {"topology", "topo", "NAME", "", ""},
    {"gpu", "g", "N", "", ""},
    {"nvlink-bw", "nvbw nv_bw", "RATE", "", ""},
    {"ro", "", "", "", ""},
    {"output", "o", "FILE", "", ""},
};

inline constexpr OptionSpec kMadeWorkloadOptions[] = {
    {"model", "m", "NAME|FILE", "", ""},
    {"tp", "tensor_model_parallel_size", "N", "", ""},
    {"operator-table", "", "FILE,...", "", ""},
    {"list-models", "", "", "", ""},
    {"output", "o", "FILE", "", ""},
};

inline constexpr OptionSpec kMadeRunOptions[] = {
    {"workload", "w", "FILE", "", ""},
    {"topology", "n network_topo", "FILE", "", ""},
    {"overlap", "", "", "", ""},
    {"output", "o", "DIR", "", ""},
};

inline constexpr OptionSpec kMadeSimulatorOptions[] = {
    {"workload", "w", "FILE", "", ""}, {"topology", "n", "FILE", "", ""},
    {"network", "c", "FILE", "", ""},  {"seed", "", "N", "", ""},
    {"output", "o", "DIR", "", ""},
};

inline constexpr OptionSpec kMadeCollectiveOptions[] = {
    {"topology", "n", "FILE", "", ""},
    {"size", "b", "SIZE", "", ""},
    {"flows", "", "FILE", "", ""},
};

inline constexpr SweptProgram kMadePrograms[] = {
    {.name = "make_topo",
     .role = ProgramRole::kTopology,
     .options = kMadeTopologyOptions,
     .topology_option = "",
     .workload_option = "",
     .refused = "help version output",
     .objective = ""},
    {.name = "make_work",
     .role = ProgramRole::kWorkload,
     .options = kMadeWorkloadOptions,
     .topology_option = "",
     .workload_option = "",
     .refused = "help version output list-models",
     .objective = ""},
    {.name = "run",
     .role = ProgramRole::kRun,
     .options = kMadeRunOptions,
     .topology_option = "topology",
     .workload_option = "workload",
     .refused = "help version output",
     .objective = "iteration_ms"},
    {.name = "simulate",
     .role = ProgramRole::kRun,
     .options = kMadeSimulatorOptions,
     .topology_option = "topology",
     .workload_option = "workload",
     .refused = "help version output",
     .objective = "iteration_ms"},
    {.name = "collective",
     .role = ProgramRole::kRun,
     .options = kMadeCollectiveOptions,
     .topology_option = "topology",
     .workload_option = "",
     .refused = "help version output flows",
     .objective = "time_us"},
};

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_SWEEP_MADE_UP_PROGRAMS_H_
