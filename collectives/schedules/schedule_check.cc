#include "collectives/schedules/schedule_check.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "collectives/schedules/contributions.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kBatch = 64;

// Returns a number that identifies a chunk of a rank.
uint64_t Key(GroupRank rank, uint32_t chunk) {
  return uint64_t{rank.index()} << 32 | chunk;
}

class Checker {
 public:
  explicit Checker(const CustomSchedule& schedule)
      : collective_(schedule.collective()),
        flows_(schedule.flows()),
        sets_(collective_.num_ranks) {
    for (const ScheduleFlow& flow : flows_) {
      first_move_.push_back(places_.size());
      for (uint32_t i = 0; i < flow.num_chunks; ++i) {
        places_.push_back(Key(flow.target, flow.first_chunk.index() + i));
      }
    }
    place_of_move_ = places_;
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    for (uint64_t& place : place_of_move_) place = PlaceOf(place);
  }

  std::optional<ScheduleFault> Find() {
    Execute();
    if (!fault_) CheckOrder();
    if (!fault_) CheckEnds();
    return std::move(fault_);
  }

 private:
  // Returns the index of `key` in places_, or of the first key after it.
  size_t PlaceOf(uint64_t key) const {
    return static_cast<size_t>(
        std::lower_bound(places_.begin(), places_.end(), key) -
        places_.begin());
  }

  ContributionsId AtStart(uint32_t rank, uint32_t chunk) const {
    return collective_.Has(rank, chunk) ? sets_.only(rank) : sets_.none();
  }

  size_t MoveOf(size_t flow, uint32_t chunk) const {
    return first_move_[flow] + chunk - flows_[flow].first_chunk.index();
  }

  bool Brings(const ScheduleFlow& flow, GroupRank rank, uint32_t chunk) const {
    return flow.target == rank && chunk >= flow.first_chunk.index() &&
           chunk - flow.first_chunk.index() < flow.num_chunks;
  }

  // Returns what `state` becomes when `flow` brings its contents to it.
  ContributionsId Arrive(ContributionsId state, size_t flow, uint32_t chunk) {
    const ContributionsId brought = contents_[MoveOf(flow, chunk)];
    if (flows_[flow].op == FlowOp::kCopy) return brought;
    if (const auto twice = sets_.FirstOfBoth(state, brought); twice) {
      Fail(flow, fmt::format("step {} adds rank {}'s contribution to chunk {} "
                             "of rank {}, which has it",
                             flow, *twice, chunk, flows_[flow].target));
    }
    return sets_.Sum(state, brought);
  }

  void Execute() {
    for (const uint64_t key : places_) {
      state_.push_back(AtStart(static_cast<uint32_t>(key >> 32),
                               static_cast<uint32_t>(key)));
    }
    for (size_t i = 0; i < flows_.size() && !fault_; ++i) {
      const ScheduleFlow& flow = flows_[i];
      for (uint32_t k = 0; k < flow.num_chunks && !fault_; ++k) {
        const uint32_t chunk = flow.first_chunk.index() + k;
        contents_.push_back(ContentsOf(i, chunk));
        ContributionsId& state = state_[place_of_move_[MoveOf(i, chunk)]];
        state = Arrive(state, i, chunk);
      }
    }
  }

  ContributionsId ContentsOf(size_t i, uint32_t chunk) {
    const GroupRank source = flows_[i].source;
    ContributionsId contents = AtStart(source.index(), chunk);
    for (const uint32_t earlier : flows_[i].after) {
      if (Brings(flows_[earlier], source, chunk)) {
        contents = Arrive(contents, earlier, chunk);
      }
    }
    if (contents == sets_.none()) {
      Fail(i, fmt::format("step {} sends chunk {}, of which rank {} has "
                          "nothing from the steps that it waits for",
                          i, chunk, source));
    }
    return contents;
  }

