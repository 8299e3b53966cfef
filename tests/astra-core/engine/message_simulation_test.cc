// Simulations whose collectives are messages: families, costs, records, and
// what is left of a run that does not end.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/engine/flow_sending.h"
#include "astra-core/engine/running_collectives.h"
#include "astra-core/engine/simulation.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/small_clusters.h"
#include "workload/simai_text/simai_text_file.h"

namespace astra {
namespace {

using ::astra::testing::OneServer;
using ::astra::testing::Star;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A workload of `tensor` x data ranks from the columns of its layers.
Program Parse(uint32_t tensor, uint32_t gpus,
              const std::vector<std::string>& layers) {
  std::string text = fmt::format(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} ep: 1 "
      "pp: 1 vpp: 1 ga: 1 all_gpus: {}\n{}\n",
      tensor, gpus, layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    text += fmt::format("layer{} -1 {}\n", i, layers[i]);
  }
  Warnings warnings;
  return ValueOrDie(ParseSimaiProgram("w", text, &warnings));
}

// One collective of all of `gpus`.
Program One(std::string_view type, uint32_t gpus, Bytes bytes) {
  return Parse(
      gpus, gpus,
      {fmt::format("0 {} {} 0 NONE 0 0 NONE 0 0", type, bytes.count())});
}

SimulationOptions Messages(CollectiveFamily family = CollectiveFamily::kRing) {
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;
  options.collectives = family;
  return options;
}

absl::StatusOr<SimulationResult> TryRun(const Program& workload,
                                        const Topology& topology,
                                        const SimulationOptions& options) {
  Routes routes(topology);
  return Simulate(workload, options, routes,
                  [&] { return std::make_unique<AnalyticalBackend>(routes); });
}

CollectiveRecord OnlyRecord(const Program& workload, const Topology& topology,
                            const SimulationOptions& options) {
  const SimulationResult result =
      ValueOrDie(TryRun(workload, topology, options));
  EXPECT_EQ(result.collectives.size(), 1u);
  return result.collectives.front();
}

NcclOptions Nccl(const std::string& list) {
  NcclOptions options;
  const absl::Status status = ApplyNcclOptionList(list, &options);
  EXPECT_TRUE(status.ok()) << status;
  return options;
}

// Two ranks exchange halves: one message of 1 us each way.
TEST(MessageSimulationTest, MessagesAndKernelsHaveTheirLatencies) {
  const Program workload = One("REDUCESCATTER", 2, Bytes(2000));
  const Topology server = OneServer(2, "8Gbps", "100ns");
  const TimePs free = Microseconds(1) + 2 * Nanoseconds(100);
  SimulationOptions options = Messages();
  EXPECT_EQ(OnlyRecord(workload, server, options).time, free);
  options.message_costs = {.per_message = Microseconds(3),
                           .start = Microseconds(4)};
  EXPECT_EQ(OnlyRecord(workload, server, options).time, free + Microseconds(7));
  options.message_costs.within.latency = Microseconds(2);
  options.message_costs.between.latency = Microseconds(9);
  EXPECT_EQ(OnlyRecord(workload, server, options).time, free + Microseconds(9));
  options.message_costs.least = Microseconds(30);
  const CollectiveRecord record = OnlyRecord(workload, server, options);
  EXPECT_EQ(record.time, Microseconds(30));
  EXPECT_EQ(record.lowest_rank_time, Microseconds(30));
}

// One rank on each of 4 servers, so one ring: 2 (n - 1) steps of a latency, the
// memory bus and a quarter of 4 MB, 20 us at 50 GB/s. The 3 after the first are
// processed.
TEST(MessageSimulationTest, SimaisRingPaysTheLatencyOfEachStep) {
  SimulationOptions options = Messages(CollectiveFamily::kSimai);
  options.message_costs.per_message = Microseconds(6);
  const CollectiveRecord record =
      OnlyRecord(One("ALLREDUCE", 4, Bytes(4'000'000)), Star(4, 1), options);
  EXPECT_EQ(record.algorithm, "simai_ring");
  EXPECT_EQ(record.time,
            6 * (Microseconds(6 + 20) + Nanoseconds(10)) + 3 * Nanoseconds(30));
}

// 4 chunks up, each after the one before, and the last one down.
TEST(MessageSimulationTest, SimaisNvlsTakesFiveChunks) {
  SimulationOptions options = Messages(CollectiveFamily::kSimai);
  options.message_costs.per_message = Microseconds(6);
  options.simai = Nccl("NCCL_ALGO=NVLS");
  const Topology server = OneServer(8, "2880Gbps", "0ns");
  const CollectiveRecord record =
      OnlyRecord(One("ALLREDUCE", 8, MiB(16)), server, options);
  EXPECT_EQ(record.algorithm, "simai_nvls");
  EXPECT_EQ(record.time, 5 * (Microseconds(6) + Nanoseconds(10) +
                              TransferTime(MiB(4), Gbps(2880))));
}

TEST(MessageSimulationTest, SimaiUsesNvlsForLargeTensorGroupsOnly) {
  SimulationOptions options = Messages(CollectiveFamily::kSimai);
  const auto algorithm = [&](const Program& workload, uint32_t gpus) {
    return OnlyRecord(workload, OneServer(gpus, "8Gbps", "0ns"), options)
        .algorithm;
  };
  const Program eight = One("ALLREDUCE", 8, KiB(4));
  EXPECT_EQ(algorithm(eight, 8), "simai_ring");
  options.simai = Nccl("NCCL_ALGO=Ring,NVLS");
  EXPECT_EQ(algorithm(eight, 8), "simai_nvls");
  EXPECT_EQ(algorithm(One("ALLREDUCE", 4, KiB(4)), 4), "simai_ring");
  EXPECT_EQ(algorithm(Parse(1, 8, {"0 NONE 0 0 NONE 0 0 ALLREDUCE 4096 0"}), 8),
            "simai_ring");
  EXPECT_EQ(algorithm(One("ALLTOALL", 8, KiB(4)), 8), "simai_direct");
  options.simai = Nccl("NCCL_ALGO=Tree");
  EXPECT_THAT(
      TryRun(eight, OneServer(8, "8Gbps", "0ns"), options),
      StatusIs(absl::StatusCode::kUnimplemented,
               "the all-reduce of 4096B over TP, 8 ranks from rank 0: SimAI "
               "has Ring and NVLS, which NCCL_ALGO excludes"));
}

TEST(MessageSimulationTest, AFamilyThatCannotRunACollectiveSaysWhich) {
  EXPECT_THAT(
      TryRun(Parse(3, 6, {"0 ALLGATHER 600 0 NONE 0 0 NONE 0 0"}), Star(3, 2),
             Messages(CollectiveFamily::kSimai)),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("the all-gather of 600B over TP, 3 ranks from rank 0: "
                         "simai_ring needs equally many ranks")));
}

