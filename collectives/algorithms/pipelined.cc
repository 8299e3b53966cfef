#include "collectives/algorithms/pipelined.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "astra-core/base/status_macros.h"
#include "collectives/algorithms/chunks.h"

namespace astra {
namespace {

constexpr uint32_t kChunksUnderWay = 2;

class PipelinedGraph final : public FlowGraph {
 public:
  PipelinedGraph(std::unique_ptr<const FlowGraph> pattern, uint32_t num_pieces,
                 uint32_t window)
      : FlowGraph({.num_ranks = pattern->num_ranks(),
                   .num_members = pattern->num_members(),
                   .num_flows = pattern->num_flows() * num_pieces,
                   .num_chunks = pattern->num_chunks() * num_pieces}),
        pattern_(std::move(pattern)),
        num_pieces_(num_pieces),
        window_(window) {}

  Flow flow(FlowId id) const override {
    Flow flow = pattern_->flow(PatternFlow(id));
    const uint32_t first =
        PieceOf(id) * pattern_->num_chunks() + flow.first_chunk.index();
    flow.first_chunk = ChunkId(first);
    flow.bytes = Bytes(0);
    for (uint32_t i = first; i < first + flow.num_chunks; ++i) {
      flow.bytes += Bytes(PipelinedGraph::chunk(ChunkId(i)).size());
    }
    return flow;
  }

  ByteRange chunk(ChunkId chunk) const override {
    const uint32_t pattern_chunk = chunk.index() % pattern_->num_chunks();
    const uint32_t piece = chunk.index() / pattern_->num_chunks();
    return Piece(pattern_->chunk(ChunkId(pattern_chunk)), piece, num_pieces_);
  }

  uint32_t num_dependencies(FlowId id) const override {
    return pattern_->num_dependencies(PatternFlow(id)) +
           (PieceOf(id) >= window_);
  }

  void AppendDependents(FlowId id, std::vector<FlowId>* out) const override {
    const size_t old_size = out->size();
    const uint32_t piece = PieceOf(id);
    pattern_->AppendDependents(PatternFlow(id), out);
    for (size_t i = old_size; i < out->size(); ++i) {
      (*out)[i] = IdOf(piece, (*out)[i]);
    }
    if (num_pieces_ - piece > window_) {
      out->push_back(IdOf(piece + window_, PatternFlow(id)));
    }
  }

  void AppendFirstFlows(GroupRank source,
                        std::vector<FlowId>* out) const override {
    std::vector<FlowId> first;
    pattern_->AppendFirstFlows(source, &first);
    for (uint32_t p = 0; p < std::min(window_, num_pieces_); ++p) {
      for (const FlowId flow : first) out->push_back(IdOf(p, flow));
    }
  }

  uint64_t num_flows_of(GroupRank member) const override {
    return num_pieces_ * pattern_->num_flows_of(member);
  }

  std::vector<uint64_t> flows_per_round() const override {
    return {pattern_->num_flows()};
  }

 private:
  uint32_t PieceOf(FlowId id) const {
    return static_cast<uint32_t>(id.index() / pattern_->num_flows());
  }
  FlowId PatternFlow(FlowId id) const {
    return FlowId(id.index() % pattern_->num_flows());
  }
  FlowId IdOf(uint32_t piece, FlowId pattern_flow) const {
    return FlowId(piece * pattern_->num_flows() + pattern_flow.index());
  }

  std::unique_ptr<const FlowGraph> pattern_;
  uint32_t num_pieces_;
  uint32_t window_;  // Pieces under way between a pair.
};

// Returns a size that is divisible by the numbers into which buffers are
// usually cut.
Bytes EvenBytes(const CollectiveRequest& request) {
  if (IsAllToAllV(request)) return request.bytes();
  constexpr int64_t kDivisible = 3 * 3 * 5 * 7 * 11 * 13 << 10;
  return Bytes(kDivisible * request.num_ranks() * NumChannels(request));
}

// Adds up the flows between the same two members.
void Merge(std::vector<StepFlow>& flows) {
  std::stable_sort(
      flows.begin(), flows.end(), [](const StepFlow& a, const StepFlow& b) {
        return std::tie(a.source, a.target) < std::tie(b.source, b.target);
      });
  size_t last = 0;
  for (size_t i = 1; i < flows.size(); ++i) {
    StepFlow& merged = flows[last];
    if (merged.source == flows[i].source && merged.target == flows[i].target) {
      merged.share += flows[i].share;
    } else {
      flows[++last] = flows[i];
    }
  }
  flows.resize(std::min(flows.size(), last + 1));
}

bool AreEqual(const std::vector<StepFlow>& a, const std::vector<StepFlow>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StepFlow& x, const StepFlow& y) {
                      return x.source == y.source && x.target == y.target &&
                             x.share == y.share;
                    });
}

