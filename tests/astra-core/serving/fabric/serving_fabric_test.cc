#include "astra-core/serving/fabric/serving_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "astra-core/serving/fabric/kv_messages.h"
#include "astra-core/serving/fabric/weight_messages.h"
#include "network-frontends/registry/registry.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "tests/testing/small_models.h"
#include "tests/testing/topologies.h"
#include "tests/workload/serving/serving_run.h"
#include "topology/cluster_part.h"

namespace astra::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kPrompt = 4096;  // Tokens; 256 B of each.

NetworkOptions WithoutHeaders() {
  NetworkOptions options;
  options.packet = DefaultNetwork();
  options.packet.nic.header = Bytes(0);
  options.flow = FlowOptionsOf(options.packet);
  options.flow.switch_latency = TimePs(0);
  return options;
}

// Two replicas of two GPUs, one that computes prompts and one that decodes.
struct Cluster {
  Topology topology;
  int64_t decode_gpu;
  int64_t trunks = 1;

  PoolPlace from() const { return {.first_gpu = 0, .gpus_per_replica = 2}; }
  PoolPlace to() const {
    return {.first_gpu = decode_gpu, .gpus_per_replica = 2};
  }
};

// Four servers below two switches, with one cable between the two.
Cluster Dumbbell(const std::string& trunk = "400Gbps") {
  Drawing drawing(8, 2, 4, 2);
  for (uint32_t gpu = 0; gpu < 8; ++gpu) {
    drawing.Cable(gpu, 8 + gpu / 2, "2880Gbps", "0ns");
    drawing.Cable(gpu, gpu < 4 ? 12 : 13, "400Gbps", "500ns");
  }
  drawing.Cable(12, 13, trunk, "500ns");
  return {drawing.Build(), 6};
}

struct FabricResult {
  WrittenRun run;
  int64_t bytes = 0;
  double received = 0;  // By the first GPU that decodes, through its NIC.
};

FabricResult ServeOn(const Cluster& cluster, std::string_view backend,
                     const NetworkOptions& network, int64_t requests,
                     TimePs least = TimePs(0)) {
  const KvLayout kv =
      ValueOrDie(KvLayoutOf(SmallLlama(), {.tensor = 2}, {.tensor = 2}));
  Routes routes(cluster.topology);
  const BackendEntry& entry = *ValueOrDie(FindBackend(backend));
  const std::unique_ptr<NetworkBackend> made = entry.make(network, routes);
  ServingFabric fabric(*made);
  KvMessages caches(fabric, kv, cluster.from(), cluster.to());
  FixedCost cost(Microseconds(10));
  PoolOptions pool = {.scheduler = &VllmScheduler(),
                      .options = VllmScheduler().defaults,
                      .cost = &cost};
  pool.options.num_blocks = 10'000;
  pool.options.max_batched_tokens = 1 << 20;
  ServingOptions options = {.pool = pool, .decode = pool};
  options.transfer = [&](const KvTransfer& transfer) {
    return caches.Start(transfer, least);
  };
  std::vector<Asked> asked(static_cast<size_t>(requests));
  for (Asked& each : asked) each = {0, kPrompt, 8};
  ListedRequests source(RequestsOf(asked));
  FabricResult result;
  const auto process = ValueOrDie(StartServing(options, &source, &result.run));
  fabric.Attach(*process);
  result.run.status = fabric.GoOn().status();
  result.bytes = caches.bytes_sent();
  const Topology& topology = cluster.topology;
  for (size_t i = 0; i < topology.links().size(); ++i) {
    if (topology.links()[i].target == NodeId(6)) {
      result.received += made->link_bytes()[i];
    }
  }
  return result;
}

TimePs TransferOf(const FabricResult& result, int64_t request) {
  return *result.run.Of(request).times.kv_transfer();
}

// Each GPU sends half of 4,096 x 256 B at 400 Gbps: 10.48576 us, behind 1.5 us
// of three links.
TEST(ServingFabricTest, IdleFabricTakesTheClosedForm) {
  const Cluster cluster = Dumbbell("800Gbps");
  const KvLayout kv =
      ValueOrDie(KvLayoutOf(SmallLlama(), {.tensor = 2}, {.tensor = 2}));
  Routes routes(cluster.topology);
  KvPath path(kv, cluster.from(), cluster.to(), routes);
  const TimePs closed = path.TimeOf({.tokens = kPrompt});
  EXPECT_TRUE(path.status().ok());
  EXPECT_EQ(closed, TimePs(11'985'760));
  const FabricResult flow = ServeOn(cluster, "flow", WithoutHeaders(), 1);
  ASSERT_TRUE(flow.run.status.ok());
  // And a packet of 4 KiB on each link behind the slowest.
  const TimePs packets = TransferTime(Bytes(4096), Gbps(400)) +
                         TransferTime(Bytes(4096), Gbps(800));
  EXPECT_NEAR(static_cast<double>(TransferOf(flow, 0).count()),
              static_cast<double>((closed + packets).count()), 2);
  const FabricResult analytical =
      ServeOn(cluster, "analytical", WithoutHeaders(), 1);
  EXPECT_EQ(TransferOf(analytical, 0), closed);
}

