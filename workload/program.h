// One training iteration, or one inference step, in compact form: modules,
// which stage runs which of them how often, and how many micro-batches there
// are. Nothing is unrolled, so a file is kilobytes whatever the batch.
//
// For each micro-batch a stage runs the modules of each of its chunks forward
// in order, and later backward in reverse order, each with its recomputation,
// input gradient and weight gradient. The schedule decides the order of chunks
// and micro-batches; see workload/pipeline/schedule.h. After the last
// micro-batch a stage waits for everything it launched and runs the modules of
// `after` once, forward.
//
// A rank has one stream of computation and one stream of communication for each
// dimension. Collectives of one dimension run in the order of their starts.
//
//   compute     takes its time
//   blocking    a collective, and the computation waits for it
//   launch      a collective, and the computation goes on; see `wait`
//   prefetch    as blocking, but started when the module before this one that
//               also has a prefetch, in the order of execution, starts to
//               compute: the parameters of FSDP
//   wait        waits for all that was launched over a dimension

#ifndef WORKLOAD_PROGRAM_H_
#define WORKLOAD_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/expert_routing.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "workload/parallel_plan.h"
#include "workload/phase.h"
#include "workload/pipeline/schedule.h"

namespace astra {

enum class StepKind : uint8_t {
  kCompute,
  kBlocking,
  kLaunch,
  kPrefetch,
  kWait,
};
std::string_view Name(StepKind kind);  // "compute", "blocking", ...

// The micro-batches in which a step runs: gradients are reduced after the last
// one, and sharded parameters may be gathered only before the first one.
enum class StepWhen : uint8_t { kEach, kFirst, kLast };
std::string_view Name(StepWhen when);  // "each", "first", "last".

struct Step {
  StepKind kind = StepKind::kCompute;
  StepWhen when = StepWhen::kEach;
  TimePs compute;                 // For kCompute.
  Communication communication{};  // A kWait uses only the dimension.

  friend bool operator==(const Step&, const Step&) = default;
};

// The parts of a module, in the order in which they run.
enum class ModulePass : uint8_t {
  kForward,
  kRecompute,  // Just before the input gradient.
  kInputGradient,
  kWeightGradient,
};
constexpr ModulePass kModulePasses[] = {
    ModulePass::kForward, ModulePass::kRecompute, ModulePass::kInputGradient,
    ModulePass::kWeightGradient};
constexpr size_t IndexOf(ModulePass pass) { return static_cast<size_t>(pass); }
std::string_view Name(ModulePass pass);  // "forward", "recompute", ...

using ModuleId = Id<struct ModuleTag>;

// The memory that a module takes on a rank.
struct ModuleMemory {
  Bytes weights;    // Weights and all else that is always held.
  Bytes gradients;  // Accumulated gradients.
  Bytes optimizer;  // This rank's share of the states.
  Bytes saved;      // Kept of one micro-batch until its backward pass.
  Bytes workspace;  // Needed only while the module runs.
  Bytes cache;      // KV cache of the served sequences.

  friend bool operator==(const ModuleMemory&, const ModuleMemory&) = default;
};

struct ProgramModule {
  std::string name;
  std::array<std::vector<Step>, std::size(kModulePasses)> passes;
  ModuleMemory memory;
  // A rank has the result of each of the module's collectives this long after
  // the collective's end. Only schedule "simai" has modules with an update.
  TimePs update;
  // Before the module's backward pass, the modules from this one up to the one
  // before it run forward again. Only schedule "simai" has such modules.
  std::optional<ModuleId> rerun_from;
  // Whether the module's work is done once per iteration rather than for every
  // micro-batch. The pipeline bubble of schedule "simai" does not contain it.
  bool is_once = false;

  friend bool operator==(const ProgramModule&, const ProgramModule&) = default;
};

// Runs `modules` one after another, `times` times.
struct ModuleRun {
  int64_t times = 1;
  std::vector<ModuleId> modules;
  int64_t chunk = 0;  // Model chunk of the stage that holds them.

  friend bool operator==(const ModuleRun&, const ModuleRun&) = default;
};

// The work of each of `count` successive pipeline stages.
struct ProgramStage {
  int64_t count = 1;
  std::vector<ModuleRun> runs;  // Ordered by chunk.
  std::vector<ModuleId> after;

