// The contract of every collective algorithm in the registry: no byte of the
// buffer is lost and, whatever order the network delivers in, each rank ends
// with its result and sums no contribution twice; the graph answers alike
// whatever it is asked; what is sent is what the formula says; and the steps of
// the closed form move the same bytes between the same members.
//
// A graph is replayed with sets in the place of data: each member holds, for
// each chunk, the set of ranks whose contribution is in it. Flows are sent and
// delivered in random orders that the edges allow, and read what they carry
// either at once or when they are delivered, so a missing edge shows.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/registry.h"
#include "tests/collectives/contract_cases.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::Case;
using ::astra::testing::CasesOf;
using ::astra::testing::ValueOrDie;

using Graph = std::unique_ptr<const FlowGraph>;
using Ranks = uint64_t;  // A set of up to 64.

Ranks Only(GroupRank rank) { return Ranks{1} << rank.index(); }
Ranks AllOf(uint32_t n) { return ~Ranks{0} >> (64 - n); }

// --- What ranks have and need -----------------------------------------------

// Who has a chunk before the collective, and what of it must be where after.
struct ChunkRole {
  Ranks holders = 0;  // Ranks that have a contribution before.
  Ranks needers = 0;  // Ranks that need the result.
  Ranks result = 0;   // The contributions in it.
  bool is_empty = false;
};

// A part of the buffer, and the ranks that have and need it.
struct PartRole {
  ByteRange range;
  ChunkRole role;
};

std::vector<PartRole> PartsOf(const CollectiveRequest& request) {
  const uint32_t n = request.num_ranks();
  const Ranks all = AllOf(n);
  const Ranks root = Only(request.root());
  std::vector<PartRole> parts;
  const auto add_whole = [&](Ranks holders, Ranks needers) {
    parts.push_back(
        {{0, request.bytes().count()}, {holders, needers, holders}});
  };
  for (uint32_t i = 0; i < n; ++i) {
    const GroupRank rank(i);
    const ByteRange part = request.Part(rank);
    switch (request.kind()) {
      case CollectiveKind::kAllReduce:
        if (i == 0) add_whole(all, all);
        break;
      case CollectiveKind::kBroadcast:
        if (i == 0) add_whole(root, all);
        break;
      case CollectiveKind::kReduce:
        if (i == 0) add_whole(all, root);
        break;
      case CollectiveKind::kAllGather:
        parts.push_back({part, {Only(rank), all, Only(rank)}});
        break;
      case CollectiveKind::kReduceScatter:
        parts.push_back({part, {all, Only(rank), all}});
        break;
      case CollectiveKind::kGather:
        parts.push_back({part, {Only(rank), root, Only(rank)}});
        break;
      case CollectiveKind::kScatter:
        parts.push_back({part, {root, Only(rank), root}});
        break;
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kDispatch:
      case CollectiveKind::kCombine:
      case CollectiveKind::kSendRecv:
        for (uint32_t j = 0; j < n; ++j) {
          parts.push_back({request.PairPart(rank, GroupRank(j)),
                           {Only(rank), Only(GroupRank(j)), Only(rank)}});
        }
        break;
    }
  }
  std::erase_if(parts, [](const PartRole& p) { return p.range.size() == 0; });
  return parts;
}

// The role of each chunk; a message says which does not lie in one part.
std::string RolesOf(const FlowGraph& graph, const CollectiveRequest& request,
                    std::vector<ChunkRole>& roles) {
  const std::vector<PartRole> parts = PartsOf(request);
  std::vector<std::pair<ByteRange, uint32_t>> chunks;
  roles.assign(graph.num_chunks(), {.is_empty = true});
  for (uint32_t i = 0; i < graph.num_chunks(); ++i) {
    const ByteRange range = graph.chunk(ChunkId(i));
    if (range.size() < 0) return fmt::format("chunk {} is negative", i);
    if (range.size() > 0) chunks.emplace_back(range, i);
  }
  std::sort(chunks.begin(), chunks.end());
  int64_t end = 0;
  size_t part = 0;
  for (const auto& [range, chunk] : chunks) {
    if (range.begin != end) return fmt::format("a gap before byte {}", end);
    end = range.end;
    while (part < parts.size() && parts[part].range.end <= range.begin) ++part;
    if (part == parts.size() || parts[part].range.end < range.end) {
      return fmt::format("chunk {} is not in one part", chunk);
    }
    roles[chunk] = parts[part].role;
  }
  if (end != parts.back().range.end) return fmt::format("ends at {}", end);
  return "";
}

