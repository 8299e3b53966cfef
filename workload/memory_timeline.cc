#include "workload/memory_timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "astra-core/base/append_format.h"
#include "fmt/core.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

// The peak of one micro-batch in a chunk, without what is held all the time and
// what other micro-batches keep.
struct Level {
  ModuleId module{0};
  Bytes saved;
  Bytes workspace;

  Bytes sum() const { return saved + workspace; }
};

void Raise(const Level& level, std::optional<Level>& highest) {
  if (!highest || level.sum() > highest->sum()) highest = level;
}

// Memory of one micro-batch in a chunk. At each module it has the same level
// forward and backward: what the modules up to this one keep.
struct ChunkLevels {
  Bytes saved;
  std::optional<Level> passing;
  // The peak if the backward pass releases nothing.
  std::optional<Level> keeping_all;
  // Largest workspace of a module that waits for tokens of experts.
  Bytes waiting;
};

bool WaitsForExperts(const Step& step) {
  if (step.kind == StepKind::kWait) {
    return step.communication.dimension == ParallelDimension::kExpert;
  }
  return step.kind == StepKind::kBlocking &&
         step.communication.bytes > Bytes(0) &&
         CarriesTokens(step.communication);
}

bool WaitsForExperts(const ProgramModule& module) {
  return std::any_of(
      module.passes.begin(), module.passes.end(), [](const auto& steps) {
        return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
          return WaitsForExperts(step);
        });
      });
}

// Memory that a stage holds all the time.
struct Fixed {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes cache;
};

class Timeline {
 public:
  Timeline(const Program& program, const ProgramStage& stage)
      : program_(program) {
    const auto num_chunks = static_cast<size_t>(program.shape().chunks);
    chunks_.resize(num_chunks);
    for (const ModuleRun& run : stage.runs) AddRun(run);
    for (const ModuleRun& run : stage.runs) AddKeepingAll(run);
    for (size_t i = 0; i < num_chunks; ++i) {
      const std::optional<ModuleId> waiting =
          LargestWaiting(program, stage, static_cast<int64_t>(i));
      if (waiting) {
        chunks_[i].waiting = program.module(*waiting).memory.workspace;
      }
    }
    for (const ModuleId id : stage.after) {
      AddFixed(id, 1);
      Raise({id, Bytes(0), program.module(id).memory.workspace}, after_);
    }
  }

  // Returns the memory of pipeline stage `stage`.
  StageMemory Of(int64_t stage) const {
    StageMemory memory;
    memory.stage = stage;
    memory.weights = fixed_.weights;
    memory.gradients = fixed_.gradients;
    memory.optimizer = fixed_.optimizer;
    memory.cache = fixed_.cache;
    Bytes saved;
    int64_t in_flight = 0;
    const std::vector<Slot> slots = Slots(stage);
    for (size_t i = 0; i < slots.size(); ++i) {
      const Slot& slot = slots[i];
      const ChunkLevels& chunk = ChunkOf(slot);
      if (slot.kind == SlotKind::kForward) {
        saved += chunk.saved;
        ++in_flight;
      }
      Note(slot, in_flight, saved, WorkspaceBeside(slots, i), memory);
      const bool releases = slot.kind == SlotKind::kBackward ||
                            slot.kind == SlotKind::kWeightGradient;
      if (!releases && !program_.forward_only()) continue;
      saved -= chunk.saved;
      --in_flight;
    }
    if (!after_) return memory;
    memory.after = memory.fixed() + after_->workspace;
    if (memory.after > memory.peak()) {
      memory.slot.reset();
      memory.module = after_->module;
      memory.in_flight = 0;
      memory.saved = Bytes(0);
      memory.workspace = after_->workspace;
    }
    return memory;
  }

 private:
  void AddFixed(ModuleId id, int64_t times) {
    const ModuleMemory& memory = program_.module(id).memory;
    fixed_.weights += times * memory.weights;
    fixed_.gradients += times * memory.gradients;
    fixed_.optimizer += times * memory.optimizer;
    fixed_.cache += times * memory.cache;
  }

  // If the run repeats, the last repetition is on top of the others.
  void AddRun(const ModuleRun& run) {
    ChunkLevels& chunk = chunks_[static_cast<size_t>(run.chunk)];
    Bytes once;
    for (const ModuleId id : run.modules) {
      AddFixed(id, run.times);
      once += program_.module(id).memory.saved;
    }
    chunk.saved += (run.times - 1) * once;
    for (const ModuleId id : run.modules) {
      const ModuleMemory& memory = program_.module(id).memory;
      chunk.saved += memory.saved;
      Raise({id, chunk.saved, memory.workspace}, chunk.passing);
    }
  }