// The time of NCCL's choice as messages over that of its closed form.
double OverClosedForm(const std::string& nccl, uint32_t gpus, Bytes bytes,
                      std::string_view algorithm,
                      std::string_view type = "ALLREDUCE") {
  const SystemSpec system = ValueOrDie(FindSystem("dgx-h100"));
  const Topology topology = ValueOrDie(BuildSystemTopology(system, gpus, 8));
  const Program workload = One(type, gpus, bytes);
  SimulationOptions options;
  options.collectives = CollectiveFamily::kNccl;
  options.nccl = NcclSystem{system, Nccl(nccl)};
  const CollectiveRecord closed = OnlyRecord(workload, topology, options);
  options.lowering = Lowering::kFlowGraph;
  Routes routes(topology);
  options.pace_network.make = [&](bool) {
    return std::make_unique<AnalyticalBackend>(routes);
  };
  const CollectiveRecord run = OnlyRecord(workload, topology, options);
  EXPECT_EQ(run.algorithm, algorithm);
  EXPECT_EQ(run.algorithm, closed.algorithm);
  EXPECT_EQ(run.protocol, closed.protocol);
  return static_cast<double>(run.time.count()) /
         static_cast<double>(closed.time.count());
}

// Whether latency, bytes or the filling of pipelines is most of the time.
TEST(MessageSimulationTest, NcclsMessagesTakeTheTimeOfItsClosedForm) {
  const std::string ring = "NCCL_ALGO=Ring,NCCL_PROTO=";
  struct Case {
    std::string nccl;
    uint32_t gpus;
    std::string_view algorithm;
    std::string_view type = "ALLREDUCE";
  };
  const Case cases[] = {{ring + "LL", 16, "Ring"},
                        {ring + "LL128", 8, "Ring"},
                        {ring + "Simple", 8, "Ring"},
                        {ring + "LL128", 32, "Ring", "ALLGATHER"},
                        {"NCCL_ALGO=Tree", 64, "Tree"},
                        {"NCCL_ALGO=NVLS", 8, "NVLS"},
                        {"NCCL_ALGO=NVLSTree", 16, "NVLSTree"},
                        {"NCCL_ALGO=Ring", 16, "P2P", "ALLTOALL"}};
  for (const Case& each : cases) {
    for (const Bytes bytes : {Bytes(1), KiB(64), MiB(4), MiB(64)}) {
      EXPECT_NEAR(OverClosedForm(each.nccl, each.gpus, bytes, each.algorithm,
                                 each.type),
                  1, 0.01)
          << each.type << " of " << bytes.count() << " B over " << each.gpus
          << ", " << each.nccl;
    }
  }
}

