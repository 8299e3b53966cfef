// Describes a program that sweeps can run: its options, and which of them the
// sweep itself sets.

#ifndef ASTRA_CORE_SWEEP_SWEPT_PROGRAM_H_
#define ASTRA_CORE_SWEEP_SWEPT_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

enum class ProgramRole : uint8_t {
  kTopology,  // Writes a topology file, --output.
  kWorkload,  // Writes a workload file, --output.
  kRun,       // Reads these files; writes a result folder, --output.
};

struct SweptProgram {
  std::string_view name;  // Name of the program and of its executable.
  ProgramRole role;
  absl::Span<const OptionSpec> options;
  // For a kRun: the options that take the topology and the workload file; empty
  // where the program has none.
  std::string_view topology_option = {};
  std::string_view workload_option = {};
  // Options that a sweep may not set, separated by spaces: options that print
  // something instead of working, and options that the sweep itself sets.
  std::string_view refused = {};
  // For a kRun: the metric that a sweep minimises by default.
  std::string_view objective = {};
};

// Returns the option that `name` spells on a command line: any alias, '_' for
// '-', with or without leading dashes. Returns null if there is none.
const OptionSpec* FindOption(const SweptProgram& program,
                             std::string_view name);

// Returns why a sweep may not set the option that `spelling` names; "help" and
// "version", which all programs have, are refused too. Empty for other options.
std::string WhyRefused(const SweptProgram& program, std::string_view spelling);

// Returns the message for `name`, which is not an option of `program`. It
// offers the nearest option that a sweep may set, and lists all of these.
std::string UnknownOptionOf(const SweptProgram& program, std::string_view name);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEPT_PROGRAM_H_
