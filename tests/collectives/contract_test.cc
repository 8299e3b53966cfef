// The contract of every collective algorithm in the registry: no byte of the
// buffer is lost and, whatever order the network delivers in, each rank ends
// with its result and sums no contribution twice; and the steps of its closed
// form move the same bytes between the same ranks.
//
// A graph is replayed with sets in the place of data: each rank holds, for each
// chunk, the set of ranks whose contribution is in it. Flows are delivered in
// random orders that the edges allow, so a missing edge shows in some order.

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/registry.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;

using Contributions = std::set<uint32_t>;          // Of ranks.
using Buffer = std::map<uint32_t, Contributions>;  // By chunk.
using Case = std::tuple<CollectiveAlgorithm, GroupShape>;

Contributions AllRanks(uint32_t num_ranks) {
  Contributions all;
  for (uint32_t rank = 0; rank < num_ranks; ++rank) all.insert(rank);
  return all;
}

// Chunk c n + r belongs to rank r; that of an all-to-all or send-recv, i n + j,
// goes from rank i to rank j.
uint32_t Owner(uint32_t chunk, uint32_t n) { return chunk % n; }
uint32_t Sender(uint32_t chunk, uint32_t n) { return chunk / n; }

bool IsPersonal(CollectiveKind kind) {
  return kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kSendRecv;
}

// What `rank` holds of `chunk` before the collective.
Contributions Input(CollectiveKind kind, uint32_t n, uint32_t rank,
                    uint32_t chunk) {
  bool has_input = true;
  if (kind == CollectiveKind::kAllGather) has_input = Owner(chunk, n) == rank;
  if (IsPersonal(kind)) has_input = Sender(chunk, n) == rank;
  return has_input ? Contributions{rank} : Contributions{};
}

// Whether `rank` needs `chunk` at the end.
bool Needs(CollectiveKind kind, uint32_t n, uint32_t rank, uint32_t chunk) {
  if (kind == CollectiveKind::kReduceScatter || IsPersonal(kind)) {
    return Owner(chunk, n) == rank;
  }
  return true;
}

// What a rank that needs `chunk` must hold of it.
Contributions Output(CollectiveKind kind, uint32_t n, uint32_t chunk) {
  if (kind == CollectiveKind::kAllGather) return {Owner(chunk, n)};
  if (IsPersonal(kind)) return {Sender(chunk, n)};
  return AllRanks(n);
}

// The flows of `graph`, each after those that it waits for.
std::vector<FlowId> RandomOrder(const FlowGraph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> missing;
  std::vector<FlowId> ready;
  for (uint32_t i = 0; i < graph.num_flows(); ++i) {
    missing.push_back(graph.num_dependencies(FlowId(i)));
    if (missing.back() == 0) ready.push_back(FlowId(i));
  }
  std::vector<FlowId> order;
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const FlowId later : graph.dependents(order.back())) {
      if (--missing[later.index()] == 0) ready.push_back(later);
    }
  }
  return order;
}

void Deliver(const Flow& flow, std::vector<Buffer>& buffers) {
  const Contributions sent = buffers[flow.source.index()][flow.chunk.index()];
  Contributions& held = buffers[flow.target.index()][flow.chunk.index()];
  EXPECT_FALSE(sent.empty())
      << "chunk " << flow.chunk.index() << " is sent before it is there";
  if (flow.op == FlowOp::kCopy) held.clear();
  for (const uint32_t rank : sent) {
    EXPECT_TRUE(held.insert(rank).second) << "rank " << rank << " added twice";
  }
}

class CollectiveContractTest : public ::testing::TestWithParam<Case> {
 protected:
  CollectiveAlgorithm algorithm_ = std::get<0>(GetParam());
  GroupShape shape_ = std::get<1>(GetParam());
  uint32_t n_ = shape_.num_ranks;

  FlowGraph Lower(Bytes bytes) const {
    return ValueOrDie(algorithm_.lower(
        ValueOrDie(CollectiveRequest::Create(algorithm_.kind, bytes, shape_))));
  }
  // The chunks that flows carry, with their sizes.
  static std::map<uint32_t, Bytes> ChunkSizes(const FlowGraph& graph) {
    std::map<uint32_t, Bytes> sizes;
    for (uint32_t i = 0; i < graph.num_flows(); ++i) {
      const Flow& flow = graph.flow(FlowId(i));
      const auto [size, is_first] =
          sizes.try_emplace(flow.chunk.index(), flow.bytes);
      EXPECT_EQ(flow.bytes, size->second) << "of chunk " << size->first;
    }
    return sizes;
  }
};

