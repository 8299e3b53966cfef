#include "workload/memory_events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/types/span.h"
#include "workload/memory_timeline.h"

namespace astra {
namespace {

// Returns the passes of each module that a slot runs.
absl::Span<const ModulePass> PassesOf(SlotKind kind) {
  static constexpr ModulePass kForward[] = {ModulePass::kForward};
  static constexpr ModulePass kBackward[] = {ModulePass::kRecompute,
                                             ModulePass::kInputGradient,
                                             ModulePass::kWeightGradient};
  const absl::Span<const ModulePass> backward(kBackward);
  switch (kind) {
    case SlotKind::kForward:
      return kForward;
    case SlotKind::kInputGradient:
      return backward.first(2);
    case SlotKind::kWeightGradient:
      return backward.last(1);
    case SlotKind::kBackward:
      break;
  }
  return backward;
}

class EventWriter {
 public:
  EventWriter(const Program& program, int64_t stage, int64_t micro_batches,
              size_t most)
      : program_(program),
        stage_(program.stage(stage)),
        micro_batches_(micro_batches),
        most_(most) {}

  MemoryEvents Write(absl::Span<const Slot> slots) {
    AddHeld();
    for (size_t i = 0; i < slots.size(); ++i) {
      slot_ = slots[i];
      AddSlot(slots[i], BesideOf(slots, i));
    }
    slot_.reset();
    for (const ModuleId id : stage_.after) {
      const size_t workspace =
          Allocate(MemoryUse::kWorkspace, id, MemoryOf(id).workspace);
      Compute(id, SlotKind::kForward);
      Release(workspace);
    }
    return std::move(result_);
  }

 private:
  static constexpr size_t kNoBlock = ~size_t{0};

  struct Block {
    MemoryUse use;
    ModuleId module;
    Bytes bytes;
  };

  const ModuleMemory& MemoryOf(ModuleId id) const {
    return program_.module(id).memory;
  }

  void Add(size_t block, bool is_release) {
    if (result_.events.size() >= most_) {
      ++result_.left_out;
      return;
    }
    const auto& [use, module, bytes] = blocks_[block];
    result_.events.push_back(
        {block, is_release, use, module, bytes, slot_, computed_[Place()]});
  }

  size_t Allocate(MemoryUse use, ModuleId module, Bytes bytes) {
    if (bytes == Bytes(0)) return kNoBlock;
    blocks_.push_back({use, module, bytes});
    Add(blocks_.size() - 1, /*is_release=*/false);
    return blocks_.size() - 1;
  }

  void Release(size_t block) {
    if (block != kNoBlock) Add(block, /*is_release=*/true);
  }

  // Returns the chunk and the micro-batch of the present slot.
  std::pair<int32_t, int32_t> Place() const {
    return slot_ ? std::pair(slot_->chunk, slot_->micro_batch)
                 : std::pair(-1, -1);
  }

  // Counts the computations of a module in a slot of `kind`.
  void Compute(ModuleId id, SlotKind kind) {
    const bool is_first = !slot_ || slot_->micro_batch == 0;
    const bool is_last = !slot_ || slot_->micro_batch == micro_batches_ - 1;
    size_t& computed = computed_[Place()];
    for (const ModulePass pass : PassesOf(kind)) {
      for (const Step& step : program_.module(id).passes[IndexOf(pass)]) {
        const bool runs = step.when == StepWhen::kEach ||
                          (step.when == StepWhen::kFirst ? is_first : is_last);
        if (runs && step.compute > TimePs(0)) ++computed;
      }
    }
  }

  void AddHeld() {
    constexpr std::pair<MemoryUse, Bytes ModuleMemory::*> kHeld[] = {
        {MemoryUse::kWeights, &ModuleMemory::weights},
        {MemoryUse::kGradients, &ModuleMemory::gradients},
        {MemoryUse::kOptimizer, &ModuleMemory::optimizer},
        {MemoryUse::kCache, &ModuleMemory::cache}};
    for (const auto& [use, bytes] : kHeld) {
      for (const ModuleRun& run : stage_.runs) {
        for (const ModuleId id : run.modules) {
          Allocate(use, id, run.times * (MemoryOf(id).*bytes));
        }
      }
      for (const ModuleId id : stage_.after) {
        Allocate(use, id, MemoryOf(id).*bytes);
      }
    }
  }