// --- Replay -----------------------------------------------------------------

class Replay {
 public:
  // Messages are read at any time until they arrive. Out of place, they hold
  // what their source had at the beginning.
  Replay(const FlowGraph& graph, const std::vector<ChunkRole>& roles,
         uint32_t seed, bool is_out_of_place)
      : graph_(graph),
        roles_(roles),
        random_(seed),
        takes_latest_(seed % 3 == 0),
        is_out_of_place_(is_out_of_place),
        held_(graph.num_members(), std::vector<Ranks>(graph.num_chunks())) {
    for (uint32_t chunk = 0; chunk < graph.num_chunks(); ++chunk) {
      for (uint32_t rank = 0; rank < graph.num_ranks(); ++rank) {
        held_[rank][chunk] = roles[chunk].holders & Only(GroupRank(rank));
      }
    }
    initial_ = held_;
  }

  // Delivers everything. Returns what went wrong.
  std::string Run() {
    missing_.resize(graph_.num_flows());
    for (uint64_t i = 0; i < graph_.num_flows(); ++i) {
      missing_[i] = graph_.num_dependencies(FlowId(i));
    }
    std::vector<FlowId> flows;
    for (uint32_t member = 0; member < graph_.num_members(); ++member) {
      graph_.AppendFirstFlows(GroupRank(member), &flows);
    }
    for (const FlowId flow : flows) Start(flow);
    while (!ready_.empty() && error_.empty()) {
      Message message = TakeOne();
      Deliver(message);
      flows.clear();
      graph_.AppendDependents(message.flow, &flows);
      for (const FlowId later : flows) {
        if (--missing_[later.index()] == 0) Start(later);
      }
      ++num_delivered_;
    }
    if (error_.empty() && num_delivered_ != graph_.num_flows()) {
      error_ = fmt::format("{} of {} flows delivered", num_delivered_,
                           graph_.num_flows());
    }
    if (error_.empty()) CheckResults();
    return error_;
  }

 private:
  struct Message {
    FlowId flow;
    std::vector<Ranks> contents;  // Empty until it is read.
  };

  void Start(FlowId flow) {
    ready_.push_back({flow, {}});
    if (random_() % 2 == 0) Read(ready_.back());
  }

  void Read(Message& message) {
    const Flow flow = graph_.flow(message.flow);
    const auto& held =
        (is_out_of_place_ ? initial_ : held_)[flow.source.index()];
    const auto first = held.begin() + flow.first_chunk.index();
    message.contents.assign(first, first + flow.num_chunks);
  }

  Message TakeOne() {
    const size_t i = takes_latest_ && random_() % 8 != 0
                         ? ready_.size() - 1
                         : random_() % ready_.size();
    std::swap(ready_[i], ready_.back());
    Message message = std::move(ready_.back());
    ready_.pop_back();
    return message;
  }

  void Deliver(Message& message) {
    if (message.contents.empty()) Read(message);
    const Flow flow = graph_.flow(message.flow);
    for (uint32_t i = 0; i < flow.num_chunks; ++i) {
      const uint32_t chunk = flow.first_chunk.index() + i;
      if (roles_[chunk].is_empty) continue;
      const Ranks contents = message.contents[i];
      Ranks& held = held_[flow.target.index()][chunk];
      if (contents == 0) Fail(message.flow, chunk, "carries nothing");
      if (flow.op == FlowOp::kCopy) held = 0;
      if ((held & contents) != 0) Fail(message.flow, chunk, "adds up twice");
      held |= contents;
    }
  }

  void Fail(FlowId flow, uint32_t chunk, std::string_view what) {
    error_ = fmt::format("flow {} {} in chunk {}", flow, what, chunk);
  }

  void CheckResults() {
    for (uint32_t rank = 0; rank < graph_.num_ranks(); ++rank) {
      for (uint32_t chunk = 0; chunk < graph_.num_chunks(); ++chunk) {
        const ChunkRole& role = roles_[chunk];
        const bool needs = (role.needers & Only(GroupRank(rank))) != 0;
        if (needs && held_[rank][chunk] != role.result) {
          error_ = fmt::format("rank {} has {:b} of chunk {}, not {:b}", rank,
                               held_[rank][chunk], chunk, role.result);
        }
      }
    }
  }

