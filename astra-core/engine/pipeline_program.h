// The order in which ranks go through a Program.
//
//   each stage   the slots of its schedule: a chunk forward, backward, or only
//                one of the two gradients, for one micro-batch
//     forward    waits for the activations of the stage before; each module:
//                its forward steps; sends on
//     backward   waits for the gradients of the stage behind; each module, last
//                first: recompute, input gradient, weight gradient; sends back
//     pair       a forward of one chunk beside a backward of another, where
//                the schedule has them together and they exchange tokens with
//                experts: waits for both messages; see SideBySide; sends both
//                on
//   begin        starts to gather what its chunks begin with
//   end          wait for all that was launched; the modules of `after`,
//                forward; wait again
//
// Messages between stages run on lanes of their own. A stage is always ready to
// receive the next one, and goes on as soon as it has handed one over, as
// Megatron-LM does with overlap_p2p_comm.
//
// A schedule repeats itself in its steady part. So an iteration of few
// micro-batches can stand for one of many: the last repetitions of its steady
// part count more often. The result is exact once the repetitions are alike,
// which Simulate() checks.

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

// Returns the number of micro-batches in a repetition.
int64_t UnitOf(const Program& program);

class PipelineProgram final : public RankProgram {
 public:
  // Successive repetitions of a stage that are alike: their number, and the
  // index of the last one.
  struct Steady {
    size_t last = 0;
    size_t count = 0;
  };

  // Runs `micro_batches` micro-batches. The last `window` repetitions of the
  // steady part stand in for those that are left out, an equal number each.
  // `program` must outlive the object. Requires that the schedule allows this
  // number of micro-batches.
  PipelineProgram(const Program& program, int64_t micro_batches, size_t window);

  // Number of repetitions that are left out.
  int64_t num_skipped() const { return num_skipped_; }
  size_t window() const { return window_; }
  const Steady& steady(uint32_t stage) const { return stages_[stage].steady; }

  // Returns whether each stage has a steady part of at least two windows, and
  // the repetitions left out are a multiple of `window`.
  bool CanSkip() const;

  uint32_t num_stages() const override {
    return static_cast<uint32_t>(stages_.size());
  }
  uint32_t num_lanes() const override;
  OpStream Begin(uint32_t stage) const override;

 private:
  // A half holds the messages that a piece waits for and sends for one
  // micro-batch of one chunk.
  struct Half {
    int32_t chunk = 0;
    int32_t micro_batch = 0;
    std::optional<LaneId> receive;  // Lane of the message it waits for first.
    bool receives_more = false;     // A later piece receives on this lane.
    int32_t next_received = 0;      // Micro-batch of the next message on it.
    std::optional<LaneId> send;     // Lane of the message it sends at its end.

    bool DoesTheSame(const Half& other) const;
  };
  // A slot; at the end of the model, a forward slot fused with the backward
  // slot that follows it at once, so that prefetches work across both; or a
  // pair of slots, which has two halves.
  struct Piece {
    uint32_t block = 0;
    size_t num_slots = 1;
    Half first;
    std::optional<Half> second;
    bool ends_repetition = false;

    bool DoesTheSame(const Piece& other) const;
  };
  struct Stage {
    std::vector<Op> begin;  // Prefetches that start first.
    std::vector<LaneId> receives;
    std::vector<Piece> pieces;
    std::vector<Op> end;  // Operations after all micro-batches.
    Steady steady;
  };
  // The parts of a stage's program. Each piece has kBefore, kBlock and kBehind.
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
  void AddReceive(const Half& half, std::vector<Op>& ops) const;
  Op MessageOp(OpKind kind, LaneId lane, const Half& half) const;

  const Program& program_;
  const size_t window_;
  int64_t num_skipped_ = 0;
  bool repeats_evenly_ = true;
  std::vector<std::vector<Op>> blocks_;
  std::vector<Stage> stages_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_PIPELINE_PROGRAM_H_
