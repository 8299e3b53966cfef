// Options of simai_trace.

#ifndef ASTRA_CORE_APPS_TRACE_SIMAI_TRACE_OPTIONS_H_
#define ASTRA_CORE_APPS_TRACE_SIMAI_TRACE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

enum class TraceFormat : uint8_t { kChakra, kGoal };
constexpr std::string_view kTraceFormats[] = {"chakra", "goal"};

struct SimaiTraceOptions {
  // The input: a workload, the prefix of a Chakra trace, or a trace of PyTorch.
  std::optional<std::string> workload_file;
  std::optional<std::string> chakra;
  std::optional<std::string> groups_file;
  std::optional<std::string> kineto;  // Trace of PyTorch, in place of both.
  int64_t gpus_per_server = 8;        // Of `kineto`.
  std::optional<std::string> gpu_type;

  TraceFormat format = TraceFormat::kChakra;
  std::optional<std::string> topology_file;  // Present with kGoal.

  std::string name;    // Of the run and its files.
  std::string output;  // Folder.
};

absl::Span<const OptionSpec> SimaiTraceOptionSpecs();
std::string SimaiTraceHelp();
absl::Span<const CommandExample> SimaiTraceExamples();

// Errors: InvalidArgument for a missing or wrong option, and for one that has
// no effect beside the others.
absl::StatusOr<SimaiTraceOptions> ReadSimaiTraceOptions(
    const CommandLine& flags);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_TRACE_SIMAI_TRACE_OPTIONS_H_
