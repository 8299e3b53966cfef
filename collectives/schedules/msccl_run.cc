#include "collectives/schedules/msccl_run.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "collectives/schedules/contributions.h"
#include "collectives/schedules/msccl_connections.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr uint32_t kNoChunk = ~uint32_t{0};

// Contents of a chunk of memory.
struct Value {
  uint32_t chunk = kNoChunk;  // Chunk of the collective's buffer.
  ContributionsId contributions;
  // Index into arrivals_: the flows that brought the contents.
  uint32_t arrivals = 0;
};

struct Message {
  std::vector<Value> values;
  std::vector<uint32_t> flows;  // Flows that carry them.
};

struct Block {
  uint32_t gpu = 0;
  const MscclBlock* code = nullptr;
  size_t next_step = 0;
  std::optional<size_t> sends_to;               // Connection, if it sends.
  std::optional<size_t> receives_from;          // Connection, if it receives.
  std::vector<std::vector<uint32_t>> received;  // Flows of each message.

  // For each block of the GPU, how many of its received messages arrived before
  // the next step. known_after holds the same counts after each step that
  // another block waits for.
  std::vector<uint32_t> known;
  std::vector<bool> is_waited_for;  // By step: a block waits for it.
  std::map<size_t, std::vector<uint32_t>> known_after;

  std::vector<size_t> waiting;  // Blocks that wait for this block.

  bool is_done() const { return next_step == code->steps.size(); }
  const MscclStep& step() const { return code->steps[next_step]; }
};

class Run {
 public:
  Run(std::string_view file, const MscclAlgorithm& algorithm)
      : file_(file),
        algorithm_(algorithm),
        collective_(algorithm.collective),
        sets_(collective_.num_ranks) {}

  absl::StatusOr<CustomSchedule> Execute() {
    ASTRA_ASSIGN_OR_RETURN(connections_, ConnectMsccl(file_, algorithm_));
    under_way_.resize(connections_.ends.size());
    Prepare();
    RunBlocks();
    ASTRA_RETURN_IF_ERROR(error_);
    CheckEnds();
    ASTRA_RETURN_IF_ERROR(error_);
    if (const auto fault =
            CustomSchedule::FindFault(algorithm_.name, collective_, flows_)) {
      Fail({}, fault->message);
      return error_;
    }
    return CustomSchedule::Create(algorithm_.name, collective_,
                                  std::move(flows_));
  }

 private:
  void Prepare() {
    const uint32_t inputs = algorithm_.input_chunks;
    for (uint32_t rank = 0; rank < collective_.num_ranks; ++rank) {
      const MscclGpu& gpu = algorithm_.gpus[rank];
      first_slot_.push_back(slots_.size());
      first_block_.push_back(blocks_.size());
      slots_.resize(slots_.size() + inputs + algorithm_.output_chunks +
                    gpu.num_scratch_chunks);
      for (uint32_t i = 0; i < inputs; ++i) {
        const uint32_t chunk = InputChunk(rank, i);
        if (!collective_.Has(rank, chunk)) continue;
        Slot(rank, {MscclBuffer::kInput}, i) = {chunk, sets_.only(rank), 0};
      }
      for (const MscclBlock& code : gpu.blocks) {
        Block block;
        block.gpu = rank;
        block.code = &code;
        block.known.resize(gpu.blocks.size());
        block.is_waited_for.resize(code.steps.size());
        block.sends_to = connections_.sends_to[blocks_.size()];
        block.receives_from = connections_.receives_from[blocks_.size()];
        blocks_.push_back(std::move(block));
      }
      for (const MscclBlock& code : gpu.blocks) {
        for (const MscclStep& step : code.steps) {
          if (!step.dependency) continue;
          blocks_[first_block_[rank] + step.dependency->block]
              .is_waited_for[step.dependency->step] = true;
        }
      }
    }
  }