  void AddKeepingAll(const ModuleRun& run) {
    ChunkLevels& chunk = chunks_[static_cast<size_t>(run.chunk)];
    for (const ModuleId id : run.modules) {
      Raise({id, chunk.saved, program_.module(id).memory.workspace},
            chunk.keeping_all);
    }
  }

  // Returns the slots of the stage, without most repetitions of a steady state.
  std::vector<Slot> Slots(int64_t stage) const {
    if (program_.forward_only()) return {{SlotKind::kForward, 0, 0}};
    PipelineShape shape = program_.shape();
    shape.micro_batches = LeastMicroBatches(program_);
    return SlotsOf(program_.schedule(), shape, stage);
  }

  const ChunkLevels& ChunkOf(const Slot& slot) const {
    return chunks_[static_cast<size_t>(slot.chunk)];
  }

  // Returns what the slot beside slots[i] takes, if there is one, while it
  // waits for tokens of experts and slots[i] goes on.
  Bytes WorkspaceBeside(absl::Span<const Slot> slots, size_t i) const {
    if (slots[i].beside_next) return ChunkOf(slots[i + 1]).waiting;
    if (i > 0 && slots[i - 1].beside_next) return ChunkOf(slots[i - 1]).waiting;
    return Bytes(0);
  }

  // Adds the point of a slot. `saved` is kept by all micro-batches in flight,
  // with that of the slot; `beside` is the workspace of the slot beside it. Of
  // equal peaks, the first backward slot counts.
  void Note(const Slot& slot, int64_t in_flight, Bytes saved, Bytes beside,
            StageMemory& memory) const {
    const ChunkLevels& chunk = ChunkOf(slot);
    const std::optional<Level>& level = slot.kind == SlotKind::kInputGradient
                                            ? chunk.keeping_all
                                            : chunk.passing;
    if (!level) return;  // The chunk has no modules.
    const Bytes others = saved - chunk.saved;
    const Bytes bytes = memory.fixed() + others + level->sum() + beside;
    memory.points.push_back({slot, in_flight, bytes});
    const bool turns_back = memory.slot &&
                            memory.slot->kind == SlotKind::kForward &&
                            slot.kind != SlotKind::kForward;
    const bool is_highest = !memory.slot || bytes > memory.peak() ||
                            (bytes == memory.peak() && turns_back);
    if (!is_highest) return;
    memory.slot = slot;
    memory.module = level->module;
    memory.in_flight = in_flight;
    memory.saved = others + level->saved;
    memory.workspace = level->workspace + beside;
  }

  const Program& program_;
  Fixed fixed_;
  std::vector<ChunkLevels> chunks_;
  std::optional<Level> after_;
};

double ToGiB(Bytes bytes) {
  return static_cast<double>(bytes.count()) / (1 << 30);
}

// Returns text such as "3" or "3-5".
std::string StageRange(absl::Span<const StageMemory> memories) {
  const int64_t first = memories.front().stage;
  const int64_t last = memories.back().stage;
  return first == last ? fmt::format("{}", first)
                       : fmt::format("{}-{}", first, last);
}

// Returns the line of a stage in DescribeMemory, without the stage's number.
std::string LineOf(const Program& program, const StageMemory& memory) {
  if (program.forward_only()) {
    return fmt::format(" {:>8.2f} {:>9.2f} {:>9.2f} {:>9.2f}  {}",
                       ToGiB(memory.weights), ToGiB(memory.cache),
                       ToGiB(memory.workspace), ToGiB(memory.peak()),
                       program.module(memory.module).name);
  }
  return fmt::format(
      " {:>8.2f} {:>9.2f} {:>9.2f} {:>8.2f} {:>9.2f} {:>9.2f} {:>8.2f}  {}, "
      "{}, {} in flight",
      ToGiB(memory.weights), ToGiB(memory.gradients), ToGiB(memory.optimizer),
      ToGiB(memory.saved), ToGiB(memory.workspace), ToGiB(memory.peak()),
      ToGiB(ReservedMemory(memory)), MomentOf(program, memory),
      program.module(memory.module).name, memory.in_flight);
}

}  // namespace

bool SaysMemory(const Program& program) {
  return std::any_of(program.modules().begin(), program.modules().end(),
                     [](const ProgramModule& module) {
                       return module.memory != ModuleMemory();
                     });
}