  const FlowGraph& graph_;
  const std::vector<ChunkRole>& roles_;
  std::mt19937 random_;
  bool takes_latest_;
  bool is_out_of_place_;
  std::vector<std::vector<Ranks>> held_;  // By member and chunk.
  std::vector<std::vector<Ranks>> initial_;
  std::vector<uint32_t> missing_;  // Dependencies, by flow.
  std::vector<Message> ready_;
  uint64_t num_delivered_ = 0;
  std::string error_;
};

// --- Consistency ------------------------------------------------------------

// What each member sends first, and how much it sends and receives, as the
// flows themselves tell.
struct Tally {
  std::vector<std::vector<FlowId>> first_flows;
  std::vector<uint64_t> num_flows;
  std::vector<uint32_t> num_dependencies;  // By flow.
};

std::string CheckFlow(const FlowGraph& graph, FlowId id, const Flow& flow) {
  if (flow.source == flow.target) return "goes to itself";
  if (std::max(flow.source, flow.target).index() >= graph.num_members()) {
    return "goes beyond the members";
  }
  if (flow.num_chunks == 0) return "has no chunk";
  int64_t bytes = 0;
  for (uint32_t i = 0; i < flow.num_chunks; ++i) {
    bytes += graph.chunk(ChunkId(flow.first_chunk.index() + i)).size();
  }
  if (flow.bytes != Bytes(bytes)) return "has not the bytes of its chunks";
  std::vector<FlowId> dependents;
  graph.AppendDependents(id, &dependents);
  FlowId before = id;
  for (const FlowId later : dependents) {
    if (later <= before) return "has dependents out of order";
    before = later;
    const GroupRank source = graph.flow(later).source;
    if (source != flow.source && source != flow.target) {
      return "is waited for elsewhere";
    }
  }
  return "";
}

std::string CheckGraph(const FlowGraph& graph) {
  Tally tally{std::vector<std::vector<FlowId>>(graph.num_members()),
              std::vector<uint64_t>(graph.num_members()),
              std::vector<uint32_t>(graph.num_flows())};
  std::vector<FlowId> dependents;
  for (uint64_t i = 0; i < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    const std::string error = CheckFlow(graph, FlowId(i), flow);
    if (!error.empty()) return fmt::format("flow {} {}", i, error);
    dependents.clear();
    graph.AppendDependents(FlowId(i), &dependents);
    for (const FlowId later : dependents) {
      ++tally.num_dependencies[later.index()];
    }
    if (tally.num_dependencies[i] != graph.num_dependencies(FlowId(i))) {
      return fmt::format("flow {} waits for {} flows", i,
                         tally.num_dependencies[i]);
    }
    if (tally.num_dependencies[i] == 0) {
      tally.first_flows[flow.source.index()].push_back(FlowId(i));
    }
    ++tally.num_flows[flow.source.index()];
    ++tally.num_flows[flow.target.index()];
  }
  for (uint32_t i = 0; i < graph.num_members(); ++i) {
    std::vector<FlowId> first;
    graph.AppendFirstFlows(GroupRank(i), &first);
    if (first != tally.first_flows[i] ||
        graph.num_flows_of(GroupRank(i)) != tally.num_flows[i]) {
      return fmt::format("of the {} flows of member {}, {} are first",
                         tally.num_flows[i], i, tally.first_flows[i].size());
    }
  }
  return "";
}

// --- The tests --------------------------------------------------------------

class CollectiveContractTest
    : public ::testing::TestWithParam<CollectiveAlgorithm> {
 protected:
  // Calls `check` with each case that the algorithm allows, and its graph;
  // until one fails. Some must.
  template <class Check>
  void ForEachCase(bool divides, const Check& check) {
    int num_cases = 0;
    for (const Case& c : CasesOf(GetParam().kind, divides)) {
      absl::StatusOr<Graph> graph = GetParam().lower(c.request);
      if (absl::IsFailedPrecondition(graph.status())) {
        EXPECT_EQ(GetParam().steps(c.request).status(), graph.status());
        continue;
      }
      ASSERT_TRUE(graph.ok()) << graph.status() << c.name;
      SCOPED_TRACE(c.name);
      check(c.request, **graph, static_cast<uint32_t>(++num_cases));
      if (HasFailure()) return;
    }
    EXPECT_GE(num_cases, 4);
  }
};

