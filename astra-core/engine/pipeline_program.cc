#include "astra-core/engine/pipeline_program.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/engine/pipeline_links.h"
#include "astra-core/engine/slot_ops.h"
#include "workload/pipeline/schedule.h"

namespace astra {
namespace {

// Converts the number of a stage, chunk or micro-batch to an index.
constexpr size_t Index(int64_t number) { return static_cast<size_t>(number); }

// The lanes on which a place sends and receives.
struct PlaceLanes {
  std::optional<LaneId> receives_activation;
  std::optional<LaneId> sends_activation;
  std::optional<LaneId> receives_gradient;
  std::optional<LaneId> sends_gradient;
  bool is_end = false;  // The place is the end of the model.
};

// Returns the lanes by stage and chunk.
std::vector<std::vector<PlaceLanes>> LanesOf(const Program& program,
                                             const PipelineShape& shape) {
  std::vector<std::vector<PlaceLanes>> lanes(
      Index(shape.stages), std::vector<PlaceLanes>(Index(shape.chunks)));
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      PlaceLanes& here = lanes[Index(stage)][Index(chunk)];
      const std::optional<Place> next =
          NextPlace(program.schedule(), shape, {stage, chunk});
      here.is_end = !next;
      if (!next || next->stage == stage) continue;
      PlaceLanes& there = lanes[Index(next->stage)][Index(next->chunk)];
      const auto at_here = static_cast<uint32_t>(chunk);
      const auto at_there = static_cast<uint32_t>(next->chunk);
      here.sends_activation = LaneOf(StageMessage::kSendActivation, at_here);
      there.receives_activation =
          LaneOf(StageMessage::kReceiveActivation, at_there);
      there.sends_gradient = LaneOf(StageMessage::kSendGradient, at_there);
      here.receives_gradient = LaneOf(StageMessage::kReceiveGradient, at_here);
    }
  }
  return lanes;
}

}  // namespace

int64_t UnitOf(const Program& program) {
  return program.forward_only()
             ? 1
             : RepetitionMicroBatches(program.schedule(), program.shape());
}

// Builds the programs of the stages, one stage after the other.
class StageBuilder {
 public:
  StageBuilder(const PipelineShape& shape, PipelineProgram& built)
      : shape_(shape), built_(built), lanes_(LanesOf(built.program_, shape)) {}

  void Build(int64_t stage) {
    stage_ = stage;
    slots_ = SlotsOf(built_.program_, shape_, stage);
    FindEnds();
    num_marks_ = 0;
    const auto all = std::count_if(slots_.begin(), slots_.end(),
                                   [&](const Slot& s) { return IsMark(s); });
    marks_per_repetition_ =
        all * UnitOf(built_.program_) / shape_.micro_batches;
    PipelineProgram::Stage& made = built_.stages_.emplace_back();
    made.begin = Prefetches();
    for (size_t i = 0; i < slots_.size();) {
      made.pieces.push_back(IsPair(i) ? PairOf(i) : PieceOf(i));
      i += made.pieces.back().num_slots;
    }
    MarkLastReceives(made);
    MarkRepetitions(made);
    made.end = EndOf(built_.program_, built_.program_.stage(stage));
  }

 private:
  using Piece = PipelineProgram::Piece;
  using Half = PipelineProgram::Half;
  // Blocks with equal keys have equal operations.
  using BlockKey =
      std::tuple<const ProgramStage*, SlotKind, bool, int32_t, MicroBatchEnds>;

  // Finds the first and last micro-batch of each chunk.
  void FindEnds() {
    first_.assign(Index(shape_.chunks), slots_.size());
    last_.assign(Index(shape_.chunks), 0);
    for (const Slot& slot : slots_) {
      const auto number = static_cast<size_t>(slot.micro_batch);
      first_[Index(slot.chunk)] = std::min(first_[Index(slot.chunk)], number);
      last_[Index(slot.chunk)] = std::max(last_[Index(slot.chunk)], number);
    }
  }

  // Returns the first prefetches of each chunk, which all start at the
  // beginning, one chunk after another.
  std::vector<Op> Prefetches() {
    std::vector<Op> all;
    early_.clear();
    before_.clear();
    CallCounts count{};
    for (int32_t chunk = 0; chunk < shape_.chunks; ++chunk) {
      std::vector<Occurrence> occurrences;
      AppendOccurrences(built_.program_, built_.program_.stage(stage_), chunk,
                        SlotKind::kForward, occurrences);
      const size_t first = first_[Index(chunk)];
      const MicroBatchEnds ends = {true, first == last_[Index(chunk)]};
      std::vector<Op> ops = FirstPrefetches(built_.program_, ends, occurrences);
      before_.push_back(count);
      for (Op& op : ops) {
        ++count[op.lane.index()];
        op.chunk = chunk;
        op.micro_batch = static_cast<int32_t>(first);
      }
      all.insert(all.end(), ops.begin(), ops.end());
      early_.push_back(std::move(ops));
    }
    return all;
  }

