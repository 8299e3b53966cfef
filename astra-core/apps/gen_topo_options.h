// Options of gen_topo, as its command line gives them.

#ifndef ASTRA_CORE_APPS_GEN_TOPO_OPTIONS_H_
#define ASTRA_CORE_APPS_GEN_TOPO_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/gen_topo_discovered.h"
#include "astra-core/base/log.h"
#include "astra-core/command_line/command_line.h"
#include "topology/cluster.h"
#include "topology/storage.h"

namespace astra {

struct GenTopoOptions {
  // A file that declares the fabric, in place of `cluster`.
  std::optional<std::string> fabric_file;
  // A discovered fabric, in place of `cluster`.
  std::optional<DiscoveredOptions> discovered;
  ClusterParameters cluster;
  ClusterCounts counts;
  std::optional<StorageSpec> storage;  // Behind `cluster`.
  std::string output;                  // File to write.
  std::optional<std::string> drawing;  // File to draw it in.
  bool describe = false;
  // --bandwidth is given and differs from the rate of the uplinks, and
  // --ap-bandwidth, which sets the uplinks, is not given.
  bool keeps_uplinks = false;
  bool force = false;  // Runs even if the memory may not suffice.
  Warnings warnings;   // Names of options that had no effect.
};

absl::Span<const OptionSpec> GenTopoOptionSpecs();

// Returns the text of --help.
std::string GenTopoHelp();

// Returns the examples that --help ends with.
absl::Span<const CommandExample> GenTopoExamples();

// Fills in what the template prescribes, then what the user gave.
//
// Errors: NotFound for an unknown template; InvalidArgument for a wrong value,
// for options that contradict one another or the template, and those of
// CountCluster.
absl::StatusOr<GenTopoOptions> ReadGenTopoOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_TOPO_OPTIONS_H_