TEST_P(CollectiveContractTest, EachRankEndsWithItsResultInAnyOrder) {
  ForEachCase(false, [](const CollectiveRequest& request,
                        const FlowGraph& graph, uint32_t seed) {
    std::vector<ChunkRole> roles;
    ASSERT_EQ(RolesOf(graph, request, roles), "");
    EXPECT_EQ(CheckGraph(graph), "");
    if (!::testing::Test::HasFailure()) {
      EXPECT_EQ(Replay(graph, roles, seed, GetParam().is_out_of_place).Run(),
                "");
    }
  });
}

TEST_P(CollectiveContractTest, TheStepsMoveTheSameBytes) {
  ForEachCase(true, [](const CollectiveRequest& request, const FlowGraph& graph,
                       uint32_t) {
    std::map<std::pair<GroupRank, GroupRank>, double> in_graph, in_steps;
    for (uint64_t i = 0; i < graph.num_flows(); ++i) {
      const Flow flow = graph.flow(FlowId(i));
      in_graph[{flow.source, flow.target}] +=
          static_cast<double>(flow.bytes.count());
    }
    const auto bytes = static_cast<double>(request.bytes().count());
    const StepSchedule schedule = ValueOrDie(GetParam().steps(request));
    for (const ScheduleStep& step : schedule.steps) {
      for (const StepFlow& flow : step.flows) {
        in_steps[{flow.source, flow.target}] +=
            static_cast<double>(step.repeat) * flow.share * bytes;
      }
    }
    ASSERT_EQ(in_graph.size(), in_steps.size());
    for (const auto& [pair, volume] : in_graph) {
      ASSERT_NEAR(in_steps[pair], volume, 1e-6 * volume)
          << pair.first.index() << " to " << pair.second.index();
    }
  });
}

// A round has as many flows of each member as the next, between the same two
// and over the same channel. Of the longest rounds, what waits for the later
// flow is what waits for the earlier one, a round later.
std::string CheckRounds(const FlowGraph& graph, uint64_t per_round) {
  const bool is_longest = per_round == graph.flows_per_round().front();
  if (per_round == 0 || graph.num_flows() % per_round != 0) return "a part";
  const uint64_t num_rounds = graph.num_flows() / per_round;
  for (uint32_t i = 0; i < graph.num_members(); ++i) {
    if (graph.num_flows_of(GroupRank(i)) % num_rounds != 0) return "members";
  }
  std::vector<FlowId> dependents, later;
  for (uint64_t i = 0; i + per_round < graph.num_flows(); ++i) {
    const Flow flow = graph.flow(FlowId(i));
    const Flow next = graph.flow(FlowId(i + per_round));
    if (std::tie(flow.source, flow.target, flow.channel) !=
        std::tie(next.source, next.target, next.channel)) {
      return fmt::format("flow {} goes elsewhere", i);
    }
    if (!is_longest) continue;
    dependents.clear();
    later.clear();
    graph.AppendDependents(FlowId(i), &dependents);
    graph.AppendDependents(FlowId(i + per_round), &later);
    for (const FlowId id : later) {
      const FlowId moved(id.index() - per_round);
      if (!std::count(dependents.begin(), dependents.end(), moved)) {
        return fmt::format("nothing waits for flow {} like flow {}", i, id);
      }
    }
  }
  return "";
}

TEST_P(CollectiveContractTest, RoundsConsistOfTheSameFlows) {
  ForEachCase(false,
              [](const CollectiveRequest&, const FlowGraph& graph, uint32_t) {
                for (const uint64_t per_round : graph.flows_per_round()) {
                  EXPECT_EQ(CheckRounds(graph, per_round), "");
                }
              });
}

INSTANTIATE_TEST_SUITE_P(
    All, CollectiveContractTest, ::testing::ValuesIn(CollectiveAlgorithms()),
    [](const ::testing::TestParamInfo<CollectiveAlgorithm>& test) {
      std::string name =
          fmt::format("{}_{}", Name(test.param.kind), test.param.name);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace astra