  friend bool operator==(const ProgramStage&, const ProgramStage&) = default;
};

// The GPU for which the times hold. A value of 0 is not known.
struct ProgramGpu {
  Bytes memory;
  double peak_tflops = 0;  // In the precision of the products.
  // The share of its speed, below 1, that computation loses while a collective
  // runs beside it and takes SMs and memory bandwidth.
  double communication_slowdown = 0;
  // Name of the GPU as gen_workload knows it, such as "h100-sxm"; empty: not
  // known.
  std::string name;

  friend bool operator==(const ProgramGpu&, const ProgramGpu&) = default;
};

// The work of one iteration, over all GPUs. A value of 0 is not known.
struct ProgramWork {
  int64_t tokens = 0;
  // FLOPs of the model's products and of attention with its mask, forward and
  // backward, without recomputation.
  double model_flops = 0;

  friend bool operator==(const ProgramWork&, const ProgramWork&) = default;
};

struct ProgramParts {
  // The stages are sizes.pipeline in all, with sizes.virtual_stages chunks
  // each.
  ParallelSizes sizes;
  bool forward_only = false;  // Inference: no backward pass.
  PipelineSchedule schedule = DefaultSchedule(/*chunks=*/1);
  Bytes pipeline_message;  // Sent to the next stage for each micro-batch.
  ProgramGpu gpu;
  ProgramWork work;
  // Routing of tokens to the experts; none where there are no experts, or where
  // it is not known.
  std::optional<ExpertRouting> routing;
  std::vector<ProgramModule> modules;
  std::vector<ProgramStage> stages;

  friend bool operator==(const ProgramParts&, const ProgramParts&) = default;
};

// An immutable, valid program.
class Program {
 public:
  // Limits on what one stage runs for a micro-batch, with all repeats and
  // `after`. kMaxOccurrences counts runs of modules.
  static constexpr int64_t kMaxOccurrences = int64_t{1} << 21;
  static constexpr int64_t kMaxSteps = int64_t{1} << 24;

  // Limits on the time and bytes of one step, and on their sums over all that
  // one stage runs in an iteration. kMaxBytes also limits the memory that the
  // stage's modules take, with what is saved of all micro-batches.
  static constexpr TimePs kMaxCompute{1'000'000'000'000'000'000};
  static constexpr Bytes kMaxBytes{int64_t{1} << 60};
  static constexpr double kMaxTflops = 1e9;
  static constexpr double kMaxFlops = 1e36;
  // Limits each kind of memory of one module.
  static constexpr Bytes kMaxMemory{int64_t{1} << 44};

  // If no ETP is given, it becomes equal to TP.
  //
  // Errors: InvalidArgument if ParallelPlan::Create refuses the sizes; the
  // counts of the stages do not add up to the pipeline stages; a stage runs
  // nothing or too much; a chunk of a stage runs nothing or out of order; the
  // schedule does not suit the sizes; a module does not exist, has no name, is
  // run by no stage, or shares its name with another (except with schedule
  // "simai", whose modules are layers); a time or size is negative; a
  // collective is over the pipeline or a send-recv; FindMistake has a word
  // against the routing; or a program that is
  // forward only, or a module of `after`, has backward steps.
  static absl::StatusOr<Program> Create(ProgramParts parts);

  const ParallelSizes& sizes() const { return parts_.sizes; }
  bool forward_only() const { return parts_.forward_only; }
  PipelineSchedule schedule() const { return parts_.schedule; }
  // See ScheduleTraits::simulates_stages.
  bool simulates_pipeline() const { return parts_.schedule->simulates_stages; }
  // The shape of the simulated pipeline; 1 stage, chunk and micro-batch if the
  // schedule simulates none.
  PipelineShape shape() const;
  Bytes pipeline_message() const { return parts_.pipeline_message; }
  const ProgramGpu& gpu() const { return parts_.gpu; }
  const ProgramWork& work() const { return parts_.work; }
  const std::optional<ExpertRouting>& routing() const { return parts_.routing; }
  absl::Span<const ProgramModule> modules() const { return parts_.modules; }
  const ProgramModule& module(ModuleId id) const {
    return parts_.modules[id.index()];
  }
  absl::Span<const ProgramStage> stages() const { return parts_.stages; }
  // Returns the entry of stages() for pipeline stage `stage`.
  const ProgramStage& stage(int64_t stage) const;

  friend bool operator==(const Program&, const Program&) = default;

 private:
  explicit Program(ProgramParts parts) : parts_(std::move(parts)) {}

  ProgramParts parts_;
};

// Returns whether `program` is of training. SimAI's text does not say so, but
// has collectives in the backward passes of training only.
bool IsTraining(const Program& program);

}  // namespace astra

#endif  // WORKLOAD_PROGRAM_H_
