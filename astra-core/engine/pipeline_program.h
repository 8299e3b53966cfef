// The order in which ranks go through a Program.
//
//   each stage   the slots of its schedule: a chunk forward, backward, or only
//                one of the two gradients, for one micro-batch
//     forward    waits for the activations of the stage before; each module:
//                its forward steps; sends on
//     backward   waits for the gradients of the stage behind; each module, last
//                first: recompute, input gradient, weight gradient; sends back
//   begin        starts to gather what its chunks begin with
//   end          wait for all that was launched; the modules of `after`,
//                forward; wait again
//
// Messages between stages run on lanes of their own. A stage is always ready to
// receive the next one, and goes on as soon as it has handed one over, as
// Megatron-LM does with overlap_p2p_comm.
//
// A schedule repeats itself in its steady part. So an iteration of few
// micro-batches can stand for one of many: its last repetitions of the steady
// part count more often, which is exact once repetitions are alike. Simulate()
// sees to that.

#ifndef ASTRA_CORE_ENGINE_PIPELINE_PROGRAM_H_
#define ASTRA_CORE_ENGINE_PIPELINE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/engine/op_writer.h"
#include "astra-core/engine/rank_program.h"
#include "workload/program.h"

namespace astra {

// How many micro-batches a repetition has.
int64_t UnitOf(const Program& program);

class PipelineProgram final : public RankProgram {
 public:
  // Successive repetitions of a stage that do the same, counted from 0.
  struct Steady {
    size_t last = 0;
    size_t count = 0;
  };

  // Runs `micro_batches`, of which the last `window` repetitions of the steady
  // part stand for those that are left out: an equal number each. `program`
  // must outlive the object. Requires that the schedule allows as many.
  PipelineProgram(const Program& program, int64_t micro_batches, size_t window);

  // How many repetitions are left out.
  int64_t num_skipped() const { return num_skipped_; }
  size_t window() const { return window_; }
  const Steady& steady(uint32_t stage) const { return stages_[stage].steady; }

  // Whether a stage has a steady part that repetitions could be left out of
  // and, if some are, they are a multiple of `window`.
  bool CanSkip() const;

  uint32_t num_stages() const override {
    return static_cast<uint32_t>(stages_.size());
  }
  uint32_t num_lanes() const override;
  OpStream Begin(uint32_t stage) const override;
  int64_t num_ops(uint32_t stage) const override;

 private:
  // A slot; or a forward one at the end of the model and the backward one that
  // follows it at once, so that what these prefetch is known.
  struct Piece {
    uint32_t block = 0;
    size_t num_slots = 1;
    int32_t chunk = 0;
    std::optional<LaneId> receive;  // Before it.
    bool receives_more = false;     // On that lane, later.
    int32_t next_received = 0;      // Of which micro-batch that is.
    std::optional<LaneId> send;     // Behind it.
    bool ends_repetition = false;
    int32_t micro_batch = 0;

    bool DoesTheSame(const Piece& other) const;
  };
  struct Stage {
    std::vector<Op> begin;  // What is started before anything else.
    std::vector<LaneId> receives;
    std::vector<Piece> pieces;
    std::vector<Op> end;  // What follows the micro-batches.
    Steady steady;
  };
  // The parts of what a stage runs. Each piece has the three in the middle.
  enum class Part : uint8_t { kBegin, kBefore, kBlock, kBehind, kEnd };
  // A cursor tells where a rank stands in its stage. Blocks may be long and are
  // shared by all ranks, so a cursor holds only the few operations around them.
  struct Cursor {
    Part part = Part::kBegin;
    size_t piece = 0;
    size_t repetition = 0;
    std::vector<Op> ops;  // The operations of kBegin, kBefore or kBehind.
    size_t op = 0;        // Index of the next operation in the part.
  };

  friend class StageBuilder;
  Op Next(const Stage& stage, Cursor& cursor) const;
  absl::Span<const Op> OpsAt(const Stage& stage, const Cursor& cursor) const;
  void GoOn(const Stage& stage, Cursor& cursor) const;
  std::vector<Op> OpsBefore(const Piece& piece) const;
  std::vector<Op> OpsBehind(const Piece& piece) const;
  Op MessageOp(OpKind kind, LaneId lane, const Piece& piece) const;

  const Program& program_;
  const size_t window_;
  int64_t num_skipped_ = 0;
  bool repeats_evenly_ = true;
  std::vector<std::vector<Op>> blocks_;
  std::vector<Stage> stages_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_PIPELINE_PROGRAM_H_
