// The main function of the programs that run a workload.

#ifndef ASTRA_CORE_APPS_RUN_PROGRAM_H_
#define ASTRA_CORE_APPS_RUN_PROGRAM_H_

#include "astra-core/apps/run_defaults.h"
#include "astra-core/apps/served_job.h"

namespace astra {

// Parses the command line, reads the files, runs, writes, and returns the exit
// code. `read_served` reads jobs that serve; null for a program that cannot
// serve.
int RunProgram(const RunDefaults& defaults, int argc, const char* const* argv,
               ReadServedJob read_served = nullptr);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_RUN_PROGRAM_H_