  // Return the chunk of the collective at position `i` of an input or output.
  uint32_t InputChunk(uint32_t rank, uint32_t i) const {
    const bool is_by_rank = collective_.kind == CollectiveKind::kAllGather ||
                            collective_.kind == CollectiveKind::kAllToAll;
    return is_by_rank ? rank * algorithm_.input_chunks + i : i;
  }
  uint32_t OutputChunk(uint32_t rank, uint32_t i) const {
    const uint32_t size = algorithm_.output_chunks;
    if (collective_.kind == CollectiveKind::kReduceScatter) {
      return rank * size + i;
    }
    if (collective_.kind != CollectiveKind::kAllToAll) return i;
    const uint32_t per_pair = size / collective_.num_ranks;
    return i / per_pair * size + rank * per_pair + i % per_pair;
  }

  Value& Slot(uint32_t rank, const MscclAddress& address, uint32_t i) {
    const uint32_t inputs = algorithm_.input_chunks;
    const uint32_t outputs = algorithm_.output_chunks;
    size_t slot = static_cast<uint32_t>(address.offset) + i;
    if (address.buffer == MscclBuffer::kScratch) {
      slot += inputs + outputs;
    } else if (!algorithm_.is_in_place) {
      slot += address.buffer == MscclBuffer::kOutput ? inputs : 0;
    } else if (inputs < outputs && address.buffer == MscclBuffer::kInput) {
      slot += size_t{rank} * inputs;
    } else if (outputs < inputs && address.buffer == MscclBuffer::kOutput) {
      slot += size_t{rank} * outputs;
    }
    return slots_[first_slot_[rank] + slot];
  }

  std::string NameOf(size_t block) const {
    return NameOfBlock(blocks_[block].gpu, *blocks_[block].code);
  }

  void RunBlocks() {
    std::deque<size_t> ready;
    for (size_t b = 0; b < blocks_.size(); ++b) ready.push_back(b);
    while (!ready.empty()) {
      const size_t b = ready.front();
      ready.pop_front();
      Block& block = blocks_[b];
      const size_t first_step = block.next_step;
      while (!block.is_done() && !BlockerOf(block)) {
        Take(block);
        if (!error_.ok()) return;
      }
      if (!block.is_done()) blocks_[*BlockerOf(block)].waiting.push_back(b);
      if (block.next_step == first_step) continue;
      ready.insert(ready.end(), block.waiting.begin(), block.waiting.end());
      block.waiting.clear();
    }
    for (size_t b = 0; b < blocks_.size(); ++b) {
      if (!blocks_[b].is_done()) return FailForCycle(b);
    }
  }

  // Returns the block that must go on before `block` can.
  std::optional<size_t> BlockerOf(const Block& block) const {
    const MscclStep& step = block.step();
    if (step.dependency) {
      const size_t other = first_block_[block.gpu] + step.dependency->block;
      if (blocks_[other].next_step <= step.dependency->step) return other;
    }
    if (Receives(step.op) && under_way_[*block.receives_from].empty()) {
      return connections_.ends[*block.receives_from].sender;
    }
    return std::nullopt;
  }

  // Reports a cycle. Every block that is not done waits for another such block,
  // so the way from `block` leads into a cycle.
  void FailForCycle(size_t block) {
    std::vector<size_t> way;
    while (std::find(way.begin(), way.end(), block) == way.end()) {
      way.push_back(block);
      block = *BlockerOf(blocks_[block]);
    }
    way.erase(way.begin(), std::find(way.begin(), way.end(), block));
    way.push_back(block);
    std::string text;
    for (const size_t b : way) {
      text += fmt::format("{}{}", text.empty() ? "" : " waits for ", NameOf(b));
      if (text.size() > kMaxCycleText) {
        text += " waits for ... the first";
        break;
      }
    }
    Fail(blocks_[block].step().place,
         fmt::format("thread blocks wait for one another: {}", text));
  }