TEST(MessageSimulationTest, RefusesOptionsThatMeanNothingToTheFamily) {
  const Program workload = One("ALLREDUCE", 2, KiB(4));
  const Topology server = OneServer(2, "8Gbps", "0ns");
  const auto refused = [&](const SimulationOptions& options,
                           std::string_view why) {
    EXPECT_THAT(TryRun(workload, server, options),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(why))));
  };
  refused(Messages(CollectiveFamily::kNccl), "give --system");
  SimulationOptions options = Messages(CollectiveFamily::kSimai);
  options.nccl = NcclSystem{ValueOrDie(FindSystem("dgx-h100")), {}};
  refused(options, "the system has no effect");
  SimulationOptions closed;
  closed.message_costs.per_message = TimePs(1);
  refused(closed, "the costs of messages have no effect on closed forms");
}

// TP groups {0,1}, {2,3}, {4,5} on servers of 3: the one in the middle crosses
// between servers and takes 20 us in place of 10, so that it comes late to DP.
TEST(MessageSimulationTest, RecordsTellWhoCameWhen) {
  std::vector<CollectiveRecord> told;
  SimulationOptions options = Messages();
  options.on_collective = [&](const CollectiveRecord& record) {
    told.push_back(record);
  };
  const SimulationResult result = ValueOrDie(TryRun(
      Parse(2, 6, {"0 ALLREDUCE 1000000 0 NONE 0 0 ALLREDUCE 3000000 0"}),
      Star(2, 3), options));
  ASSERT_EQ(result.collectives.size(), 5u);
  ASSERT_EQ(result.ranks.size(), 6u);
  TimePs last_end;
  ASSERT_EQ(told.size(), 5u);
  for (const CollectiveRecord& record : told) {
    EXPECT_GE(record.start + record.time, last_end);
    last_end = record.start + record.time;
  }
  const CollectiveRecord& dp = result.collectives[3];
  EXPECT_EQ(dp.lowest_rank, RankId(0));
  EXPECT_EQ(dp.first_start, Microseconds(10));
  EXPECT_EQ(dp.start, Microseconds(20));
  const auto finish = [&](size_t rank) { return result.ranks[rank].finish; };
  EXPECT_EQ(dp.first_start + dp.lowest_rank_time, finish(0));
  EXPECT_EQ(dp.start + dp.time, std::max({finish(0), finish(2), finish(4)}));
  for (const RankResult& rank : result.ranks) {
    EXPECT_EQ(rank.count, 1u);
    EXPECT_EQ(rank.compute + rank.exposed, rank.finish);
  }
}

TEST(MessageSimulationTest, ClosedFormsHaveARankForEachClass) {
  const SimulationResult result = ValueOrDie(
      TryRun(Parse(2, 6, {"1000 ALLREDUCE 1000000 0 NONE 0 0 NONE 0 0"}),
             Star(2, 3), SimulationOptions()));
  ASSERT_EQ(result.ranks.size(), 2u);
  EXPECT_EQ(result.ranks[0].rank, RankId(0));
  EXPECT_EQ(result.ranks[0].count, 4u);
  EXPECT_EQ(result.ranks[0].finish, Microseconds(11));
  EXPECT_EQ(result.ranks[1].rank, RankId(2));
  EXPECT_EQ(result.ranks[1].count, 2u);
  EXPECT_EQ(result.ranks[1].exposed, Microseconds(20));
  EXPECT_EQ(result.collectives[0].lowest_rank_time, Microseconds(10));
}

// The analytical network, but it keeps what was sent, and loses all messages
// after the first so many.
class LossyBackend final : public NetworkBackend {
 public:
  LossyBackend(Routes& routes, size_t num_kept, std::vector<Message>* sent)
      : network_(routes), num_kept_(num_kept), sent_(*sent) {}

  TimePs now() const override { return network_.now(); }
  void Send(const Message& message) override {
    sent_.push_back(message);
    if (sent_.size() <= num_kept_) network_.Send(message);
  }
  void AdvanceTo(TimePs limit, std::vector<MessageId>* arrived) override {
    network_.AdvanceTo(limit, arrived);
  }
  absl::Span<const double> link_bytes() const override {
    return network_.link_bytes();
  }
  const NetworkStatistics& statistics() override {
    return network_.statistics();
  }

 private:
  AnalyticalBackend network_;
  size_t num_kept_;
  std::vector<Message>& sent_;
};

struct LossyRun {
  absl::Status status;
  SimulationResult partial;
  std::vector<Message> sent;
};

