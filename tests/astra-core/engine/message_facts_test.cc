#include "astra-core/engine/message_facts.h"

#include <memory>
#include <utility>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

constexpr uint32_t kSwitch = 2;  // After two ranks.

struct Bend {
  uint32_t source;
  uint32_t target;
  int64_t bytes;
};

MessageFacts FactsOfFlows(const std::vector<Bend>& flows) {
  FlowGraph::Builder builder(2, 1);
  int64_t end = 0;
  for (const auto& [source, target, bytes] : flows) {
    builder.Add({.source = GroupRank(source),
                 .target = GroupRank(target),
                 .first_chunk = builder.AddChunk({end, end + bytes})});
    end += bytes;
  }
  const std::unique_ptr<const FlowGraph> graph = std::move(builder).Build();
  const MessageCosts costs = {.wire_bytes_per_byte = 2};
  return FactsOf(*graph, CollectiveKind::kAllReduce, costs, nullptr);
}

TEST(MessageFactsTest, ConnectionsCarryTheBytesOfAllTheirMessages) {
  const MessageFacts facts =
      FactsOfFlows({{0, kSwitch, 100}, {1, kSwitch, 70}, {0, kSwitch, 30}});
  ASSERT_EQ(facts.connections.size(), 2u);
  EXPECT_EQ(facts.connections[0].source, GroupRank(0));
  EXPECT_EQ(facts.connections[0].bytes, Bytes(260));
  EXPECT_EQ(facts.connections[1].bytes, Bytes(140));
}

TEST(MessageFactsTest, RanksAreAlikeThatExchangeTheSameWithASwitch) {
  EXPECT_TRUE(FactsOfFlows({{0, kSwitch, 100},
                            {1, kSwitch, 70},
                            {1, kSwitch, 100},
                            {kSwitch, 1, 50},
                            {0, kSwitch, 70},
                            {kSwitch, 0, 50}})
                  .has_alike_ranks);
  // One sends more, one does not receive, two exchange something.
  EXPECT_FALSE(
      FactsOfFlows({{0, kSwitch, 100}, {1, kSwitch, 101}}).has_alike_ranks);
  EXPECT_FALSE(
      FactsOfFlows({{0, kSwitch, 100}, {kSwitch, 1, 100}}).has_alike_ranks);
  EXPECT_FALSE(FactsOfFlows({{0, 1, 100}, {1, 0, 100}}).has_alike_ranks);
}

}  // namespace
}  // namespace astra