  // Returns whether slot `i` is at the end of the model and fused with the
  // backward slot behind it.
  bool IsFused(size_t i) const {
    if (i + 1 == slots_.size()) return false;
    const Slot& slot = slots_[i];
    const Slot& next = slots_[i + 1];
    return slot.kind == SlotKind::kForward && IsBackward(next.kind) &&
           slot.chunk == next.chunk && slot.micro_batch == next.micro_batch &&
           lanes_[Index(stage_)][Index(slot.chunk)].is_end;
  }

  // Returns whether slot `i` and the one behind it are a piece of two halves.
  bool IsPair(size_t i) {
    if (!slots_[i].beside_next) return false;
    return WaitsForExperts(built_.blocks_[BlockOf(slots_[i])]) ||
           WaitsForExperts(built_.blocks_[BlockOf(slots_[i + 1])]);
  }

  Piece PieceOf(size_t i) {
    const size_t num_fused = IsFused(i) ? 1 : 0;
    const Slot& slot = slots_[i];
    const Slot& last = slots_[i + num_fused];
    Piece piece;
    piece.num_slots = 1 + num_fused;
    piece.first = HalfOf(slot, last);
    piece.block = BlockOf(slot, num_fused > 0 ? &last : nullptr);
    piece.ends_repetition = EndsRepetition(last);
    return piece;
  }

  Piece PairOf(size_t i) {
    const Slot& forward = slots_[i];
    const Slot& backward = slots_[i + 1];
    Piece piece;
    piece.num_slots = 2;
    piece.first = HalfOf(forward, forward);
    piece.second = HalfOf(backward, backward);
    const std::pair blocks(BlockOf(forward), BlockOf(backward));
    const auto [found, is_new] = pair_.try_emplace(blocks, 0);
    if (is_new) {
      found->second = AddBlock(SideBySide(built_.blocks_[blocks.first],
                                          built_.blocks_[blocks.second]));
    }
    piece.block = found->second;
    piece.ends_repetition = EndsRepetition(backward);
    return piece;
  }

  // Returns the messages of slots of one chunk and micro-batch, from `first` to
  // `last`.
  Half HalfOf(const Slot& first, const Slot& last) const {
    const PlaceLanes& lanes = lanes_[Index(stage_)][Index(first.chunk)];
    Half half;
    half.chunk = first.chunk;
    half.micro_batch = first.micro_batch;
    if (first.kind == SlotKind::kForward) {
      half.receive = lanes.receives_activation;
    } else if (IsBackward(first.kind)) {
      half.receive = lanes.receives_gradient;
    }
    if (last.kind == SlotKind::kForward) {
      half.send = lanes.sends_activation;
    } else if (IsBackward(last.kind)) {
      half.send = lanes.sends_gradient;
    }
    return half;
  }

  // Must be called once for the last slot of each piece, in order.
  bool EndsRepetition(const Slot& last) {
    return IsMark(last) && ++num_marks_ % marks_per_repetition_ == 0;
  }

  // Returns whether `slot` is a mark; a repetition ends with its last mark.
  bool IsMark(const Slot& slot) const {
    return built_.program_.forward_only() || IsBackward(slot.kind);
  }

  uint32_t BlockOf(const Slot& slot, const Slot* fused = nullptr) {
    const ProgramStage& stage = built_.program_.stage(stage_);
    const auto number = static_cast<size_t>(slot.micro_batch);
    const MicroBatchEnds ends = {number == first_[Index(slot.chunk)],
                                 number == last_[Index(slot.chunk)]};
    const SlotKind last = fused == nullptr ? slot.kind : fused->kind;
    const BlockKey key = {&stage, last, fused != nullptr, slot.chunk, ends};
    const auto [found, is_new] = block_.try_emplace(key, 0);
    if (is_new) {
      std::vector<Occurrence> occurrences;
      AppendOccurrences(built_.program_, stage, slot.chunk, slot.kind,
                        occurrences);
      if (fused != nullptr) {
        AppendOccurrences(built_.program_, stage, slot.chunk, fused->kind,
                          occurrences);
      }
      const bool is_first = slot.kind == SlotKind::kForward && ends.is_first;
      std::vector<Op> ops =
          is_first ? WriteOpsBehindPrefetches(
                         built_.program_, ends, occurrences,
                         early_[Index(slot.chunk)], before_[Index(slot.chunk)])
                   : WriteOps(built_.program_, ends, occurrences);
      found->second = AddBlock(std::move(ops));
    }
    return found->second;
  }

