// One training iteration, or one inference step, in compact form: modules,
// which stage runs which of them how often, and how many micro-batches there
// are. Nothing is unrolled, so a file is kilobytes whatever the batch.
//
// A stage runs, for each micro-batch, its modules forward in order and then
// backward in reverse order, each with its recomputation, input gradient and
// weight gradient; after the last micro-batch it waits for all that it launched
// and runs the modules of `after`, once, forward.
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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "workload/workload.h"

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

struct ProgramModule {
  std::string name;
  std::array<std::vector<Step>, std::size(kModulePasses)> passes;

  friend bool operator==(const ProgramModule&, const ProgramModule&) = default;
};

// `modules` one after another, `times` over.
struct ModuleRun {
  int64_t times = 1;
  std::vector<ModuleId> modules;

  friend bool operator==(const ModuleRun&, const ModuleRun&) = default;
};

// What each of `count` successive pipeline stages runs. With virtual stages,
// all model chunks of the stage together.
struct ProgramStage {
  int64_t count = 1;
  std::vector<ModuleRun> runs;
  std::vector<ModuleId> after;

  friend bool operator==(const ProgramStage&, const ProgramStage&) = default;
};

struct ProgramParts {
  ParallelSizes sizes;        // sizes.pipeline stages in all.
  bool forward_only = false;  // Inference: no backward pass.
  Bytes pipeline_message;     // Sent to the next stage for each micro-batch.
  std::vector<ProgramModule> modules;
  std::vector<ProgramStage> stages;

  friend bool operator==(const ProgramParts&, const ProgramParts&) = default;
};

// An immutable, valid program.
class Program {
 public:
  // What one stage runs, repeats counted; `after` counts, too.
  static constexpr int64_t kMaxOccurrences = int64_t{1} << 20;  // Of modules.
  static constexpr int64_t kMaxSteps = int64_t{1} << 22;

  // Of one step; and of all that one stage runs in the iteration.
  static constexpr TimePs kMaxCompute{1'000'000'000'000'000'000};
  static constexpr Bytes kMaxBytes{int64_t{1} << 60};

  // A size of ETP that is not given becomes that of TP.
  //
  // Errors: InvalidArgument if the sizes are refused by ParallelPlan::Create,
  // the counts of the stages do not add up to the pipeline stages, a stage runs
  // nothing or too much, a module does not exist, has no name or that of
  // another or is run by no stage, a time or size is negative, a collective is
  // over the pipeline or a send-recv, a program that is forward only has
  // backward steps, or a module of `after` has.
  static absl::StatusOr<Program> Create(ProgramParts parts);

  const ParallelSizes& sizes() const { return parts_.sizes; }
  bool forward_only() const { return parts_.forward_only; }
  Bytes pipeline_message() const { return parts_.pipeline_message; }
  absl::Span<const ProgramModule> modules() const { return parts_.modules; }
  const ProgramModule& module(ModuleId id) const {
    return parts_.modules[id.index()];
  }
  absl::Span<const ProgramStage> stages() const { return parts_.stages; }

  friend bool operator==(const Program&, const Program&) = default;

 private:
  explicit Program(ProgramParts parts) : parts_(std::move(parts)) {}

  ProgramParts parts_;
};

}  // namespace astra

#endif  // WORKLOAD_PROGRAM_H_
