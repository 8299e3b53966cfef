// What a sweep knows of a program that it runs: its options, and which of them
// the sweep itself gives.

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
  kRun,       // Reads these and writes a folder of results, --output.
};

struct SweptProgram {
  std::string_view name;  // Also that of its executable.
  ProgramRole role;
  absl::Span<const OptionSpec> options;
  // Of a kRun: the options that take the files of the other two; empty where
  // it has none.
  std::string_view topology_option = {};
  std::string_view workload_option = {};
  // Options that a sweep may not set, separated by spaces: those that print
  // something in place of the work, and those that the sweep gives.
  std::string_view refused = {};
  // Of a kRun: the metric that a sweep minimises unless it says otherwise.
  std::string_view objective = {};
};

// The option that `name` spells, as a command line does: any alias, '_' for
// '-', with or without dashes before it. Null if there is none.
const OptionSpec* FindOption(const SweptProgram& program,
                             std::string_view name);

// Why a sweep may not set the option that `spelling` spells, or "help" or
// "version", which all programs have; empty for any other.
std::string WhyRefused(const SweptProgram& program, std::string_view spelling);

// The message for `name`, no option of `program`: with the nearest spelling of
// one that a sweep may set, and all of these.
std::string UnknownOptionOf(const SweptProgram& program, std::string_view name);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEPT_PROGRAM_H_