LossyRun RunLossy(const Program& workload, const Topology& topology,
                  const SimulationOptions& options, size_t num_kept) {
  Routes routes(topology);
  LossyRun run;
  run.status =
      Simulate(
          workload, options, routes,
          [&] {
            return std::make_unique<LossyBackend>(routes, num_kept, &run.sent);
          },
          &run.partial)
          .status();
  return run;
}

constexpr size_t kAll = size_t{1} << 40;

TEST(MessageSimulationTest, CommunicatorsShareNoChannel) {
  const LossyRun run =
      RunLossy(Parse(2, 4, {"0 ALLREDUCE 1000 0 NONE 0 0 ALLREDUCE 1000 0"}),
               OneServer(4, "8Gbps", "0ns"), Messages(), kAll);
  EXPECT_TRUE(run.status.ok());
  std::set<std::pair<uint32_t, std::set<uint32_t>>> groups;
  for (const Message& message : run.sent) {
    groups.insert({message.channel / kChannelsPerCommunicator,
                   {message.source.index(), message.target.index()}});
  }
  EXPECT_THAT(groups, ElementsAre(std::pair(0u, std::set{0u, 1u}),
                                  std::pair(1u, std::set{2u, 3u}),
                                  std::pair(2u, std::set{0u, 2u}),
                                  std::pair(3u, std::set{1u, 3u})));
}

// The first all-reduce takes 4 messages, 1 us in all; of the second, only what
// rank 0 sends arrives.
TEST(MessageSimulationTest, ASilentNetworkLeavesWhatHadEnded) {
  const Program workload = Parse(2, 2,
                                 {"5000 ALLREDUCE 1000 0 NONE 0 0 NONE 0 0",
                                  "0 ALLREDUCE 1000 0 NONE 0 0 NONE 0 0"});
  const LossyRun run =
      RunLossy(workload, OneServer(2, "8Gbps", "0ns"), Messages(), 5);
  EXPECT_THAT(
      run.status,
      StatusIs(absl::StatusCode::kInternal,
               "nothing is left to happen after 6.500 us, but 2 rank(s) wait; "
               "rank 0 waits since 6.000 us in layer layer1 (fwd) for the "
               "all-reduce of 1000B over TP, 2 ranks from rank 0, which lacks "
               "3 of 4 messages: rank 1 to rank 0, rank 1 to rank 0 are under "
               "way; rank 1 waits since 6.000 us for the same"));
  const SimulationResult& partial = run.partial;
  ASSERT_EQ(partial.collectives.size(), 1u);
  EXPECT_EQ(partial.collectives[0].time, Microseconds(1));
  EXPECT_EQ(partial.compute, Microseconds(5));
  EXPECT_EQ(partial.stage_time, TimePs(6'500'000));
  EXPECT_THAT(partial.layer_names, ElementsAre("layer0", "layer1"));
  ASSERT_EQ(partial.ranks.size(), 2u);
  EXPECT_EQ(partial.ranks[0].exposed, TimePs(1'500'000));
  EXPECT_EQ(partial.link_bytes[0], 1500);
}

TEST(MessageSimulationTest, AnAbortedRunLeavesWhatHadEnded) {
  SimulationOptions options = Messages();
  options.stop_at = Microseconds(7);
  int num_networks = 0;
  options.on_network_end = [&](NetworkBackend& network) {
    ++num_networks;
    EXPECT_EQ(network.now(), Microseconds(7));
  };
  const LossyRun run =
      RunLossy(Parse(2, 2,
                     {"5000 ALLREDUCE 1000 0 NONE 0 0 NONE 0 0",
                      "0 ALLREDUCE 2000 0 NONE 0 0 NONE 0 0"}),
               OneServer(2, "8Gbps", "0ns"), options, kAll);
  EXPECT_EQ(run.status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(num_networks, 1);
  ASSERT_EQ(run.partial.collectives.size(), 1u);
  EXPECT_EQ(run.partial.collectives[0].layer, LayerId(0));
  EXPECT_EQ(run.partial.stage_time, Microseconds(7));
  EXPECT_EQ(run.partial.ranks[1].exposed, Microseconds(2));
}

// TP groups {0,1} and {2,3} exchange two messages each, twice; the last two, of
// {2,3}, are lost, so that rank 2 does not come to DP.
TEST(MessageSimulationTest, TheReportNamesRanksThatDoNotCome) {
  const LossyRun run =
      RunLossy(Parse(2, 4, {"0 ALLREDUCE 1000 0 NONE 0 0 ALLREDUCE 1000 0"}),
               Star(2, 2), Messages(), 6);
  EXPECT_THAT(run.status,
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("for the all-reduce of 1000B over DP, 2 ranks "
                                 "from rank 0, which lacks rank 2 to join")));
}

}  // namespace
}  // namespace astra
