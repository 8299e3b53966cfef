#include "astra-core/apps/trace/trace_files.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "astra-core/apps/chakra_files.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/trace/kineto_tables.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/traces/goal_text.h"
#include "astra-core/traces/program_trace.h"
#include "fmt/core.h"
#include "topology/topology.h"
#include "topology/topology_file.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/gpu_spec.h"
#include "workload/program.h"
#include "workload/traces/chakra_file.h"
#include "workload/traces/chakra_trace.h"
#include "workload/traces/kineto_profile.h"

namespace astra {
namespace {

absl::StatusOr<std::vector<NamedFile>> FilesOf(const SimaiTraceOptions& options,
                                               const ExecutionTrace& trace) {
  std::vector<NamedFile> files;
  if (options.format == TraceFormat::kGoal) {
    ASTRA_ASSIGN_OR_RETURN(const Topology topology,
                           ReadTopology(*options.topology_file));
    if (topology.num_gpus() != trace.ranks.size()) {
      return absl::InvalidArgumentError(fmt::format(
          "{} has {} GPUs, the trace has {} ranks", *options.topology_file,
          topology.num_gpus(), trace.ranks.size()));
    }
    ASTRA_ASSIGN_OR_RETURN(std::string text, GoalText(trace, topology));
    files.push_back({options.name + ".goal", std::move(text)});
    return files;
  }
  for (uint32_t r = 0; r < trace.ranks.size(); ++r) {
    files.push_back({fmt::format("{}.{}.et", options.name, r),
                     FormatChakraFile(ChakraFileOf(trace, RankId(r)))});
  }
  files.push_back({options.name + ".json", FormatProcessGroups(trace.groups)});
  return files;
}

// Finds the GPU of a trace, which has the driver's name, "NVIDIA H100 80GB
// HBM3".
absl::StatusOr<GpuSpec> GpuOf(const SimaiTraceOptions& options,
                              const KinetoProfile& trace) {
  if (options.gpu_type) return FindGpu(*options.gpu_type);
  if (trace.gpu.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: says nothing of the GPU: give --gpu-type", *options.kineto));
  }
  absl::StatusOr<GpuSpec> gpu = FindGpu(trace.gpu);
  if (gpu.ok()) return gpu;
  return absl::InvalidArgumentError(
      fmt::format("{}: {}: give --gpu-type", *options.kineto,
                  std::string(gpu.status().message())));
}

}  // namespace

absl::StatusOr<ExecutionTrace> ReadTrace(const SimaiTraceOptions& options,
                                         Warnings* warnings) {
  if (options.workload_file) {
    ASTRA_ASSIGN_OR_RETURN(const Program program,
                           ReadWorkload(*options.workload_file, warnings));
    absl::StatusOr<ExecutionTrace> trace = TraceOf(program);
    if (trace.ok()) return trace;
    return absl::Status(trace.status().code(),
                        fmt::format("{}: {}", *options.workload_file,
                                    std::string(trace.status().message())));
  }
  std::optional<PeakRates> peak;
  if (options.gpu_type) {
    ASTRA_ASSIGN_OR_RETURN(peak, FindPeakRates(*options.gpu_type));
  }
  return ReadChakraTrace(*options.chakra, options.groups_file, peak, warnings);
}

absl::StatusOr<std::string> WriteTrace(const SimaiTraceOptions& options,
                                       const ExecutionTrace& trace) {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<NamedFile> files,
                         FilesOf(options, trace));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  std::vector<std::string> stale;
  if (options.format == TraceFormat::kChakra) {
    stale = LaterRankFiles(fmt::format("{}/{}", options.output, options.name),
                           trace.ranks.size());
  }
  const std::vector<std::string_view> views(stale.begin(), stale.end());
  ASTRA_RETURN_IF_ERROR(folder.Write(files, views));
  return fmt::format(
      "trace      {} ranks, {} nodes, {} groups\n"
      "results    {}: {}{}\n"
      "finished   {}\n",
      trace.ranks.size(), trace.num_nodes(), trace.groups.size(),
      options.output, files.front().name,
      files.size() == 1 ? "" : fmt::format(" to {}", files.back().name),
      options.name);
}

absl::StatusOr<std::string> WriteKinetoTables(
    const SimaiTraceOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(*options.kineto));
  ASTRA_ASSIGN_OR_RETURN(const KinetoProfile trace,
                         ParseKinetoProfile(*options.kineto, contents));
  ASTRA_ASSIGN_OR_RETURN(const GpuSpec gpu, GpuOf(options, trace));
  const std::vector<NamedFile> files =
      KinetoTables(trace, {.gpu = gpu.name,
                           .source = *options.kineto,
                           .gpus_per_server = options.gpus_per_server});
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  constexpr std::string_view kAll[] = {"operators.csv", "communication.csv",
                                       "kernels.csv"};
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kAll));
  std::string text = DescribeKineto(trace);
  text += fmt::format("results    {}:", options.output);
  for (const NamedFile& file : files) text += " " + file.name;
  return text + fmt::format("\nfinished   {}\n", options.name);
}

}  // namespace astra