TEST_P(CollectiveContractTest, EveryDeliveryOrderGivesTheResult) {
  const FlowGraph graph = Lower(Bytes(1000));
  const std::map<uint32_t, Bytes> chunks = ChunkSizes(graph);

  for (uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::vector<Buffer> buffers(n_);
    for (uint32_t rank = 0; rank < n_; ++rank) {
      for (const auto& [chunk, _] : chunks) {
        buffers[rank][chunk] = Input(algorithm_.kind, n_, rank, chunk);
      }
    }
    const std::vector<FlowId> order = RandomOrder(graph, seed);
    ASSERT_EQ(order.size(), graph.num_flows());
    for (const FlowId flow : order) Deliver(graph.flow(flow), buffers);
    for (uint32_t rank = 0; rank < n_; ++rank) {
      for (const auto& [chunk, _] : chunks) {
        if (!Needs(algorithm_.kind, n_, rank, chunk)) continue;
        EXPECT_EQ(buffers[rank][chunk], Output(algorithm_.kind, n_, chunk))
            << "rank " << rank << ", chunk " << chunk;
      }
    }
  }
}

TEST_P(CollectiveContractTest, TheChunksMakeUpTheBuffer) {
  // A prime, so that nothing divides it.
  constexpr int64_t kBytes = 10007;
  std::map<uint32_t, Bytes> by_buffer;  // By the rank whose buffer it is.
  for (const auto& [chunk, size] : ChunkSizes(Lower(Bytes(kBytes)))) {
    by_buffer[IsPersonal(algorithm_.kind) ? Sender(chunk, n_) : 0] += size;
  }
  for (const auto& [rank, total] : by_buffer) {
    if (algorithm_.kind == CollectiveKind::kAllToAll) {
      // A rank keeps its own part of the buffer.
      const int64_t own = kBytes / n_ + (rank < kBytes % n_);
      EXPECT_EQ(total, Bytes(kBytes - own)) << "of rank " << rank;
    } else {
      EXPECT_EQ(total, Bytes(kBytes));
    }
  }
}

TEST_P(CollectiveContractTest, TheStepsMoveTheSameBytes) {
  // Divides by all channels and ranks, so that no rounding remains.
  const int64_t bytes = int64_t{720'720} * n_ * n_;
  std::map<std::pair<uint32_t, uint32_t>, double> in_graph, in_steps;
  const FlowGraph graph = Lower(Bytes(bytes));
  for (uint32_t i = 0; i < graph.num_flows(); ++i) {
    const Flow& flow = graph.flow(FlowId(i));
    in_graph[{flow.source.index(), flow.target.index()}] +=
        static_cast<double>(flow.bytes.count());
  }
  for (const ScheduleStep& step : algorithm_.steps(algorithm_.kind, shape_)) {
    for (const StepFlow& flow : step.flows) {
      in_steps[{flow.source.index(), flow.target.index()}] +=
          static_cast<double>(step.repeat) * flow.share *
          static_cast<double>(bytes);
    }
  }
  ASSERT_EQ(in_graph.size(), in_steps.size());
  for (const auto& [pair, volume] : in_graph) {
    EXPECT_NEAR(in_steps[pair], volume, 1e-6 * volume)
        << pair.first << " to " << pair.second;
  }
}

// "all_reduce_ring_8_on_2".
std::string CaseName(const ::testing::TestParamInfo<Case>& test) {
  const auto& [algorithm, shape] = test.param;
  std::string name =
      fmt::format("{}_{}_{}_on_{}", Name(algorithm.kind), algorithm.name,
                  shape.num_ranks, shape.num_servers());
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

// Each algorithm on each shape that its kind allows.
std::vector<Case> Cases() {
  constexpr GroupShape kShapes[] = {{2, 2}, {2, 1},  {3, 1}, {5, 5},
                                    {8, 4}, {12, 4}, {16, 2}};
  std::vector<Case> cases;
  for (const CollectiveAlgorithm& algorithm : CollectiveAlgorithms()) {
    for (const GroupShape& shape : kShapes) {
      const bool is_pair = algorithm.kind == CollectiveKind::kSendRecv;
      if (!is_pair || shape.num_ranks == 2) {
        cases.emplace_back(algorithm, shape);
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveContractTest,
                         ::testing::ValuesIn(Cases()), CaseName);

}  // namespace
}  // namespace astra
