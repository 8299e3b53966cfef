#include "astra-core/engine/message_facts.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/random.h"

namespace astra {
namespace {

// Returns whether the result of each rank is made of something of every other,
// by what the collective is.
bool IsMadeOfAll(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kSendRecv:
      return true;
    default:
      return false;
  }
}

// Returns whether the flows of each rank wait, themselves or through others,
// for all ranks to start. Of large graphs it says that they do not.
bool WaitsForAll(const FlowGraph& graph) {
  constexpr uint64_t kMostWords = uint64_t{1} << 24;
  const uint64_t num_words = (graph.num_ranks() + 63) / 64;
  if (graph.num_flows() > kMostWords / num_words) return false;
  // Bits of ranks, by flow and by rank. A flow comes after those it waits for.
  std::vector<uint64_t> of_flow(graph.num_flows() * num_words);
  std::vector<uint64_t> of_rank(graph.num_members() * num_words);
  const auto add = [num_words](const uint64_t* from, uint64_t* to) {
    for (uint64_t word = 0; word < num_words; ++word) to[word] |= from[word];
  };
  std::vector<FlowId> later;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    uint64_t* needs = &of_flow[i * num_words];
    for (const GroupRank rank : {flow.source, flow.target}) {
      if (rank.index() >= graph.num_ranks()) continue;
      needs[rank.index() / 64] |= uint64_t{1} << (rank.index() % 64);
    }
    add(needs, &of_rank[flow.source.index() * num_words]);
    add(needs, &of_rank[flow.target.index() * num_words]);
    later.clear();
    graph.AppendDependents(FlowId(i), &later);
    for (const FlowId id : later) add(needs, &of_flow[id.index() * num_words]);
  }
  for (uint32_t rank = 0; rank < graph.num_ranks(); ++rank) {
    for (uint32_t other = 0; other < graph.num_ranks(); ++other) {
      const uint64_t word = of_rank[rank * num_words + other / 64];
      if ((word >> (other % 64) & 1) == 0) return false;
    }
  }
  return true;
}

// See MessageFacts::has_alike_ranks.
bool HasAlikeRanks(const FlowGraph& graph, const MessageCosts& costs,
                   const GroupLayout* layout) {
  const uint32_t num_ranks = graph.num_ranks();
  std::vector<uint64_t> sum_of_rank(num_ranks);
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    const bool comes_from_rank = flow.source.index() < num_ranks;
    const bool goes_to_rank = flow.target.index() < num_ranks;
    if (comes_from_rank == goes_to_rank) return false;
    const GroupRank rank = comes_from_rank ? flow.source : flow.target;
    const GroupRank other = comes_from_rank ? flow.target : flow.source;
    sum_of_rank[rank.index()] +=
        HashOf(comes_from_rank, other.index(), flow.channel,
               costs.OnWire(flow, layout).count(),
               costs.BeforeSending(FlowId(i), flow, layout).count(),
               costs.AtTarget(flow, num_ranks).count());
  }
  return std::all_of(sum_of_rank.begin(), sum_of_rank.end(),
                     [&](uint64_t sum) { return sum == sum_of_rank.front(); });
}

}  // namespace

MessageFacts FactsOf(const FlowGraph& graph, CollectiveKind kind,
                     const MessageCosts& costs, const GroupLayout* layout) {
  MessageFacts facts;
  // For look-up only.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, size_t> known;
  // All that the network sees of a flow, and the distance of its dependents.
  std::vector<uint64_t> marks;
  marks.reserve(graph.num_flows());
  std::vector<FlowId> later;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    const uint64_t ends =
        uint64_t{flow.source.index()} << 32 | flow.target.index();
    const Bytes bytes = costs.OnWire(flow, layout);
    const auto [place, is_new] =
        known.try_emplace({ends, flow.channel}, facts.connections.size());
    if (is_new) {
      facts.connections.push_back({flow.source, flow.target, flow.channel, {}});
    }
    facts.connections[place->second].bytes += bytes;
    uint64_t mark = HashOf(ends, flow.channel, bytes.count(),
                           costs.BeforeSending(FlowId(i), flow, layout).count(),
                           costs.AtTarget(flow, graph.num_ranks()).count());
    later.clear();
    graph.AppendDependents(FlowId(i), &later);
    for (const FlowId id : later) mark = HashOf(mark, id.index() - i);
    marks.push_back(mark);
    facts.hash[0] = Mix64(facts.hash[0] ^ mark);
    facts.hash[1] = Mix64(facts.hash[1] + mark);
  }
  const uint32_t num_ranks = graph.num_ranks();
  for (uint64_t& hash : facts.hash) hash = HashOf(hash, num_ranks);
  facts.rounds = AlikeRoundsOf(marks, graph);
  facts.has_switches = graph.num_members() > num_ranks;
  facts.has_alike_ranks =
      facts.has_switches && HasAlikeRanks(graph, costs, layout);
  bool all_take_part = true;
  for (uint32_t rank = 0; rank < num_ranks; ++rank) {
    if (graph.num_flows_of(GroupRank(rank)) == 0) all_take_part = false;
  }
  facts.needs_all = all_take_part && (IsMadeOfAll(kind) || WaitsForAll(graph));
  return facts;
}

}  // namespace astra
