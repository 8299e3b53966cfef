#include "astra-core/engine/critical_path.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Follows the critical path backwards from the finish of a rank.
class PathWalker {
 public:
  explicit PathWalker(const SimulationResult& result)
      : result_(result), call_of_record_(result.timeline.ranks.size()) {}

  // Returns the pieces of the path, last one first.
  std::vector<PathPiece> Walk(uint32_t rank) {
    rank_ = rank;
    const std::vector<Span>& spans = OfRank().spans;
    now_ = spans.empty() ? TimePs(0) : spans.back().end;
    while (now_ > TimePs(0)) {
      const Span& span = SpanThatEnded();
      if (span.is_wait()) {
        GoThroughCalls(span.call);
      } else {
        Add({.begin = span.begin,
             .end = span.end,
             .rank = rank_,
             .kind = PathKind::kCompute,
             .phase = span.phase,
             .layer = span.layer,
             .chunk = span.chunk,
             .micro_batch = span.micro_batch});
      }
    }
    return std::move(pieces_);
  }

 private:
  const RankTimeline& OfRank() const { return result_.timeline.ranks[rank_]; }

  // Returns the span of the present rank that ended now.
  const Span& SpanThatEnded() const {
    const std::vector<Span>& spans = OfRank().spans;
    const auto span = std::lower_bound(
        spans.begin(), spans.end(), now_,
        [](const Span& each, TimePs time) { return each.end < time; });
    ASTRA_CHECK(span != spans.end() && span->end == now_,
                "nothing of rank class {} ends at {}", rank_, now_);
    return *span;
  }

  // Goes back from the end of a call of the present rank to the instant at
  // which the program of its last member came to it.
  void GoThroughCalls(uint32_t number) {
    while (true) {
      const CallSpan& call = OfRank().calls[number];
      Add({.begin = call.start,
           .end = call.result,
           .rank = rank_,
           .kind = KindOf(call),
           .phase = call.phase,
           .layer = call.layer,
           .chunk = call.chunk,
           .micro_batch = call.micro_batch,
           .record = call.record});
      rank_ = call.last_member;
      const CallSpan& last = call.role == CallRole::kDelay
                                 ? call
                                 : OfRank().calls[CallOf(call.record)];
      if (last.joined == last.issued) return;
      number = last.cause;
    }
  }

  static PathKind KindOf(const CallSpan& call) {
    if (call.role == CallRole::kDelay) return PathKind::kHost;
    return call.is_message() ? PathKind::kMessage : PathKind::kCollective;
  }

  // Returns the index of the present rank's call of collective `record`.
  uint32_t CallOf(size_t record) {
    std::vector<std::pair<size_t, uint32_t>>& calls = call_of_record_[rank_];
    if (calls.empty()) {
      for (uint32_t i = 0; i < OfRank().calls.size(); ++i) {
        calls.emplace_back(OfRank().calls[i].record, i);
      }
      std::sort(calls.begin(), calls.end());
    }
    const auto found =
        std::lower_bound(calls.begin(), calls.end(), std::pair(record, 0U));
    ASTRA_CHECK(found != calls.end() && found->first == record,
                "rank class {} has not joined collective {}", rank_, record);
    return found->second;
  }

  void Add(const PathPiece& piece) {
    ASTRA_CHECK(piece.end == now_, "a piece ends at {}, not at {}", piece.end,
                now_);
    if (piece.begin < piece.end) pieces_.push_back(piece);
    now_ = piece.begin;
  }

  const SimulationResult& result_;
  // By rank: its calls as pairs of record and index, sorted. Filled on first
  // use.
  std::vector<std::vector<std::pair<size_t, uint32_t>>> call_of_record_;
  std::vector<PathPiece> pieces_;
  uint32_t rank_ = 0;
  TimePs now_;
};

// Cuts the piece that contains `time` into two.
void CutAt(TimePs time, std::vector<PathPiece>& path) {
  const auto piece = std::lower_bound(
      path.begin(), path.end(), time,
      [](const PathPiece& each, TimePs t) { return each.end <= t; });
  if (piece == path.end() || piece->begin >= time) return;
  PathPiece rest = *piece;
  rest.begin = time;
  piece->end = time;
  piece->is_cut = true;
  path.insert(piece + 1, rest);
}

// Returns whether two pieces do the same work at the same place.
bool IsSamePlace(const PathPiece& a, const PathPiece& b,
                 const SimulationResult& result) {
  const auto place = [](const PathPiece& piece) {
    return std::tuple(piece.rank, piece.kind, piece.layer, piece.phase,
                      piece.chunk, piece.end - piece.begin);
  };
  if (place(a) != place(b)) return false;
  return a.record == PathPiece::kNoRecord ||
         result.collectives[a.record].communication ==
             result.collectives[b.record].communication;
}

