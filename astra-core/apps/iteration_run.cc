#include "astra-core/apps/iteration_run.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/generated_workload.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/base/log.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status Of(std::string_view program, const absl::Status& status) {
  return absl::InvalidArgumentError(
      fmt::format("{}: {}", program, std::string(status.message())));
}

}  // namespace

absl::StatusOr<Program> GenerateProgram(const GenWorkloadOptions& options) {
  Warnings ignored;  // The programs repeat them when they run by themselves.
  const auto generated = GenerateWorkload(options, &ignored);
  if (!generated.ok()) return Of("gen_workload", generated.status());
  auto program = ProgramOf(options, generated->blueprint, generated->times);
  if (!program.ok()) return Of("gen_workload", program.status());
  return program;
}

absl::StatusOr<RunResult> RunGenerated(const RunOptions& options,
                                       Program program, bool keeps_timeline) {
  constexpr std::string_view kRun = "simai_analytical";
  Warnings ignored;
  auto request = RequestFor(options, std::move(program), &ignored);
  if (!request.ok()) return Of(kRun, request.status());
  request->explain = false;
  request->trace = keeps_timeline;
  request->network.packet.record = {};  // Nobody reads what networks record.
  request->network.flow.record = {};
  absl::StatusOr<RunResult> run = Run(*request);
  if (!run.ok()) return Of(kRun, run.status());
  if (!run->status.ok()) return Of(kRun, run->status);
  return run;
}

}  // namespace astra