// Returns the flows of `graph`, grouped by how many flows in a row they wait
// for.
std::vector<std::vector<StepFlow>> LevelsOf(const FlowGraph& graph,
                                            Bytes bytes) {
  std::vector<std::vector<StepFlow>> levels;
  std::vector<uint32_t> level_of(graph.num_flows());
  std::vector<FlowId> dependents;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    const uint32_t level = level_of[i];
    if (level >= levels.size()) levels.resize(level + 1);
    levels[level].push_back({flow.source, flow.target,
                             static_cast<double>(flow.bytes.count()) /
                                 static_cast<double>(bytes.count())});
    dependents.clear();
    graph.AppendDependents(FlowId(i), &dependents);
    for (const FlowId dependent : dependents) {
      uint32_t& later = level_of[dependent.index()];
      later = std::max(later, level + 1);
    }
  }
  return levels;
}

Bytes LargestFlow(const FlowGraph& graph) {
  Bytes largest;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    largest = std::max(largest, graph.flow(FlowId(i)).bytes);
  }
  return largest;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const FlowGraph>> Pipelined(
    std::string_view name, const CollectiveRequest& request,
    std::unique_ptr<const FlowGraph> pattern) {
  const Chunking& chunking = request.chunking();
  uint64_t num_pieces = chunking.slices_per_chunk;
  if (chunking.max_chunk > Bytes(0)) {
    num_pieces *= NumPieces(LargestFlow(*pattern), chunking.max_chunk);
  }
  if (num_pieces == 1) return pattern;
  ASTRA_RETURN_IF_ERROR(CheckSize(name, request,
                                  {pattern->num_flows(), pattern->num_chunks()},
                                  num_pieces, FlowGraph::kMaxFlows));
  return std::make_unique<PipelinedGraph>(
      std::move(pattern), static_cast<uint32_t>(num_pieces),
      kChunksUnderWay * chunking.slices_per_chunk);
}

absl::StatusOr<std::unique_ptr<const FlowGraph>> LowerPattern(
    const PatternAlgorithm& algorithm, const CollectiveRequest& request) {
  ASTRA_ASSIGN_OR_RETURN(std::unique_ptr<const FlowGraph> pattern,
                         algorithm.pattern(request, request.bytes()));
  return Pipelined(algorithm.name, request, std::move(pattern));
}

absl::StatusOr<StepSchedule> PatternSteps(const PatternAlgorithm& algorithm,
                                          const CollectiveRequest& request) {
  const Bytes bytes = EvenBytes(request);
  ASTRA_ASSIGN_OR_RETURN(const std::unique_ptr<const FlowGraph> pattern,
                         algorithm.pattern(request, bytes));
  StepSchedule schedule;
  double largest_share = 0;
  for (std::vector<StepFlow>& level : LevelsOf(*pattern, bytes)) {
    for (const StepFlow& flow : level) {
      largest_share = std::max(largest_share, flow.share);
    }
    Merge(level);
    if (!schedule.steps.empty() &&
        AreEqual(schedule.steps.back().flows, level)) {
      ++schedule.steps.back().repeat;
    } else {
      schedule.steps.push_back({.flows = std::move(level)});
    }
  }
  const Chunking& chunking = request.chunking();
  const auto size = static_cast<double>(request.bytes().count());
  schedule.is_pipelined =
      algorithm.is_pipelined || chunking.slices_per_chunk > 1 ||
      (chunking.max_chunk > Bytes(0) &&
       largest_share * size > static_cast<double>(chunking.max_chunk.count()));
  return schedule;
}

}  // namespace astra