// A stretch of the path that could repeat forever.
struct Circuit {
  TimePs end;
  int64_t length = 1;  // Number of repetitions of the schedule.
};

// Returns the last circuit that ends no later than `latest`, or none.
std::optional<Circuit> FindCircuit(absl::Span<const PathPiece> path,
                                   TimePs latest, TimePs repetition,
                                   const SimulationResult& result) {
  const auto begins_before = [](const PathPiece& piece, TimePs time) {
    return piece.begin < time;
  };
  const auto from =
      std::lower_bound(path.begin(), path.end(), latest, begins_before);
  for (auto end = from; end != path.begin(); --end) {
    if (end == path.end() || end->begin > latest) continue;
    TimePs begin = end->begin - repetition;
    for (int64_t i = 1; begin >= TimePs(0); ++i, begin -= repetition) {
      const auto piece =
          std::lower_bound(path.begin(), end, begin, begins_before);
      if (piece->begin == begin && IsSamePlace(*piece, *end, result)) {
        return Circuit{end->begin, i};
      }
    }
  }
  return std::nullopt;
}

// Lets the path from `begin` to `end` count `times` more.
void CountMore(TimePs begin, TimePs end, int64_t times,
               std::vector<PathPiece>& path) {
  if (times == 0) return;
  CutAt(begin, path);
  CutAt(end, path);
  for (PathPiece& piece : path) {
    if (piece.begin >= begin && piece.end <= end) piece.repeats += times;
  }
}

// Adds the skipped repetitions, skipped.times of them, as whole circuits and a
// part of one circuit for the rest.
void Repeat(const SkippedPart& skipped, uint32_t reported,
            const SimulationResult& result, std::vector<PathPiece>& path) {
  const TimePs repetition = skipped.end[reported] - skipped.begin[reported];
  if (repetition == TimePs(0)) return;
  const Circuit circuit =
      FindCircuit(path, skipped.end[reported], repetition, result)
          .value_or(Circuit{skipped.end[reported], 1});
  const int64_t rest = skipped.times % circuit.length;
  CountMore(circuit.end - circuit.length * repetition, circuit.end,
            skipped.times / circuit.length, path);
  CountMore(circuit.end - rest * repetition, circuit.end, rest > 0 ? 1 : 0,
            path);
}

uint32_t ReportedRank(const SimulationResult& result) {
  const auto found = std::find_if(result.ranks.begin(), result.ranks.end(),
                                  [&](const RankResult& rank) {
                                    return rank.rank == result.reported_rank;
                                  });
  return static_cast<uint32_t>(found - result.ranks.begin());
}

}  // namespace

std::string_view Name(PathKind kind) {
  switch (kind) {
    case PathKind::kCompute:
      return "compute";
    case PathKind::kCollective:
      return "collective";
    case PathKind::kMessage:
      return "message";
    case PathKind::kHost:
      return "host";
  }
  ASTRA_CHECK(false, "path kind {}", static_cast<int>(kind));
}

std::vector<PathPiece> CriticalPath(const SimulationResult& result) {
  if (result.timeline.empty()) return {};
  const uint32_t reported = ReportedRank(result);
  std::vector<PathPiece> path = PathWalker(result).Walk(reported);
  std::reverse(path.begin(), path.end());
  if (result.timeline.skipped) {
    Repeat(*result.timeline.skipped, reported, result, path);
  }
  return path;
}

std::vector<PathPart> PartsOf(absl::Span<const PathPiece> path,
                              const SimulationResult& result) {
  using Key = std::tuple<PathKind, LayerId, Phase, ParallelDimension,
                         CollectiveKind, Bytes>;
  std::vector<PathPart> parts;
  std::map<Key, size_t> part_of;
  for (const PathPiece& piece : path) {
    Communication communication{};
    if (piece.record != PathPiece::kNoRecord) {
      communication = result.collectives[piece.record].communication;
    }
    const auto& [collective, dimension, bytes] = communication;
    const uint32_t stage = result.ranks[piece.rank].stage;
    const auto [found, is_new] = part_of.try_emplace(
        {piece.kind, piece.layer, piece.phase, dimension, collective, bytes},
        parts.size());
    if (is_new) {
      parts.push_back({stage, stage, piece.kind, piece.layer, piece.phase,
                       communication, 0, TimePs(0)});
    }
    PathPart& part = parts[found->second];
    part.first_stage = std::min(part.first_stage, stage);
    part.last_stage = std::max(part.last_stage, stage);
    if (!piece.is_cut) part.count += piece.repeats;
    part.time += piece.time();
  }
  std::stable_sort(
      parts.begin(), parts.end(),
      [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  return parts;
}

}  // namespace astra