  // Returns the index of a block with these operations. The first and last
  // micro-batches mostly do the same as the others.
  uint32_t AddBlock(std::vector<Op> ops) {
    const auto same =
        std::find(built_.blocks_.begin(), built_.blocks_.end(), ops);
    const auto index = static_cast<uint32_t>(same - built_.blocks_.begin());
    if (same == built_.blocks_.end()) built_.blocks_.push_back(std::move(ops));
    return index;
  }

  static void MarkLastReceives(PipelineProgram::Stage& stage) {
    std::map<LaneId, int32_t> next_received;
    const auto mark = [&](Half& half) {
      if (!half.receive) return;
      const auto [next, is_last] =
          next_received.try_emplace(*half.receive, half.micro_batch);
      half.receives_more = !is_last;
      half.next_received = std::exchange(next->second, half.micro_batch);
      if (is_last) stage.receives.push_back(*half.receive);
    };
    for (size_t i = stage.pieces.size(); i-- > 0;) {
      if (stage.pieces[i].second) mark(*stage.pieces[i].second);
      mark(stage.pieces[i].first);
    }
    std::sort(stage.receives.begin(), stage.receives.end());
  }

  // Finds the longest series of equal repetitions; the last of several. A
  // repetition must have all slots: fill and drain may repeat, but do less.
  void MarkRepetitions(PipelineProgram::Stage& stage) const {
    struct Range {
      size_t begin = 0;
      size_t end = 0;
      size_t num_slots = 0;
    };
    std::vector<Range> repetitions;
    Range range;
    for (const Piece& piece : stage.pieces) {
      ++range.end;
      range.num_slots += piece.num_slots;
      if (!piece.ends_repetition) continue;
      repetitions.push_back(range);
      range = {range.end, range.end, 0};
    }
    const absl::Span<const Piece> pieces(stage.pieces);
    const auto is_alike = [&](const Range& a, const Range& b) {
      const auto one = pieces.subspan(a.begin, a.end - a.begin);
      const auto other = pieces.subspan(b.begin, b.end - b.begin);
      return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                        [](const Piece& left, const Piece& right) {
                          return left.DoesTheSame(right);
                        });
    };
    const auto full = slots_.size() *
                      static_cast<size_t>(UnitOf(built_.program_)) /
                      static_cast<size_t>(shape_.micro_batches);
    size_t count = 0;
    for (size_t i = 0; i < repetitions.size(); ++i) {
      if (repetitions[i].num_slots != full) {
        count = 0;
        continue;
      }
      const bool goes_on =
          count > 0 && is_alike(repetitions[i - 1], repetitions[i]);
      count = goes_on ? count + 1 : 1;
      if (count < stage.steady.count) continue;
      stage.steady = {i, count};
    }
  }

  const PipelineShape shape_;
  PipelineProgram& built_;
  const std::vector<std::vector<PlaceLanes>> lanes_;
  std::map<BlockKey, uint32_t> block_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> pair_;  // Key: its blocks.
  int64_t stage_ = 0;
  int64_t num_marks_ = 0;
  int64_t marks_per_repetition_ = 1;
  std::vector<Slot> slots_;
  std::vector<size_t> first_;
  std::vector<size_t> last_;
  // The prefetches of each chunk that start early, and the number of early
  // calls of the chunks before it.
  std::vector<std::vector<Op>> early_;
  std::vector<CallCounts> before_;
};

bool PipelineProgram::Half::DoesTheSame(const Half& other) const {
  return receive == other.receive && receives_more == other.receives_more &&
         send == other.send;
}

bool PipelineProgram::Piece::DoesTheSame(const Piece& other) const {
  return block == other.block && first.DoesTheSame(other.first) &&
         second.has_value() == other.second.has_value() &&
         (!second || second->DoesTheSame(*other.second));
}

PipelineProgram::PipelineProgram(const Program& program, int64_t micro_batches,
                                 size_t window)
    : program_(program), window_(window) {
  PipelineShape shape = program.shape();
  const int64_t unit = UnitOf(program);
  const int64_t all = shape.micro_batches;
  num_skipped_ = (all - micro_batches) / unit;
  repeats_evenly_ = (all - micro_batches) % unit == 0;
  shape.micro_batches = micro_batches;
  StageBuilder builder(shape, *this);
  for (int64_t stage = 0; stage < shape.stages; ++stage) builder.Build(stage);
}

bool PipelineProgram::CanSkip() const {
  return repeats_evenly_ && num_skipped_ % static_cast<int64_t>(window_) == 0 &&
         std::all_of(stages_.begin(), stages_.end(), [&](const Stage& stage) {
           return stage.steady.count >= 2 * window_;
         });
}

uint32_t PipelineProgram::num_lanes() const {
  const auto num_chunks = static_cast<uint32_t>(program_.shape().chunks);
  return LaneOf(StageMessage::kSendActivation, num_chunks).index();
}

