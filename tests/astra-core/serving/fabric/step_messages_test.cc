#include "astra-core/serving/fabric/step_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "astra-core/serving/fabric/step_pattern.h"
#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/topologies.h"
#include "tests/workload/serving/serving_run.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;

// Four servers of two GPUs. Those of even number hang below one switch and the
// others below another, and one cable joins the two: it carries all that
// replicas of two servers send.
Topology Crossed() {
  Drawing drawing(8, 2, 4, 2);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) {
    drawing.Cable(gpu, 8 + gpu / 2, "2880Gbps", "0ns");
    drawing.Cable(gpu, gpu / 2 % 2 == 0 ? 12 : 13, "400Gbps", "0ns");
  }
  drawing.Cable(12, 13, "400Gbps", "0ns");
  return drawing.Build();
}

constexpr PoolPlace kPlace = {
    .gpus_per_replica = 4, .replicas = 2, .tensor = 4};

const StagePattern kDispatch = {
    {CollectiveKind::kDispatch, {.size = 4}, "direct"}, 0};

NetworkOptions WithoutHeaders() {
  NetworkOptions options;
  options.packet = DefaultNetwork();
  options.packet.nic.header = Bytes(0);
  options.flow = FlowOptionsOf(options.packet);
  options.flow.switch_latency = TimePs(0);
  return options;
}

// Steps of 300 us, 200 us of which are dispatches. Each GPU sends a quarter of
// the buffers to each other one, so that 4 MB cross the cable: 80 us.
class DispatchingCost : public StepCost {
 public:
  explicit DispatchingCost(double bytes = 4e6) : bytes_(bytes) {}
  TimePs TimeOf(const StepWork&) override { return Microseconds(300); }
  void AddStages(absl::Span<const StepWork>,
                 std::vector<StageTime>* stages) override {
    stages->push_back(
        {Microseconds(300),
         {{.pattern = 0, .bytes = bytes_, .time = Microseconds(200)}}});
  }

 private:
  double bytes_;
};

// Serves prompts of one step each, which the replicas take in turn.
WrittenRun ServeOn(std::string_view backend, const NetworkOptions& network,
                   const std::vector<Asked>& asked, double bytes = 4e6) {
  const Topology topology = Crossed();
  Routes routes(topology);
  const BackendEntry& entry = *ValueOrDie(FindBackend(backend));
  const auto made = entry.make(network, routes);
  ServingFabric fabric(*made);
  const std::vector<StagePattern> patterns = {kDispatch};
  StepMessages steps(fabric, kPlace, patterns, topology,
                     [&] { return entry.make(network, routes); });
  DispatchingCost cost(bytes);
  ServingOptions options = {
      .pool = {.replicas = 2,
               .scheduler = &VllmScheduler(),
               .options = VllmScheduler().defaults,
               .router = ValueOrDie(FindRouter("round-robin")),
               .cost = &cost,
               .network = &steps}};
  options.pool.options.num_blocks = 100;
  ListedRequests source(RequestsOf(asked));
  WrittenRun run;
  const auto process = ValueOrDie(StartServing(options, &source, &run));
  fabric.Attach(*process);
  run.status = fabric.GoOn().status();
  EXPECT_TRUE(run.status.ok() && steps.status().ok());
  return run;
}

double StepUs(const WrittenRun& run, int64_t request) {
  return static_cast<double>(run.Of(request).times.executed.count()) / 1e6;
}

TEST(StepMessagesTest, PairsAreThoseBetweenServers) {
  using Pair = std::tuple<uint32_t, uint32_t, double>;
  const auto pairs = [](const StagePattern& pattern, uint32_t replica) {
    const Topology topology = Crossed();
    std::vector<Pair> result;
    for (const PairShare& pair :
         ValueOrDie(PairsOf(pattern, kPlace, replica, topology))) {
      result.emplace_back(pair.source.index(), pair.target.index(), pair.share);
    }
    return result;
  };
  EXPECT_THAT(pairs(kDispatch, 1),
              ElementsAre(Pair{4, 6, 0.25}, Pair{4, 7, 0.25}, Pair{5, 6, 0.25},
                          Pair{5, 7, 0.25}, Pair{6, 4, 0.25}, Pair{6, 5, 0.25},
                          Pair{7, 4, 0.25}, Pair{7, 5, 0.25}));
  // A ring for each rail, which carries half of three quarters.
  const StagePattern ring = {{CollectiveKind::kAllGather, {.size = 4}, "ring"},
                             0};
  EXPECT_THAT(pairs(ring, 0),
              ElementsAre(Pair{0, 2, 0.375}, Pair{1, 3, 0.375},
                          Pair{2, 0, 0.375}, Pair{3, 1, 0.375}));
}

// The cable takes 80 us of the 200; a packet more on two links is in both
// times.
TEST(StepMessagesTest, AStepAloneTakesItsClosedForm) {
  for (const std::string_view backend : {"analytical", "flow", "packet"}) {
    const WrittenRun run = ServeOn(backend, WithoutHeaders(), {{0, 8, 1}});
    EXPECT_NEAR(StepUs(run, 0), 300, backend == "packet" ? 3 : 1e-5) << backend;
  }
}

// Twice the bytes of the budget: the messages are made to fit into it.
TEST(StepMessagesTest, MessagesAloneAreNeverSlowerThanTheClosedForm) {
  const WrittenRun run = ServeOn("flow", WithoutHeaders(), {{0, 8, 1}}, 2e7);
  EXPECT_NEAR(StepUs(run, 0), 300, 1e-5);
}

// Both send at once: each has half of the cable, and takes 80 us longer. If the
// other comes 40 us later, the first has sent half and needs 80 us for the
// rest; the other then has half left, alone.
TEST(StepMessagesTest, StepsShareLinksMaxMinFairly) {
  const WrittenRun both =
      ServeOn("flow", WithoutHeaders(), {{0, 8, 1}, {0, 8, 1}});
  EXPECT_NEAR(StepUs(both, 0), 380, 0.1);
  EXPECT_NEAR(StepUs(both, 1), 380, 0.1);
  const WrittenRun later =
      ServeOn("flow", WithoutHeaders(), {{0, 8, 1}, {40'000'000, 8, 1}});
  EXPECT_NEAR(StepUs(later, 0), 340, 0.1);
  EXPECT_NEAR(StepUs(later, 1), 340, 0.1);
}

TEST(StepMessagesTest, FlowAndPacketAgree) {
  NetworkOptions network;
  network.packet = DefaultNetwork();
  network.flow = FlowOptionsOf(network.packet);
  const std::vector<Asked> asked = {{0, 8, 1}, {0, 8, 1}};
  const WrittenRun flow = ServeOn("flow", network, asked);
  const WrittenRun packet = ServeOn("packet", network, asked);
  EXPECT_NEAR(StepUs(flow, 0), StepUs(packet, 0), 0.05 * StepUs(packet, 0));
  EXPECT_EQ(StepUs(packet, 0), StepUs(ServeOn("packet", network, asked), 0));
}

}  // namespace
}  // namespace astra::testing
