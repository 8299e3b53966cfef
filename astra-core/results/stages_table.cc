#include "astra-core/results/stages_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace astra {
namespace {

constexpr std::string_view kFile = "stages.csv";

// What the modules of a chunk, or of a stage, take.
struct Parts {
  TimePs forward;
  TimePs recompute;
  TimePs backward;
  std::optional<TimePs> waiting;
  ModuleMemory memory;  // The workspace is the largest.

  void Add(const Parts& other) {
    forward += other.forward;
    recompute += other.recompute;
    backward += other.backward;
    if (other.waiting) {
      waiting = waiting.value_or(TimePs()) + *other.waiting;
    }
    AddHeld(other.memory, 1);
    memory.saved += other.memory.saved;
  }

  void AddHeld(const ModuleMemory& other, int64_t times) {
    memory.weights += times * other.weights;
    memory.gradients += times * other.gradients;
    memory.optimizer += times * other.optimizer;
    memory.cache += times * other.cache;
    memory.workspace = std::max(memory.workspace, other.workspace);
  }
};

TimePs ComputeOf(const ProgramModule& module, ModulePass pass) {
  TimePs sum;
  for (const Step& step : module.passes[IndexOf(pass)]) {
    if (step.when == StepWhen::kEach) sum += step.compute;
  }
  return sum;
}

Parts PartsOf(const Program& program, const ProgramStage& stage,
              int64_t chunk) {
  Parts parts;
  for (const ModuleRun& run : stage.runs) {
    if (run.chunk != chunk) continue;
    for (const ModuleId id : run.modules) {
      const ProgramModule& module = program.module(id);
      const auto compute = [&](ModulePass pass) {
        return run.times * ComputeOf(module, pass);
      };
      parts.forward += compute(ModulePass::kForward);
      parts.recompute += compute(ModulePass::kRecompute);
      parts.backward += compute(ModulePass::kInputGradient) +
                        compute(ModulePass::kWeightGradient);
      parts.AddHeld(module.memory, run.times);
      parts.memory.saved += run.times * module.memory.saved;
    }
  }
  return parts;
}

// Returns how long the first ranks of a stage wait for collectives of a
// micro-batch in a chunk, on average of those that were run.
std::optional<TimePs> WaitingOf(const SimulationResult& result, int64_t stage,
                                int64_t chunk) {
  if (result.timeline.empty()) return std::nullopt;
  const auto rank = std::find_if(
      result.ranks.begin(), result.ranks.end(),
      [stage](const RankResult& each) { return each.stage == stage; });
  if (rank == result.ranks.end()) return std::nullopt;
  const RankTimeline& timeline =
      result.timeline.ranks[static_cast<size_t>(rank - result.ranks.begin())];
  TimePs sum;
  std::set<int32_t> micro_batches;
  for (const Span& span : timeline.spans) {
    if (span.chunk != chunk || span.micro_batch < 0) continue;
    micro_batches.insert(span.micro_batch);
    if (!span.is_wait()) continue;
    const size_t record = timeline.calls[span.call].record;
    const bool is_message =
        result.collectives[record].communication.dimension ==
        ParallelDimension::kPipeline;
    if (!is_message) sum += span.end - span.begin;
  }
  if (micro_batches.empty()) return std::nullopt;
  return TimePs(sum.count() / static_cast<int64_t>(micro_batches.size()));
}

struct StageRow {
  int64_t stage = 0;
  std::optional<int64_t> chunk;  // None: the whole stage.
  const Parts& parts;
  const Program& program;
  const StageMemory* memory = nullptr;  // Null: not known, or a chunk.
};

template <Bytes ModuleMemory::*kPart>
void AppendPart(const StageRow& row, std::string* text) {
  AppendInteger((row.parts.memory.*kPart).count(), text);
}

template <Bytes StageMemory::*kPart>
void AppendAtPeak(const StageRow& row, std::string* text) {
  if (row.memory != nullptr) {
    AppendInteger((row.memory->*kPart).count(), text);
  }
}

constexpr Column<StageRow> kStages[] = {
    {"stage", "", "of the pipeline",
     [](const StageRow& row, std::string* text) {
       AppendInteger(row.stage, text);
     }},
    {"chunk", "", "of the stage; empty for the whole stage",
     [](const StageRow& row, std::string* text) {
       if (row.chunk) AppendInteger(*row.chunk, text);
     }},
    {"forward_us", "us", "computation of a micro-batch's forward",
     [](const StageRow& row, std::string* text) {
       AppendUs(row.parts.forward, text);
     }},
    {"recompute_us", "us", "computation of what runs forward again",
     [](const StageRow& row, std::string* text) {
       AppendUs(row.parts.recompute, text);
     }},
    {"backward_us", "us", "computation of both gradients",
     [](const StageRow& row, std::string* text) {
       AppendUs(row.parts.backward, text);
     }},
    {"waiting_us", "us",
     "for collectives of a micro-batch, but for messages between stages; the "
     "average of those that were run",
     [](const StageRow& row, std::string* text) {
       if (row.parts.waiting) AppendUs(*row.parts.waiting, text);
     }},
    {"weights_bytes", "B", "held all the time",
     AppendPart<&ModuleMemory::weights>},
    {"gradients_bytes", "B", "held all the time",
     AppendPart<&ModuleMemory::gradients>},
    {"optimizer_bytes", "B", "held all the time",
     AppendPart<&ModuleMemory::optimizer>},
    {"cache_bytes", "B", "KV cache, in inference",
     AppendPart<&ModuleMemory::cache>},
    {"saved_bytes", "B", "kept of one micro-batch until its backward",
     AppendPart<&ModuleMemory::saved>},
    {"workspace_bytes", "B", "largest of a module while it runs",
     AppendPart<&ModuleMemory::workspace>},
    {"peak_saved_bytes", "B", "kept by all micro-batches at the peak",
     AppendAtPeak<&StageMemory::saved>},
    {"peak_workspace_bytes", "B", "of what runs at the peak",
     AppendAtPeak<&StageMemory::workspace>},
    {"allocated_bytes", "B",
     "at the peak: what is held all the time, saved and workspace",
     [](const StageRow& row, std::string* text) {
       if (row.memory != nullptr) {
         AppendInteger(row.memory->peak().count(), text);
       }
     }},
    {"reserved_bytes", "B", "what PyTorch takes from the GPU for it",
     [](const StageRow& row, std::string* text) {
       if (row.memory != nullptr) {
         AppendInteger(ReservedMemory(*row.memory).count(), text);
       }
     }},
    {"peak_module", "", "module that owns the workspace at the peak",
     [](const StageRow& row, std::string* text) {
       if (row.memory == nullptr) return;
       AppendField(row.program.module(row.memory->module).name, text);
     }},
    {"at_the_peak", "", "pass, micro-batch and chunk",
     [](const StageRow& row, std::string* text) {
       if (row.memory == nullptr) return;
       AppendField(MomentOf(row.program, *row.memory), text);
     }},
};

}  // namespace

std::string StagesCsv(const Program& program,
                      absl::Span<const StageMemory> memories,
                      const SimulationResult& result) {
  std::string text = HeaderOf<StageRow>(kStages);
  const PipelineShape shape = program.shape();
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    const ProgramStage& work = program.stage(stage);
    Parts whole;
    std::vector<Parts> chunks;
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      chunks.push_back(PartsOf(program, work, chunk));
      chunks.back().waiting = WaitingOf(result, stage, chunk);
      whole.Add(chunks.back());
    }
    for (const ModuleId id : work.after) {
      whole.AddHeld(program.module(id).memory, 1);
    }
    const StageMemory* memory =
        memories.empty() ? nullptr : &memories[static_cast<size_t>(stage)];
    AppendRow<StageRow>(kStages, {stage, std::nullopt, whole, program, memory},
                        &text);
    if (shape.chunks == 1) continue;
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      AppendRow<StageRow>(
          kStages,
          {stage, chunk, chunks[static_cast<size_t>(chunk)], program, nullptr},
          &text);
    }
  }
  return text;
}

void AppendStagesColumns(std::vector<ColumnText>* texts) {
  AppendTexts<StageRow>(kFile, kStages, texts);
}

}  // namespace astra
