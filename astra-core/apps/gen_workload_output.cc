#include "astra-core/apps/gen_workload_output.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "astra-core/apps/communication_chart.h"
#include "astra-core/apps/generated_workload.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "workload/frameworks/framework_file.h"
#include "workload/generator/aicb_log.h"
#include "workload/generator/explain.h"
#include "workload/generator/simai_workload.h"
#include "workload/generator/timed_program.h"
#include "workload/generator/vidur_workload.h"
#include "workload/memory_timeline.h"
#include "workload/models/model_library.h"
#include "workload/operators/aiob_file.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/roofline.h"
#include "workload/program_file.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

bool HasForward(const Blueprint& blueprint, StepKind kind) {
  return std::any_of(blueprint.modules.begin(), blueprint.modules.end(),
                     [kind](const MockModule& module) {
                       const auto& steps = module.pass(ModulePass::kForward);
                       return std::any_of(steps.begin(), steps.end(),
                                          [kind](const ModuleStep& step) {
                                            return step.kind == kind;
                                          });
                     });
}

// Warns of parts of the workload for which SimAI's text has no words.
void WarnOfText(const Blueprint& blueprint, Warnings* warnings) {
  if (HasForward(blueprint, StepKind::kPrefetch)) {
    warnings->push_back(
        "SimAI's text cannot say that parameters are gathered ahead: they are "
        "waited for; --format program can");
  }
  if (HasForward(blueprint, StepKind::kLaunch)) {
    warnings->push_back(
        "SimAI's text cannot say that collectives run beside products: they "
        "are waited for; --format program can");
  }
  const PipelineSchedule schedule = blueprint.schedule;
  if (schedule != DefaultSchedule(blueprint.sizes.virtual_stages)) {
    warnings->push_back(
        fmt::format("SimAI's text cannot say that the schedule is {}; --format "
                    "program can",
                    Name(schedule)));
  }
  if (blueprint.forward_only && blueprint.sizes.pipeline > 1) {
    warnings->push_back(
        "SimAI's text counts a message each way between stages, inference "
        "sends one; --format program can say so");
  }
}

// Warns of numbers that SimAI reads into 32-bit integers and that do not fit.
void WarnOfSimaiLimits(const SimaiText& text, Warnings* warnings) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (text.pipeline_message.count() > kMax) {
    warnings->push_back(fmt::format(
        "SimAI itself stops at a pipeline message of {} B: it is above 2^31",
        text.pipeline_message.count()));
  }
  for (const SimaiLayer& layer : text.layers) {
    for (const SimaiPhase& phase : layer.phases) {
      if (phase.compute > Nanoseconds(kMax)) {
        warnings->push_back(fmt::format(
            "SimAI itself loses the computation of {}, which takes over 2^31 "
            "ns",
            layer.name));
        return;
      }
    }
  }
}

absl::StatusOr<std::string> WriteSimaiText(const GenWorkloadOptions& options,
                                           const Blueprint& blueprint,
                                           const ModuleTimes& times,
                                           Warnings* warnings) {
  size_t stage = SlowestStage(blueprint, times);
  if (options.stage) {
    const std::optional<size_t> chosen = StageOf(blueprint, *options.stage);
    if (!chosen) {
      return absl::InvalidArgumentError(
          fmt::format("--pp-rank is {}: the last of the stages is {}",
                      *options.stage, blueprint.sizes.pipeline - 1));
    }
    stage = *chosen;
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiText text,
                         SimaiTextOf(blueprint, stage, times));
  WarnOfText(blueprint, warnings);
  WarnOfSimaiLimits(text, warnings);
  return FormatSimaiText(text);
}

}  // namespace

bool PrintedList(const CommandLine& flags) {
  if (flags.has("list-models")) {
    Print(fmt::format("{}\n", fmt::join(ModelNames(), "\n")));
    return true;
  }
  if (flags.has("list-gpus")) {
    Print(fmt::format("{}\n", fmt::join(GpuNames(), "\n")));
    return true;
  }
  if (flags.has("list-frameworks")) {
    Print(fmt::format("{}\n", fmt::join(FrameworkNames(), "\n")));
    return true;
  }
  return false;
}