  // Checks the order, for 64 flows at a time: finds all flows that wait for
  // them, and whether each flow that must wait for them is among these.
  void CheckOrder() {
    std::vector<uint64_t> reach(flows_.size());
    // Bits of the 64 flows, by place.
    std::vector<uint64_t> all(places_.size());
    std::vector<uint64_t> copies(places_.size());
    for (size_t begin = 0; begin < flows_.size() && !fault_; begin += kBatch) {
      std::fill(all.begin(), all.end(), 0);
      std::fill(copies.begin(), copies.end(), 0);
      for (size_t i = begin; i < flows_.size() && !fault_; ++i) {
        reach[i] = 0;
        for (const uint32_t earlier : flows_[i].after) {
          if (earlier < begin) continue;
          reach[i] |= reach[earlier];
          if (earlier < begin + kBatch) {
            reach[i] |= uint64_t{1} << (earlier - begin);
          }
        }
        const bool is_copy = flows_[i].op == FlowOp::kCopy;
        for (uint32_t k = 0; k < flows_[i].num_chunks; ++k) {
          const size_t move = first_move_[i] + k;
          const size_t place = place_of_move_[move];
          CheckWaits(i, move, (is_copy ? all : copies)[place] & ~reach[i],
                     begin);
          if (i >= begin + kBatch) continue;
          all[place] |= uint64_t{1} << (i - begin);
          if (is_copy) copies[place] |= uint64_t{1} << (i - begin);
        }
      }
    }
  }

  // Checks the flows `missing`, counted from `begin`: flow `i` does not wait
  // for them, although they bring something to where its `move` goes.
  void CheckWaits(size_t i, size_t move, uint64_t missing, size_t begin) {
    const bool is_copy = flows_[i].op == FlowOp::kCopy;
    const auto chunk = static_cast<uint32_t>(move - first_move_[i]) +
                       flows_[i].first_chunk.index();
    for (; missing != 0; missing &= missing - 1) {
      const size_t other =
          begin + static_cast<size_t>(std::countr_zero(missing));
      if (is_copy && flows_[other].op == FlowOp::kCopy &&
          sets_.AreEqual(contents_[MoveOf(other, chunk)], contents_[move])) {
        continue;
      }
      Fail(i, fmt::format("step {} {} what step {} brings of chunk {} to rank "
                          "{} without waiting for it",
                          i, is_copy ? "replaces" : "adds to", other, chunk,
                          flows_[i].target));
    }
  }

  void CheckEnds() {
    size_t place = 0;  // Places are in the order of these loops.
    for (uint32_t rank = 0; rank < collective_.num_ranks; ++rank) {
      for (uint32_t chunk = 0; chunk < collective_.num_chunks; ++chunk) {
        const bool is_touched = place < places_.size() &&
                                places_[place] == Key(GroupRank(rank), chunk);
        const ContributionsId state =
            is_touched ? state_[place++] : AtStart(rank, chunk);
        if (!collective_.Wants(rank, chunk)) continue;
        const ContributionsId wanted =
            collective_.reduces() ? sets_.all()
                                  : sets_.only(collective_.origin(chunk));
        const auto missing = sets_.FirstOnlyOf(wanted, state);
        if (!missing) continue;
        fault_ =
            ScheduleFault{std::nullopt, MissingMessage(rank, chunk, *missing)};
        return;
      }
    }
  }

  std::string MissingMessage(uint32_t rank, uint32_t chunk,
                             uint32_t missing) const {
    if (!collective_.reduces()) {
      return fmt::format("rank {} ends without chunk {} of rank {}", rank,
                         chunk, missing);
    }
    return fmt::format(
        "rank {} ends without chunk {}'s contribution of rank "
        "{}",
        rank, chunk, missing);
  }

  void Fail(size_t flow, std::string message) {
    if (!fault_) fault_ = ScheduleFault{flow, std::move(message)};
  }

  const ChunkedCollective& collective_;
  absl::Span<const ScheduleFlow> flows_;
  ContributionSets sets_;
  std::vector<uint64_t> places_;    // Keys at which something arrives.
  std::vector<size_t> first_move_;  // By flow. A move is one chunk of a flow.
  std::vector<uint64_t> place_of_move_;    // By move: index into places_.
  std::vector<ContributionsId> contents_;  // Data that each move carries.
  std::vector<ContributionsId> state_;     // Data at each place.
  std::optional<ScheduleFault> fault_;
};

}  // namespace

std::optional<ScheduleFault> FindWrongContents(const CustomSchedule& schedule) {
  return Checker(schedule).Find();
}

}  // namespace astra