  void Take(Block& block) {
    const MscclStep& step = block.step();
    if (step.dependency) {
      Learn(block, blocks_[first_block_[block.gpu] + step.dependency->block]
                       .known_after.at(step.dependency->step));
    }
    const size_t self =
        static_cast<size_t>(&block - blocks_.data()) - first_block_[block.gpu];
    Message in;
    if (Receives(step.op)) {
      std::deque<Message>& queue = under_way_[*block.receives_from];
      in = std::move(queue.front());
      queue.pop_front();
      block.received.push_back(in.flows);
      block.received.back().erase(std::unique(block.received.back().begin(),
                                              block.received.back().end()),
                                  block.received.back().end());
      ++block.known[self];
    }
    std::vector<Value> out = Compute(block.gpu, step, in);
    if (!error_.ok()) return;
    if (Sends(step.op)) Send(block, std::move(out));
    if (block.is_waited_for[block.next_step]) {
      block.known_after[block.next_step] = block.known;
    }
    ++block.next_step;
  }

  static void Learn(Block& block, const std::vector<uint32_t>& known) {
    for (size_t i = 0; i < known.size(); ++i) {
      block.known[i] = std::max(block.known[i], known[i]);
    }
  }

  // Executes a step within its GPU: stores its results and returns them.
  std::vector<Value> Compute(uint32_t rank, const MscclStep& step,
                             const Message& in) {
    std::vector<Value> out;
    if (step.op == MscclOp::kNothing) return out;
    for (uint32_t i = 0; i < step.count && error_.ok(); ++i) {
      Value value;
      if (Reads(step.op)) value = Read(rank, step, step.source, i);
      if (step.op == MscclOp::kReduce) {
        value = Sum(step, Read(rank, step, step.target, i), value);
      }
      if (Receives(step.op)) {
        Value arrived = in.values[i];
        arrived.arrivals = static_cast<uint32_t>(arrivals_.size());
        arrivals_.push_back({in.flows[i]});
        value = Reads(step.op) ? Sum(step, value, arrived) : arrived;
      }
      if (Writes(step.op)) Slot(rank, step.target, i) = value;
      out.push_back(value);
    }
    return out;
  }

  Value Read(uint32_t rank, const MscclStep& step, const MscclAddress& address,
             uint32_t i) {
    const Value value = Slot(rank, address, i);
    if (value.chunk == kNoChunk) {
      Fail(
          step.place,
          fmt::format("gpu {} reads chunk {} of its buffer \"{}\", which holds "
                      "nothing",
                      rank, static_cast<uint32_t>(address.offset) + i,
                      kMscclBufferNames[static_cast<size_t>(address.buffer)]));
    }
    return value;
  }

  Value Sum(const MscclStep& step, const Value& a, const Value& b) {
    if (!error_.ok()) return a;
    if (a.chunk != b.chunk) {
      Fail(step.place,
           fmt::format("a reduction of chunk {} with chunk {} of the "
                       "collective's buffer",
                       a.chunk, b.chunk));
      return a;
    }
    if (const auto twice =
            sets_.FirstOfBoth(a.contributions, b.contributions)) {
      Fail(step.place,
           fmt::format("rank {}'s contribution to chunk {} is added to what "
                       "has it",
                       *twice, a.chunk));
      return a;
    }
    std::vector<uint32_t> arrivals = arrivals_[a.arrivals];
    const std::vector<uint32_t>& others = arrivals_[b.arrivals];
    arrivals.insert(arrivals.end(), others.begin(), others.end());
    for (const uint32_t flow : arrivals) flows_[flow].op = FlowOp::kReduce;
    num_arrivals_ += arrivals.size();
    if (num_arrivals_ > kMaxArrivals) {
      Fail(step.place, "too many sums of many arrivals");
      return a;
    }
    const Value sum = {a.chunk, sets_.Sum(a.contributions, b.contributions),
                       static_cast<uint32_t>(arrivals_.size())};
    arrivals_.push_back(std::move(arrivals));
    return sum;
  }