std::optional<ModuleId> LargestWaiting(const Program& program,
                                       const ProgramStage& stage,
                                       int64_t chunk) {
  std::optional<ModuleId> largest;
  for (const ModuleRun& run : stage.runs) {
    if (run.chunk != chunk) continue;
    for (const ModuleId id : run.modules) {
      const ProgramModule& module = program.module(id);
      if (!WaitsForExperts(module)) continue;
      if (!largest ||
          module.memory.workspace > program.module(*largest).memory.workspace) {
        largest = id;
      }
    }
  }
  return largest;
}

int64_t LeastMicroBatches(const Program& program) {
  const PipelineShape shape = program.shape();
  const PipelineSchedule schedule = program.schedule();
  if (program.forward_only()) return 1;
  if (!schedule->has_steady_state) return shape.micro_batches;
  const int64_t step = RepetitionMicroBatches(schedule, shape);
  const int64_t enough = SteadyFrom(schedule, shape) + step;
  if (shape.micro_batches <= enough) return shape.micro_batches;
  return enough + (shape.micro_batches - enough) % step;
}

std::vector<StageMemory> MemoryOf(const Program& program) {
  std::vector<StageMemory> memories;
  int64_t stage = 0;
  for (const ProgramStage& each : program.stages()) {
    const Timeline timeline(program, each);
    for (const int64_t end = stage + each.count; stage < end; ++stage) {
      memories.push_back(timeline.Of(stage));
    }
  }
  return memories;
}

Bytes ReservedMemory(const StageMemory& memory) {
  constexpr double kUsedShare = 0.94;
  Bytes highest = memory.fixed();
  for (const MemoryPoint& point : memory.points) {
    highest = std::max(highest, point.bytes);
  }
  const Bytes after = std::max(memory.after, memory.fixed()) - memory.fixed();
  return after +
         Bytes(std::llround(static_cast<double>(highest.count()) / kUsedShare));
}

std::string DescribeMemory(const Program& program,
                           absl::Span<const StageMemory> memories) {
  std::string text;
  if (program.forward_only()) {
    text = fmt::format(
        "memory of a rank in GiB, with the KV cache of the step's sequences\n"
        "{:>7} {:>8} {:>9} {:>9} {:>9}  {}\n",
        "stage", "weights", "KV cache", "workspace", "allocated",
        "at the peak");
  } else {
    text = fmt::format(
        "memory of a rank in GiB: allocated for tensors, and reserved by "
        "PyTorch\n"
        "{:>7} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8}  {}\n",
        "stage", "weights", "gradients", "optimizer", "saved", "workspace",
        "allocated", "reserved", "at the peak");
  }
  // Successive stages with equal lines share a line.
  for (size_t i = 0; i < memories.size();) {
    const std::string line = LineOf(program, memories[i]);
    size_t end = i + 1;
    while (end < memories.size() && LineOf(program, memories[end]) == line) {
      ++end;
    }
    AppendFormat(&text, "{:>7}{}\n", StageRange(memories.subspan(i, end - i)),
                 line);
    i = end;
  }
  return text;
}

std::string MomentOf(const Program& program, const StageMemory& memory) {
  if (!memory.slot) return "after the last micro-batch";
  std::string text =
      fmt::format("{} of micro-batch {}", Name(memory.slot->kind),
                  memory.slot->micro_batch);
  if (program.shape().chunks > 1) {
    text += fmt::format(", chunk {}", memory.slot->chunk);
  }
  return text;
}

const StageMemory& LargestOf(absl::Span<const StageMemory> memories) {
  return *std::max_element(memories.begin(), memories.end(),
                           [](const StageMemory& a, const StageMemory& b) {
                             return a.peak() < b.peak();
                           });
}

std::string DescribeExcess(const Program& program,
                           absl::Span<const StageMemory> memories) {
  const Bytes available = program.gpu().memory;
  const auto is_over = [available](const StageMemory& memory) {
    return memory.peak() > available;
  };
  const auto num_over =
      std::count_if(memories.begin(), memories.end(), is_over);
  if (available == Bytes(0) || num_over == 0) return "";
  const std::string others =
      num_over == 1 ? ""
                    : fmt::format("; {} of {} stages need more than it has",
                                  num_over, memories.size());
  const StageMemory& most = LargestOf(memories);
  return fmt::format(
      "stage {} allocates {:.1f} GiB, more than the GPU's {:.1f} GiB{}",
      most.stage, ToGiB(most.peak()), ToGiB(available), others);
}

}  // namespace astra