absl::StatusOr<std::string> FormatWorkloadAs(const GenWorkloadOptions& options,
                                             const Blueprint& blueprint,
                                             const ModuleTimes& times,
                                             Warnings* warnings) {
  // The other formats do not limit how much a program may hold.
  const absl::StatusOr<Program> program = ProgramOf(options, blueprint, times);
  if (program.ok()) {
    const std::string excess = DescribeExcess(*program, MemoryOf(*program));
    if (!excess.empty()) warnings->push_back(excess);
  }
  switch (options.format) {
    case WorkloadFormat::kSimai:
      return WriteSimaiText(options, blueprint, times, warnings);
    case WorkloadFormat::kProgram:
      ASTRA_RETURN_IF_ERROR(program.status());
      return FormatProgram(*program);
    case WorkloadFormat::kAicbLog:
      return FormatAicbLog(blueprint,
                           {.pipeline_rank = options.stage.value_or(0),
                            .with_products = options.with_products});
    case WorkloadFormat::kVidur:
      return FormatVidurWorkload(blueprint, times);
  }
  ASTRA_CHECK(false, "format {}", static_cast<int>(options.format));
}

WorkBudget BudgetOf(const GenWorkloadOptions& options,
                    const Blueprint& blueprint, const ModuleTimes& times) {
  // Costs that were measured with 100,000 micro-batches of GPT-13B.
  const bool is_log = options.format == WorkloadFormat::kAicbLog;
  const double memory_per_byte = is_log ? 1.5 : 4.5;
  const double seconds_per_byte = is_log ? 30e-9 : 7e-9;
  // Samples with this many micro-batches, and twice as many, suit every
  // schedule.
  const int64_t few = blueprint.sizes.pipeline;
  const int64_t all = blueprint.sizes.micro_batches;
  if (all <= 2 * few) return {};
  std::array<double, 2> bytes{};
  std::array<double, 2> lines{};
  for (size_t i = 0; i < bytes.size(); ++i) {
    Blueprint shorter = blueprint;
    shorter.sizes.micro_batches = static_cast<int64_t>(i + 1) * few;
    Warnings ignored;
    const auto text = FormatWorkloadAs(options, shorter, times, &ignored);
    if (!text.ok()) return {};
    bytes[i] = static_cast<double>(text->size());
    lines[i] =
        static_cast<double>(std::count(text->begin(), text->end(), '\n'));
  }
  const double more = static_cast<double>(all - few) / static_cast<double>(few);
  const double all_bytes = bytes[0] + (bytes[1] - bytes[0]) * more;
  const double all_lines = lines[0] + (lines[1] - lines[0]) * more;
  const bool is_refused =
      is_log ? all_bytes > static_cast<double>(kMaxAicbLogBytes)
             : all_lines > static_cast<double>(kMaxSimaiLayers);
  if (is_refused) return {};
  return {.seconds = seconds_per_byte * all_bytes,
          .memory_bytes = memory_per_byte * all_bytes};
}

absl::StatusOr<std::string> ChartOf(const GenWorkloadOptions& options,
                                    const Blueprint& blueprint,
                                    const ModuleTimes& times) {
  ASTRA_ASSIGN_OR_RETURN(const Program program,
                         ProgramOf(options, blueprint, times));
  return CommunicationChart(options.model.name, program);
}

std::string Explanation(const GenWorkloadOptions& options,
                        const Blueprint& blueprint, const ModuleTimes& times) {
  std::string text =
      ExplainBlueprint(options.model, options.gpu, blueprint, WorkOf(options),
                       BatchOf(options).positions, times);
  const absl::StatusOr<Program> program = ProgramOf(options, blueprint, times);
  if (program.ok()) text += DescribeMemory(*program, MemoryOf(*program));
  return text;
}

}  // namespace astra
