#include "astra-core/apps/trace/simai_trace_options.h"

#include <cstddef>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_trace (-w FILE | --chakra PREFIX) [--format chakra]\n"
    "       simai_trace (-w FILE | --chakra PREFIX) --format goal -n FILE\n"
    "       simai_trace --kineto FILE\n"
    "\n"
    "Writes what each rank of a workload does as an execution trace, for "
    "other\n"
    "simulators, or checks and converts a trace. simai_simulator --chakra runs "
    "one.\n"
    "Of a trace of PyTorch's profiler it makes tables of products and "
    "collectives, for\n"
    "--operator-table and --measured.\n";

constexpr CommandExample kExamples[] = {
    {"simai_trace -w llama3.yaml -o traces",
     "A Chakra trace, a file for each rank:"},
    {"simai_trace --chakra traces/llama3 --format goal -n h100_16.txt",
     "The same for LogGOPSim and ATLAHS:"},
};

constexpr OptionSpec kOptions[] = {
    {"workload", "w", "FILE", "Input",
     "workload in SimAI's format, or a program"},
    {"chakra", "", "PREFIX", "Input",
     "in its place a Chakra trace: PREFIX.0.et, PREFIX.1.et, ..."},
    {"kineto", "", "FILE", "Input",
     "in its place a trace of PyTorch's profiler, of one rank: JSON, packed by "
     "gzip or not"},
    {"comm-groups", "", "FILE", "Input",
     "with --chakra: the ranks of each process group, as JSON (default: "
     "PREFIX.json, if there is one)"},
    {"gpu-type", "g_type", "NAME", "Input",
     "with --chakra: the GPU of kernels that have operations and no duration; "
     "with --kineto: the GPU (default: that of the trace)"},
    {"gpus-per-server", "g_p_s", "N", "Input",
     "with --kineto: GPUs of a server, by which ranks share one (default 8)"},
    {"format", "", "chakra|goal", "Output",
     "chakra (default): NAME.RANK.et and NAME.json; goal: NAME.goal, with the "
     "messages of collectives"},
    {"topology", "n network_topo", "FILE", "Output",
     "with --format goal: the cluster, through whose servers rings go"},
    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run and its files (default: that of the input)"},
};

absl::Status ReadInput(const CommandLine& flags, SimaiTraceOptions& options) {
  options.workload_file = flags.value("workload");
  options.chakra = flags.value("chakra");
  options.groups_file = flags.value("comm-groups");
  options.gpu_type = flags.value("gpu-type");
  options.topology_file = flags.value("topology");
  options.kineto = flags.value("kineto");
  const int num_inputs = static_cast<int>(options.workload_file.has_value()) +
                         static_cast<int>(options.chakra.has_value()) +
                         static_cast<int>(options.kineto.has_value());
  if (num_inputs != 1) {
    return absl::InvalidArgumentError(
        "expected one input: a workload with -w, or a trace with --chakra or "
        "--kineto");
  }
  if (options.kineto) {
    constexpr std::string_view kOfOthers[] = {"comm-groups", "format",
                                              "topology"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kOfOthers, "a trace of PyTorch becomes tables"));
    ASTRA_ASSIGN_OR_RETURN(options.gpus_per_server,
                           flags.integer("gpus-per-server", 8, 1, 1024));
  } else if (flags.has("gpus-per-server")) {
    constexpr std::string_view kOfKineto[] = {"gpus-per-server"};
    ASTRA_RETURN_IF_ERROR(Refuse(flags, kOfKineto, "it is for --kineto"));
  }
  if (options.workload_file) {
    constexpr std::string_view kOfTraces[] = {"comm-groups", "gpu-type"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kOfTraces, "a workload says that itself"));
  }
  return absl::OkStatus();
}

// Returns the name of a run without --result.
absl::StatusOr<std::string> DefaultName(const SimaiTraceOptions& options) {
  if (options.chakra) {  // A prefix has no extension.
    return std::filesystem::path(*options.chakra).filename().string();
  }
  if (options.workload_file) return NameOfInput(*options.workload_file);
  const std::filesystem::path path(*options.kineto);
  return NameOfInput(path.extension() == ".gz" ? path.stem().string()
                                               : *options.kineto);
}

}  // namespace

absl::Span<const OptionSpec> SimaiTraceOptionSpecs() { return kOptions; }

std::string SimaiTraceHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiTraceExamples() { return kExamples; }

absl::StatusOr<SimaiTraceOptions> ReadSimaiTraceOptions(
    const CommandLine& flags) {
  SimaiTraceOptions options;
  ASTRA_RETURN_IF_ERROR(ReadInput(flags, options));
  ASTRA_ASSIGN_OR_RETURN(const size_t format,
                         Choice(flags, "format", 0, kTraceFormats));
  options.format = static_cast<TraceFormat>(format);
  if (options.format == TraceFormat::kGoal) {
    ASTRA_RETURN_IF_ERROR(Require(flags, "topology"));
  } else {
    constexpr std::string_view kOfGoal[] = {"topology"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kOfGoal, "a Chakra trace is the same on every topology"));
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string name, DefaultName(options));
  ASTRA_ASSIGN_OR_RETURN(RunOutput output, ReadRunOutput(flags, name));
  options.name = std::move(output.name);
  options.output = std::move(output.folder);
  return options;
}

}  // namespace astra