OpStream PipelineProgram::Begin(uint32_t stage) const {
  Cursor first;
  const Stage& made = stages_[stage];
  first.ops = made.begin;
  for (const LaneId lane : made.receives) {
    const auto is_second = [&](const Piece& piece) {
      return piece.second && piece.second->receive == lane;
    };
    const auto piece = std::find_if(
        made.pieces.begin(), made.pieces.end(), [&](const Piece& each) {
          return each.first.receive == lane || is_second(each);
        });
    first.ops.push_back(
        MessageOp(OpKind::kLaunch, lane,
                  is_second(*piece) ? *piece->second : piece->first));
  }
  return [this, stage, cursor = std::move(first)]() mutable {
    return Next(stages_[stage], cursor);
  };
}

Op PipelineProgram::MessageOp(OpKind kind, LaneId lane,
                              const Half& half) const {
  const auto message = static_cast<StageMessage>(
      (lane.index() - kNumParallelDimensions) % kNumStageMessages);
  const bool is_gradient = message == StageMessage::kSendGradient ||
                           message == StageMessage::kReceiveGradient;
  Op op;
  op.kind = kind;
  op.phase = is_gradient ? Phase::kInputGradient : Phase::kForward;
  op.layer = LayerId(static_cast<uint32_t>(program_.modules().size()));
  op.lane = lane;
  op.communication = {CollectiveKind::kSendRecv, ParallelDimension::kPipeline,
                      StageMessageBytes(program_)};
  op.chunk = half.chunk;
  op.micro_batch = half.micro_batch;
  return op;
}

void PipelineProgram::AddReceive(const Half& half, std::vector<Op>& ops) const {
  if (!half.receive) return;
  // The next message may arrive while this one is processed.
  if (half.receives_more) {
    ops.push_back(MessageOp(OpKind::kLaunch, *half.receive, half));
    ops.back().micro_batch = half.next_received;
  }
  ops.push_back(MessageOp(OpKind::kWait, *half.receive, half));
  ops.back().outstanding = half.receives_more ? 1 : 0;
}

std::vector<Op> PipelineProgram::OpsBefore(const Piece& piece) const {
  std::vector<Op> ops;
  AddReceive(piece.first, ops);
  if (piece.second) AddReceive(*piece.second, ops);
  return ops;
}

std::vector<Op> PipelineProgram::OpsBehind(const Piece& piece) const {
  std::vector<Op> ops;
  const auto send = [&](const Half& half) {
    if (!half.send) return;
    ops.push_back(MessageOp(OpKind::kLaunch, *half.send, half));
  };
  send(piece.first);
  if (piece.second) send(*piece.second);
  if (piece.ends_repetition) ops.push_back({.kind = OpKind::kRepetition});
  return ops;
}

absl::Span<const Op> PipelineProgram::OpsAt(const Stage& stage,
                                            const Cursor& cursor) const {
  if (cursor.part == Part::kBlock) {
    return blocks_[stage.pieces[cursor.piece].block];
  }
  return cursor.part == Part::kEnd ? stage.end : cursor.ops;
}

void PipelineProgram::GoOn(const Stage& stage, Cursor& cursor) const {
  cursor.op = 0;
  if (cursor.part == Part::kBefore) {
    cursor.part = Part::kBlock;
    return;
  }
  if (cursor.part == Part::kBlock) {
    cursor.part = Part::kBehind;
    cursor.ops = OpsBehind(stage.pieces[cursor.piece]);
    return;
  }
  if (cursor.part == Part::kBehind) ++cursor.piece;
  if (cursor.piece == stage.pieces.size()) {
    cursor.part = Part::kEnd;
    return;
  }
  cursor.part = Part::kBefore;
  cursor.ops = OpsBefore(stage.pieces[cursor.piece]);
}

Op PipelineProgram::Next(const Stage& stage, Cursor& cursor) const {
  while (cursor.op == OpsAt(stage, cursor).size()) {
    if (cursor.part == Part::kEnd) return Op();
    GoOn(stage, cursor);
  }
  Op op = OpsAt(stage, cursor)[cursor.op++];
  if (cursor.part == Part::kBlock) {
    const Piece& piece = stage.pieces[cursor.piece];
    const bool is_second = piece.second && op.chunk == 1;
    const Half& half = is_second ? *piece.second : piece.first;
    op.chunk = half.chunk;
    op.micro_batch = half.micro_batch;
  }
  const size_t last = stage.steady.last;
  const bool stands_in = cursor.part != Part::kEnd &&
                         cursor.repetition <= last &&
                         cursor.repetition + window_ > last;
  if (stands_in && num_skipped_ > 0) {
    op.repeats += num_skipped_ / static_cast<int64_t>(window_);
  }
  if (op.kind == OpKind::kRepetition) ++cursor.repetition;
  return op;
}

}  // namespace astra