  void Send(const Block& block, std::vector<Value> values) {
    const std::vector<uint32_t> after = ArrivalsBefore(block, values);
    Message message;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0 && values[i].chunk == values[i - 1].chunk + 1) {
        ++flows_.back().num_chunks;
      } else {
        flows_.push_back({.source = GroupRank(block.gpu),
                          .target = GroupRank(*block.code->send),
                          .first_chunk = ChunkId(values[i].chunk),
                          .channel = block.code->channel,
                          .after = after});
        num_dependencies_ += after.size();
      }
      message.flows.push_back(static_cast<uint32_t>(flows_.size() - 1));
    }
    if (num_dependencies_ > CustomSchedule::kMaxDependencies) {
      Fail(block.step().place,
           fmt::format("messages wait for more than {} others",
                       CustomSchedule::kMaxDependencies));
    }
    message.values = std::move(values);
    under_way_[*block.sends_to].push_back(std::move(message));
  }

  // Returns the flows that must have arrived when `block` sends `values`: the
  // flows that brought these values, and the last known flow of each
  // connection.
  std::vector<uint32_t> ArrivalsBefore(const Block& block,
                                       const std::vector<Value>& values) const {
    std::vector<uint32_t> after;
    for (const Value& value : values) {
      const std::vector<uint32_t>& arrivals = arrivals_[value.arrivals];
      after.insert(after.end(), arrivals.begin(), arrivals.end());
    }
    for (size_t i = 0; i < block.known.size(); ++i) {
      if (block.known[i] == 0) continue;
      const std::vector<uint32_t>& last =
          blocks_[first_block_[block.gpu] + i].received[block.known[i] - 1];
      after.insert(after.end(), last.begin(), last.end());
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    return after;
  }

  void CheckEnds() {
    for (uint32_t rank = 0; rank < collective_.num_ranks; ++rank) {
      for (uint32_t i = 0; i < algorithm_.output_chunks; ++i) {
        const uint32_t chunk = OutputChunk(rank, i);
        if (collective_.Wants(rank, chunk)) CheckEnd(rank, i, chunk);
      }
    }
  }

  void CheckEnd(uint32_t rank, uint32_t i, uint32_t chunk) {
    const Value& value = Slot(rank, {MscclBuffer::kOutput}, i);
    const XmlPlace place = algorithm_.gpus[rank].place;
    if (value.chunk == kNoChunk) {
      Fail(place, fmt::format("rank {} ends with nothing in chunk {} of its "
                              "output",
                              rank, i));
    } else if (value.chunk != chunk) {
      Fail(place, fmt::format("rank {} ends with chunk {} of the collective's "
                              "buffer in chunk {} of its output, where chunk "
                              "{} belongs",
                              rank, value.chunk, i, chunk));
    } else if (const auto missing = sets_.FirstOnlyOf(
                   collective_.reduces()
                       ? sets_.all()
                       : sets_.only(collective_.origin(chunk)),
                   value.contributions)) {
      Fail(place, fmt::format("rank {} ends without chunk {}'s contribution of "
                              "rank {}",
                              rank, chunk, *missing));
    }
  }

  void Fail(XmlPlace place, std::string_view message) {
    if (!error_.ok()) return;
    error_ = absl::InvalidArgumentError(
        fmt::format("{}:{}:{}: {}", file_, place.line, place.column, message));
  }

  static constexpr size_t kMaxCycleText = 400;
  static constexpr size_t kMaxArrivals = size_t{1} << 24;

  std::string_view file_;
  const MscclAlgorithm& algorithm_;
  const ChunkedCollective& collective_;
  ContributionSets sets_;
  std::vector<Block> blocks_;        // Blocks of all GPUs.
  std::vector<size_t> first_block_;  // First block of each GPU.
  std::vector<Value> slots_;         // Memory of all GPUs.
  std::vector<size_t> first_slot_;   // First slot of each GPU.
  MscclConnections connections_;
  // Messages under way on each connection.
  std::vector<std::deque<Message>> under_way_;
  std::vector<ScheduleFlow> flows_;
  std::vector<std::vector<uint32_t>> arrivals_ = {{}};
  size_t num_arrivals_ = 0;
  size_t num_dependencies_ = 0;
  absl::Status error_;
};

}  // namespace

absl::StatusOr<CustomSchedule> RunMsccl(std::string_view file,
                                        const MscclAlgorithm& algorithm) {
  return Run(file, algorithm).Execute();
}

}  // namespace astra
