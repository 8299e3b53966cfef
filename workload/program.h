// One training iteration, or one inference step, in compact form: modules,
// which stage runs which of them how often, and how many micro-batches there
// are. Nothing is unrolled, so a file is kilobytes whatever the batch.
//
// For each micro-batch a stage runs the modules of each of its chunks forward
// in order, and later backward in reverse order, each with its recomputation,
// input gradient and weight gradient. In which order chunks and micro-batches
// follow one another is what the schedule says; see
// workload/pipeline/schedule.h. After the last micro-batch a stage waits for
// all that it launched and runs the modules of `after`, once, forward.
//
// A rank has one stream of computation and one stream of communication for each
// dimension; collectives of one dimension run in the order of their starts.
//
//   compute     takes its time
//   blocking    a collective, and the computation waits for it
//   launch      a collective, and the computation goes on; see `wait`
//   prefetch    as blocking, but started when the module before this one that
//               also has a prefetch, in the order of execution, starts to
//               compute: the parameters of FSDP
//   wait        the computation waits for all that was launched over a
//   dimension

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

// In which micro-batches a step runs: gradients are reduced after the last one,
// sharded parameters may be gathered before the first one only.
enum class StepWhen : uint8_t { kEach, kFirst, kLast };
std::string_view Name(StepWhen when);  // "each", "first", "last".

struct Step {
  StepKind kind = StepKind::kCompute;
  StepWhen when = StepWhen::kEach;
  TimePs compute;                 // kCompute.
  Communication communication{};  // Of kWait, only the dimension counts.

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

// What a module keeps in the memory of a rank.
struct ModuleMemory {
  Bytes weights;    // With what else is there all the time.
  Bytes gradients;  // As they are accumulated.
  Bytes optimizer;  // This rank's share of the states.
  Bytes saved;  // Of one micro-batch, from its forward to its backward pass.
  Bytes workspace;  // While the module runs.
  Bytes cache;      // Keys and values of the sequences that are served.

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

// `modules` one after another, `times` over.
struct ModuleRun {
  int64_t times = 1;
  std::vector<ModuleId> modules;
  int64_t chunk = 0;  // Which of the stage's model chunks they belong to.

  friend bool operator==(const ModuleRun&, const ModuleRun&) = default;
};

// What each of `count` successive pipeline stages runs.
struct ProgramStage {
  int64_t count = 1;
  std::vector<ModuleRun> runs;  // Those of one chunk after those of another.
  std::vector<ModuleId> after;

  friend bool operator==(const ProgramStage&, const ProgramStage&) = default;
};

// The GPU that the times are of. 0 of anything: not known.
struct ProgramGpu {
  Bytes memory;
  double peak_tflops = 0;  // Of the precision of the products.
  // The share of its speed, below 1, that computation loses while a collective
  // runs beside it and takes SMs and memory bandwidth.
  double communication_slowdown = 0;
  // Name of the GPU as gen_workload knows it, such as "h100-sxm"; empty: not
  // known.
  std::string name;

  friend bool operator==(const ProgramGpu&, const ProgramGpu&) = default;
};

// What one iteration achieves, over all GPUs. 0: not known.
struct ProgramWork {
  int64_t tokens = 0;
  // Of the products of the model and of attention with its mask, forward and
  // backward, without what is recomputed.
  double model_flops = 0;

  friend bool operator==(const ProgramWork&, const ProgramWork&) = default;
};

struct ProgramParts {
  // sizes.pipeline stages in all, of sizes.virtual_stages chunks each.
  ParallelSizes sizes;
  bool forward_only = false;  // Inference: no backward pass.
  PipelineSchedule schedule = DefaultSchedule(/*chunks=*/1);
  Bytes pipeline_message;  // Sent to the next stage for each micro-batch.
  ProgramGpu gpu;
  ProgramWork work;
  std::vector<ProgramModule> modules;
  std::vector<ProgramStage> stages;

  friend bool operator==(const ProgramParts&, const ProgramParts&) = default;
};

// An immutable, valid program.
class Program {
 public:
  // Limits on what one stage runs for a micro-batch, with all repeats and with
  // `after`.
  static constexpr int64_t kMaxOccurrences = int64_t{1} << 21;  // Of modules.
  static constexpr int64_t kMaxSteps = int64_t{1} << 24;

  // Of one step; and of all that one stage runs in the iteration; also of all
  // that its modules keep, with what is saved of all micro-batches.
  static constexpr TimePs kMaxCompute{1'000'000'000'000'000'000};
  static constexpr Bytes kMaxBytes{int64_t{1} << 60};
  static constexpr double kMaxTflops = 1e9;
  static constexpr double kMaxFlops = 1e36;
  // Of one module.
  static constexpr Bytes kMaxMemory{int64_t{1} << 44};

  // A size of ETP that is not given becomes that of TP.
  //
  // Errors: InvalidArgument if the sizes are refused by ParallelPlan::Create,
  // the counts of the stages do not add up to the pipeline stages, a stage runs
  // nothing or too much, a chunk of a stage runs nothing or out of order, the
  // schedule does not suit the sizes, a module does not exist, has no name or
  // (but with schedule "simai", whose modules are layers) that of another or is
  // run by no stage, a time or size is negative, a
  // collective is over the pipeline or a send-recv, a program that is forward
  // only has backward steps, or a module of `after` has.
  static absl::StatusOr<Program> Create(ProgramParts parts);

  const ParallelSizes& sizes() const { return parts_.sizes; }
  bool forward_only() const { return parts_.forward_only; }
  PipelineSchedule schedule() const { return parts_.schedule; }
  // See ScheduleTraits::simulates_stages.
  bool simulates_pipeline() const { return parts_.schedule->simulates_stages; }
  // The shape of the pipeline that a run simulates: 1 stage, chunk and
  // micro-batch where it simulates none.
  PipelineShape shape() const;
  Bytes pipeline_message() const { return parts_.pipeline_message; }
  const ProgramGpu& gpu() const { return parts_.gpu; }
  const ProgramWork& work() const { return parts_.work; }
  absl::Span<const ProgramModule> modules() const { return parts_.modules; }
  const ProgramModule& module(ModuleId id) const {
    return parts_.modules[id.index()];
  }
  absl::Span<const ProgramStage> stages() const { return parts_.stages; }
  // The entry of stages() that pipeline stage `stage` is.
  const ProgramStage& stage(int64_t stage) const;

  friend bool operator==(const Program&, const Program&) = default;

 private:
  explicit Program(ProgramParts parts) : parts_(std::move(parts)) {}

  ProgramParts parts_;
};

}  // namespace astra

#endif  // WORKLOAD_PROGRAM_H_