  // Returns the modules of a chunk in the order of the forward pass.
  const std::vector<ModuleId>& ModulesOf(int64_t chunk) {
    const auto [found, is_new] = modules_.try_emplace(chunk);
    if (!is_new) return found->second;
    for (const ModuleRun& run : stage_.runs) {
      if (run.chunk != chunk) continue;
      for (int64_t i = 0; i < run.times; ++i) {
        found->second.insert(found->second.end(), run.modules.begin(),
                             run.modules.end());
      }
    }
    return found->second;
  }

  // Returns the slot that runs side by side with slots[i], if any.
  static const Slot* BesideOf(absl::Span<const Slot> slots, size_t i) {
    if (slots[i].beside_next) return &slots[i + 1];
    if (i > 0 && slots[i - 1].beside_next) return &slots[i - 1];
    return nullptr;
  }

  void AddSlot(const Slot& slot, const Slot* beside) {
    const std::vector<ModuleId>& modules = ModulesOf(slot.chunk);
    if (modules.empty()) return;
    size_t waiting = kNoBlock;
    if (beside != nullptr) {
      const std::optional<ModuleId> module =
          LargestWaiting(program_, stage_, beside->chunk);
      if (module) {
        waiting =
            Allocate(MemoryUse::kWaiting, *module, MemoryOf(*module).workspace);
      }
    }
    std::vector<size_t>& saved = saved_[Place()];
    if (slot.kind == SlotKind::kForward) {
      for (const ModuleId id : modules) {
        saved.push_back(Allocate(MemoryUse::kSaved, id, MemoryOf(id).saved));
        RunModule(id, slot.kind);
      }
    } else {
      AddBackward(slot.kind, modules, saved);
    }
    if (program_.forward_only()) {
      for (const size_t block : saved) Release(block);
      saved.clear();
    }
    Release(waiting);
  }

  void AddBackward(SlotKind kind, const std::vector<ModuleId>& modules,
                   std::vector<size_t>& saved) {
    for (size_t i = modules.size(); i-- > 0;) {
      RunModule(modules[i], kind);
      if (kind != SlotKind::kInputGradient) Release(saved[i]);
    }
    if (kind != SlotKind::kInputGradient) saved.clear();
  }

  void RunModule(ModuleId id, SlotKind kind) {
    const size_t workspace =
        Allocate(MemoryUse::kWorkspace, id, MemoryOf(id).workspace);
    Compute(id, kind);
    Release(workspace);
  }

  const Program& program_;
  const ProgramStage& stage_;
  const int64_t micro_batches_;
  const size_t most_;
  std::optional<Slot> slot_;  // The present slot.
  std::vector<Block> blocks_;
  std::map<int64_t, std::vector<ModuleId>> modules_;  // By chunk.
  // By chunk and micro-batch: computations so far, and what is saved.
  std::map<std::pair<int32_t, int32_t>, size_t> computed_;
  std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> saved_;
  MemoryEvents result_;
};

}  // namespace

std::string_view Name(MemoryUse use) {
  constexpr std::string_view kNames[] = {"weights", "gradients", "optimizer",
                                         "cache",   "saved",     "workspace",
                                         "waiting"};
  return kNames[static_cast<size_t>(use)];
}

MemoryEvents MemoryEventsOf(const Program& program, int64_t stage,
                            int64_t micro_batches, size_t most) {
  PipelineShape shape = program.shape();
  shape.micro_batches = micro_batches;
  const std::vector<Slot> slots =
      program.forward_only() ? std::vector<Slot>{{SlotKind::kForward, 0, 0}}
                             : SlotsOf(program.schedule(), shape, stage);
  return EventWriter(program, stage, micro_batches, most).Write(slots);
}

}  // namespace astra
