// Options of simai_wire.

#ifndef ASTRA_CORE_APPS_TESTBED_SIMAI_WIRE_OPTIONS_H_
#define ASTRA_CORE_APPS_TESTBED_SIMAI_WIRE_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/apps/testbed/wire.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

struct SimaiWireOptions {
  std::string topology;  // Path of the topology file.
  Wire::Options wire;
  bool until_eof = false;  // Ends when standard input does.
};

absl::Span<const OptionSpec> SimaiWireOptionSpecs();
std::string SimaiWireHelp();

// Errors: InvalidArgument for a missing or wrong option.
absl::StatusOr<SimaiWireOptions> ReadSimaiWireOptions(const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TESTBED_SIMAI_WIRE_OPTIONS_H_