TEST(ServingFabricTest, ATransferTakesNoLessThanItMust) {
  const Cluster cluster = Dumbbell("800Gbps");
  for (const auto& [least, taken] :
       {std::pair(TimePs(11'985'759), TimePs(11'985'760)),
        std::pair(Microseconds(20), Microseconds(20))}) {
    const FabricResult result =
        ServeOn(cluster, "analytical", WithoutHeaders(), 1, least);
    ASSERT_TRUE(result.run.status.ok());
    EXPECT_EQ(TransferOf(result, 0), taken);
  }
}

TEST(ServingFabricTest, FlowAndPacketAgree) {
  NetworkOptions network;
  network.packet = DefaultNetwork();
  network.flow = FlowOptionsOf(network.packet);
  const Cluster cluster = Dumbbell("800Gbps");
  const FabricResult flow = ServeOn(cluster, "flow", network, 3);
  const FabricResult packet = ServeOn(cluster, "packet", network, 3);
  for (int64_t i = 0; i < 3; ++i) {
    const auto time = static_cast<double>(TransferOf(packet, i).count());
    EXPECT_NEAR(static_cast<double>(TransferOf(flow, i).count()), time,
                0.05 * time);
  }
}

TEST(ServingFabricTest, BytesAreConserved) {
  const FabricResult result = ServeOn(Dumbbell(), "flow", WithoutHeaders(), 5);
  EXPECT_EQ(result.bytes, 5 * kPrompt * 256);
  EXPECT_EQ(result.received, 5 * kPrompt * 256 / 2);
}

// Two replicas on the left of the dumbbell load 50 MB on each GPU from a server
// on the right. Its NICs take 2 ms, and the cable between the switches 4 ms.
TEST(ServingFabricTest, RequestsWaitForWeights) {
  const Cluster cluster = Dumbbell();
  Routes routes(cluster.topology);
  const WeightPlace pool = {{.gpus_per_replica = 2, .replicas = 2},
                            Bytes(50'000'000)};
  const std::vector<WeightLoad> loads = LoadsFromStorage({&pool, 1}, 6, 2);
  const TimePs closed(2'000'000'000 + 1'500'000);
  EXPECT_THAT(ValueOrDie(LoadTimes(loads, routes)),
              ::testing::ElementsAre(closed, closed));
  const auto network =
      ValueOrDie(FindBackend("flow"))->make(WithoutHeaders(), routes);
  ServingFabric fabric(*network);
  WeightMessages weights(fabric, loads);
  FixedCost cost(Microseconds(10));
  ServingOptions options = {.pool = {.replicas = 2,
                                     .scheduler = &VllmScheduler(),
                                     .options = VllmScheduler().defaults,
                                     .cost = &cost}};
  options.pool.options.num_blocks = 100;
  options.load_weights = [&](uint32_t replica) {
    return weights.Start(replica);
  };
  ListedRequests source(RequestsOf({{0, 8, 1}}));
  WrittenRun run;
  const auto process = ValueOrDie(StartServing(options, &source, &run));
  fabric.Attach(*process);
  ASSERT_TRUE(ValueOrDie(fabric.GoOn()));
  const TimePs packets(2 * TransferTime(Bytes(4096), Gbps(400)).count());
  const double expected = 4e9 + 1.5e6 + static_cast<double>(packets.count());
  for (const TimePs time : weights.times()) {
    EXPECT_NEAR(static_cast<double>(time.count()), expected, 4);
  }
  EXPECT_EQ(run.Of(0).times.first_token, weights.times()[0] + Microseconds(10));
}

TEST(ServingFabricTest, PartsOfAClusterAreWholeServers) {
  const Cluster cluster = Dumbbell();
  const ClusterPart part = ValueOrDie(RangeOfCluster(cluster.topology, 2, 4));
  EXPECT_EQ(part.topology.num_gpus(), 4u);
  // Two NVSwitches and both switches.
  EXPECT_EQ(part.topology.num_nodes(), 8u);
  EXPECT_EQ(part.nodes[0], NodeId(2));
  EXPECT_EQ(part.nodes[4], NodeId(9));
  EXPECT_EQ(part.topology.links().size(), 2 * (4 + 4 + 1u));
  EXPECT_THAT(RangeOfCluster(cluster.topology, 1, 4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected whole servers of 2 GPUs")));
  EXPECT_THAT(RangeOfCluster(cluster.topology, 6, 4),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected GPUs below 8")));
}

}  // namespace
}  // namespace astra::testing
