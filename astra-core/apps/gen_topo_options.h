// What the command line of gen_topo asks for.

#ifndef ASTRA_CORE_APPS_GEN_TOPO_OPTIONS_H_
#define ASTRA_CORE_APPS_GEN_TOPO_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "topology/cluster.h"

namespace astra {

struct GenTopoOptions {
  ClusterParameters cluster;
  ClusterCounts counts;
  std::string output;  // The file to write.
  bool describe = false;
  // --bandwidth is another rate than that of the uplinks, of which nothing was
  // said.
  bool keeps_uplinks = false;
  bool force = false;  // Goes on where the memory may not suffice.
  Warnings warnings;   // Options that had no effect, each by name.
};

absl::Span<const OptionSpec> GenTopoOptionSpecs();

// The text of --help.
std::string GenTopoHelp();

// The examples that --help ends with.
absl::Span<const CommandExample> GenTopoExamples();

// Fills in what the template prescribes and what the user gave.
//
// Errors: NotFound for an unknown template; InvalidArgument for a wrong value,
// for options that contradict one another or the template, and those of
// CountCluster.
absl::StatusOr<GenTopoOptions> ReadGenTopoOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_TOPO_OPTIONS_H_
