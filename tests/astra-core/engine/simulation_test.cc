#include "astra-core/engine/simulation.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

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

constexpr size_t kTp = IndexOf(ParallelDimension::kTensor);
constexpr size_t kDp = IndexOf(ParallelDimension::kData);

// A workload from the columns of its layers, without the name and the -1.
Program Parse(std::string_view sizes, const std::vector<std::string>& layers) {
  std::string text = fmt::format("HYBRID_TRANSFORMER_FWD_IN_BCKWD {}\n{}\n",
                                 sizes, layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    text += fmt::format("layer{} -1 {}\n", i, layers[i]);
  }
  Warnings warnings;
  return ValueOrDie(ParseSimaiProgram("w", text, &warnings));
}

absl::StatusOr<SimulationResult> TryRun(const Program& workload,
                                        const Topology& topology,
                                        const SimulationOptions& options = {}) {
  Routes routes(topology);
  return Simulate(workload, options, routes,
                  [&] { return std::make_unique<AnalyticalBackend>(routes); });
}

SimulationResult RunOrDie(const Program& workload, const Topology& topology,
                          const SimulationOptions& options = {}) {
  return ValueOrDie(TryRun(workload, topology, options));
}

constexpr std::string_view kTp2Dp2 =
    "model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4";

// 4 GPUs at 100 GB/s each way, no delay. A ring all-reduce of S over 2 ranks
// takes S / (100 GB/s): 1 MB takes 10 us.
Topology FourGpus() { return OneServer(4, "800Gbps", "0ns"); }

TEST(SimulationTest, BlockingCollectivesAddUp) {
  const SimulationResult result = RunOrDie(
      Parse(kTp2Dp2,
            {"1000 ALLREDUCE 1000000 2000 ALLREDUCE 2000000 3000 NONE 0 0"}),
      FourGpus());
  EXPECT_EQ(result.compute, Microseconds(6));
  EXPECT_EQ(result.exposed[kTp], Microseconds(30));
  EXPECT_EQ(result.total(), Microseconds(36));
  EXPECT_EQ(result.num_rank_classes, 1u);
  ASSERT_EQ(result.collectives.size(), 2u);
  EXPECT_EQ(result.collectives[1].start, Microseconds(13));
  EXPECT_EQ(result.collectives[1].time, Microseconds(20));
  EXPECT_EQ(result.collectives[1].num_groups, 2u);
}

TEST(SimulationTest, WeightGradientsOverlapWithWhatFollows) {
  // Backward: layer 1 computes 1 + 1 us and launches 10 us of DP; layer 0
  // computes 4 + 4 us meanwhile; at 10 us + 2 the rest of 2 us is exposed.
  const SimulationResult result = RunOrDie(
      Parse(kTp2Dp2, {"0 NONE 0 4000 NONE 0 4000 NONE 0 0",
                      "0 NONE 0 1000 NONE 0 1000 ALLREDUCE 1000000 0"}),
      FourGpus());
  EXPECT_EQ(result.compute, Microseconds(10));
  EXPECT_EQ(result.exposed[kDp], Microseconds(2));
  EXPECT_EQ(result.total(), Microseconds(12));
  EXPECT_EQ(result.layers[1][IndexOf(Phase::kWeightGradient)].network,
            Microseconds(10));
}

TEST(SimulationTest, CollectivesOfOneGroupRunOneAfterTheOther) {
  // Both are launched at 0; the second starts when the first is done. Waiting
  // counts for the collective that ends it.
  const SimulationResult result =
      RunOrDie(Parse(kTp2Dp2, {"0 NONE 0 0 NONE 0 0 ALLREDUCE 2000000 0",
                               "0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000 0"}),
               FourGpus());
  EXPECT_EQ(result.collectives[0].start, TimePs(0));
  EXPECT_EQ(result.collectives[1].start, Microseconds(10));
  EXPECT_EQ(result.total(), Microseconds(30));
  const size_t wg = IndexOf(Phase::kWeightGradient);
  EXPECT_EQ(result.layers[1][wg].exposed, Microseconds(10));
  EXPECT_EQ(result.layers[0][wg].exposed, Microseconds(20));
}

TEST(SimulationTest, CollectivesOfDifferentGroupsShareTheirLinks) {
  // Layer 1 launches 20 us of DP; then layer 0 blocks on 10 us of TP. Both use
  // each GPU's only link, so TP takes 20 us and leaves half of DP to do.
  const SimulationResult result =
      RunOrDie(Parse(kTp2Dp2, {"0 NONE 0 0 ALLREDUCE 1000000 0 NONE 0 0",
                               "0 NONE 0 0 NONE 0 0 ALLREDUCE 2000000 0"}),
               FourGpus());
  EXPECT_EQ(result.exposed[kTp], Microseconds(20));
  EXPECT_EQ(result.exposed[kDp], Microseconds(10));
  EXPECT_EQ(result.total(), Microseconds(30));
  ASSERT_EQ(result.collectives.size(), 2u);
  EXPECT_EQ(result.collectives[0].time, Microseconds(30));  // DP.
  EXPECT_EQ(result.collectives[1].time, Microseconds(20));  // TP.
}

// In servers of two GPUs TP is on the links to the NVSwitch, at 100 GB/s, and
// DP on the links to the switch above, at 50 GB/s.
TEST(SimulationTest, CollectivesOnDifferentLinksDoNotSlowOneAnotherDown) {
  const SimulationResult result =
      RunOrDie(Parse(kTp2Dp2, {"0 NONE 0 0 ALLREDUCE 1000000 0 NONE 0 0",
                               "0 NONE 0 0 NONE 0 0 ALLREDUCE 1000000 0"}),
               Star(2, 2));
  EXPECT_EQ(result.exposed[kTp], Microseconds(10));
  EXPECT_EQ(result.exposed[kDp], Microseconds(10));
  EXPECT_EQ(result.total(), Microseconds(20));
}

TEST(SimulationTest, TheUpdateTimeDelaysEveryCollectiveOfItsLayer) {
  for (const Lowering lowering :
       {Lowering::kClosedForm, Lowering::kFlowGraph}) {
    SimulationOptions options;
    options.lowering = lowering;
    const SimulationResult result = RunOrDie(
        Parse(kTp2Dp2,
              {"0 ALLREDUCE 1000000 0 NONE 0 0 ALLREDUCE 1000000 500"}),
        FourGpus(), options);
    EXPECT_EQ(result.total(), Microseconds(21));
    EXPECT_EQ(result.collectives[0].time, Microseconds(10));
  }
}

TEST(SimulationTest, RecomputationCountsWithTheForwardPhase) {
  const SimulationResult result = RunOrDie(
      Parse("model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 "
            "checkpoints: 1 0 checkpoint_initiates: 1 1",
            {"1000 ALLREDUCE 1000000 0 NONE 0 0 NONE 0 0",
             "2000 NONE 0 0 NONE 0 0 NONE 0 0"}),
      FourGpus());
  const PhaseResult& forward = result.layers[0][IndexOf(Phase::kForward)];
  EXPECT_EQ(forward.compute, Microseconds(2));
  EXPECT_EQ(forward.network, Microseconds(20));
  EXPECT_EQ(forward.bytes, Bytes(2'000'000));
  EXPECT_EQ(result.total(), Microseconds(24));
}

TEST(SimulationTest, AnOverlapRatioHidesItsShare) {
  SimulationOptions options;
  options.overlap[kTp] = 0.25;
  const SimulationResult result =
      RunOrDie(Parse(kTp2Dp2, {"0 ALLREDUCE 1000000 0 NONE 0 0 NONE 0 0"}),
               FourGpus(), options);
  EXPECT_EQ(result.exposed[kTp], TimePs(7'500'000));
  EXPECT_EQ(result.collectives[0].time, Microseconds(10));
}

TEST(SimulationTest, ABusBandwidthTakesThePlaceOfTheTopology) {
  SimulationOptions options;
  options.bus_bandwidths.Set(ParallelDimension::kTensor,
                             CollectiveKind::kAllReduce, 50);
  const SimulationResult result = RunOrDie(
      Parse(kTp2Dp2, {"0 ALLREDUCE 1000000 0 NONE 0 0 ALLREDUCE 1000000 0"}),
      FourGpus(), options);
  EXPECT_EQ(result.exposed[kTp], Microseconds(20));
  EXPECT_EQ(result.exposed[kDp], Microseconds(10));
  EXPECT_TRUE(result.collectives[0].is_measured);
  EXPECT_FALSE(result.collectives[1].is_measured);
}

TEST(SimulationTest, GroupsOfOneRankAndEmptyCollectivesCostNothing) {
  const SimulationResult result = RunOrDie(
      Parse("model_parallel_NPU_group: 1 ep: 4 pp: 1 vpp: 1 ga: 1 all_gpus: 4",
            {"1000 ALLREDUCE 1000000 0 ALLTOALL_EP 0 0 ALLGATHER_DP_EP 5 9"}),
      FourGpus());
  EXPECT_EQ(result.total(), Microseconds(1));
  EXPECT_TRUE(result.collectives.empty());
}

TEST(SimulationTest, ExpertGroupsExistAtTensorSizeOne) {
  // 3 of 4 parts of 1 MB leave at 100 GB/s.
  const SimulationResult result = RunOrDie(
      Parse("model_parallel_NPU_group: 1 ep: 4 pp: 1 vpp: 1 ga: 1 all_gpus: 4",
            {"0 ALLTOALL_EP 1000000 0 NONE 0 0 NONE 0 0"}),
      FourGpus());
  EXPECT_EQ(result.exposed[IndexOf(ParallelDimension::kExpert)],
            TimePs(7'500'000));
}

TEST(SimulationTest, RanksOfUnevenGroupsHaveTheirOwnTimes) {
  // TP 3 on servers of 4: groups {0,1,2} in a server, {3,4,5} and {6,7,8} over
  // two, {9,10,11} in one. The slow ones decide when DP can end.
  const Program workload =
      Parse("model_parallel_NPU_group: 3 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 12",
            {"1000 ALLREDUCE 3000000 0 NONE 0 0 ALLREDUCE 4000000 0"});
  const SimulationResult result = RunOrDie(workload, Star(3, 4));
  EXPECT_GT(result.num_rank_classes, 1u);
  EXPECT_LT(result.num_rank_classes, 12u);

  SimulationOptions messages;
  messages.lowering = Lowering::kFlowGraph;
  const SimulationResult every_rank = RunOrDie(workload, Star(3, 4), messages);
  EXPECT_EQ(every_rank.num_rank_classes, 12u);
  EXPECT_NEAR(ToMicroseconds(result.total()),
              ToMicroseconds(every_rank.total()),
              0.02 * ToMicroseconds(result.total()));
}

TEST(SimulationTest, PipelineAddsItsBubbleAndItsMessages) {
  // 2 stages, 2 micro-batches of 6 us each: bubble 1/2 of 12 us. A message of
  // 1 MB takes 10 us at 100 GB/s; there are 2 x 2, a quarter of which is
  // hidden.
  SimulationOptions options;
  options.overlap[IndexOf(ParallelDimension::kPipeline)] = 0.25;
  const Program workload = Parse(
      "model_parallel_NPU_group: 1 ep: 1 pp: 2 vpp: 1 ga: 2 all_gpus: 4 "
      "pp_comm: 1000000",
      {"1000 NONE 0 2000 NONE 0 3000 NONE 0 0",
       "1000 NONE 0 2000 NONE 0 3000 NONE 0 0"});
  const SimulationResult result = RunOrDie(workload, FourGpus(), options);
  EXPECT_EQ(result.stage_time, Microseconds(12));
  EXPECT_EQ(result.pipeline.bubble, Microseconds(6));
  EXPECT_EQ(result.pipeline.num_messages, 4);
  EXPECT_EQ(result.pipeline.exposed, Microseconds(30));
  EXPECT_EQ(result.total(), Microseconds(48));
  EXPECT_EQ(result.link_bytes[0], 2'000'000);  // GPU 0 sends 2 forward,
  EXPECT_EQ(result.link_bytes[1], 2'000'000);  // and receives 2 backward.
}

TEST(SimulationTest, WorkDoneOncePerIterationIsNotInTheBubble) {
  const std::string_view sizes =
      "model_parallel_NPU_group: 1 ep: 1 pp: 2 vpp: 1 ga: 1 all_gpus: 4 "
      "pp_comm: 0";
  Warnings warnings;
  const Program workload = ValueOrDie(ParseSimaiProgram(
      "w",
      fmt::format("HYBRID_TRANSFORMER {}\n2\n"
                  "optimizer1 -1 9000 NONE 0 0 NONE 0 0 NONE 0 0\n"
                  "mlp -1 1000 NONE 0 0 NONE 0 0 NONE 0 0\n",
                  sizes),
      &warnings));
  EXPECT_EQ(RunOrDie(workload, FourGpus()).pipeline.bubble, Microseconds(1));
}

TEST(SimulationTest, BothLoweringsAgree) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 40; ++round) {
    // With 2, collectives of both dimensions compete for the ports.
    const uint32_t tensor = 1u << (random() % 3);
    std::vector<std::string> layers;
    for (int i = 0; i < 4; ++i) {
      const uint64_t bytes = 1'000'000 + random() % 1'000'000;
      layers.push_back(
          fmt::format("{} ALLGATHER {} {} REDUCESCATTER {} {} "
                      "ALLREDUCE {} 0",
                      random() % 9999, bytes, random() % 9999, bytes,
                      random() % 9999, bytes));
    }
    const Program workload =
        Parse(fmt::format("model_parallel_NPU_group: {} ep: 1 pp: 1 vpp: 1 "
                          "ga: 1 all_gpus: 4",
                          tensor),
              layers);
    SimulationOptions messages;
    messages.lowering = Lowering::kFlowGraph;
    const SimulationResult closed = RunOrDie(workload, FourGpus());
    const SimulationResult run = RunOrDie(workload, FourGpus(), messages);
    // A message takes whole picoseconds, and chunks differ by a byte.
    EXPECT_NEAR(static_cast<double>(run.total().count()),
                static_cast<double>(closed.total().count()),
                1e-5 * static_cast<double>(closed.total().count()));
    ASSERT_EQ(run.link_bytes.size(), closed.link_bytes.size());
    for (size_t link = 0; link < run.link_bytes.size(); ++link) {
      EXPECT_NEAR(run.link_bytes[link], closed.link_bytes[link], 100);
    }
  }
}

// What the reported rank computed and waited for is all of its time.
TEST(SimulationTest, EveryPicosecondIsAccountedFor) {
  std::mt19937_64 random(5);
  constexpr std::string_view kTypes[] = {"NONE", "ALLREDUCE", "ALLGATHER_EP",
                                         "ALLTOALL_EP", "REDUCESCATTER_DP_EP"};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> layers;
    for (int i = 0; i < 6; ++i) {
      std::string layer;
      for (int phase = 0; phase < 3; ++phase) {
        layer += fmt::format("{} {} {} ", random() % 5000,
                             kTypes[random() % std::size(kTypes)],
                             random() % 3'000'000);
      }
      layers.push_back(layer + fmt::format("{}", random() % 200));
    }
    const Program workload = Parse(
        "model_parallel_NPU_group: 3 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 12",
        layers);
    for (const Lowering lowering :
         {Lowering::kClosedForm, Lowering::kFlowGraph}) {
      SimulationOptions options;
      options.lowering = lowering;
      const SimulationResult result = RunOrDie(workload, Star(3, 4), options);
      TimePs sum = result.compute;
      for (const TimePs exposed : result.exposed) sum += exposed;
      EXPECT_EQ(sum, result.stage_time);
      TimePs by_layer;
      for (const auto& layer : result.layers) {
        for (const PhaseResult& phase : layer) {
          by_layer += phase.compute + phase.exposed;
        }
      }
      EXPECT_EQ(by_layer, result.stage_time);
    }
  }
}

TEST(SimulationTest, RefusesAWorkloadForAnotherNumberOfGpus) {
  EXPECT_THAT(
      TryRun(Parse(kTp2Dp2, {"0 NONE 0 0 NONE 0 0 NONE 0 0"}), Star(2, 4)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the workload is for 4 GPUs, the topology has 8"));
}

TEST(SimulationTest, RefusesOptionsWithoutEffectOnMessages) {
  const Program workload = Parse(kTp2Dp2, {"0 NONE 0 0 NONE 0 0 NONE 0 0"});
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;
  options.overlap[kDp] = 0.5;
  EXPECT_THAT(TryRun(workload, FourGpus(), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the overlap of DP has no effect")));
}

TEST(SimulationTest, StopsAtTheLimit) {
  SimulationOptions options;
  options.stop_at = Microseconds(5);
  EXPECT_THAT(
      TryRun(Parse(kTp2Dp2, {"4000 NONE 0 4000 NONE 0 4000 NONE 0 0"}),
             FourGpus(), options),
      StatusIs(absl::StatusCode::kAborted,
               "stopped at 5.000 us of simulated time, with 33.3 % of the work "
               "done"));
}

TEST(SimulationTest, StopsNotBeforeTheLimit) {
  SimulationOptions options;
  options.stop_at = Microseconds(12);
  EXPECT_EQ(RunOrDie(Parse(kTp2Dp2, {"4000 NONE 0 4000 NONE 0 4000 NONE 0 0"}),
                     FourGpus(), options)
                .total(),
            Microseconds(12));
}

TEST(SimulationTest, NothingToDoIsDone) {
  SimulationOptions options;
  std::vector<double> shares;
  options.on_progress = [&](const RunProgress& progress) {
    shares.push_back(progress.share);
    return absl::OkStatus();
  };
  RunOrDie(Parse(kTp2Dp2, {"0 NONE 0 0 NONE 0 0 NONE 0 0"}), FourGpus(),
           options);
  EXPECT_THAT(shares, ::testing::Each(1.0));
  EXPECT_FALSE(shares.empty());
}

TEST(SimulationTest, ReportsProgressUpToTheEnd) {
  std::vector<std::string> layers(2000, "1 NONE 0 1 NONE 0 1 NONE 0 0");
  SimulationOptions options;
  std::vector<double> fractions;
  WorkDone work;
  options.on_progress = [&](const RunProgress& progress) {
    fractions.push_back(progress.share);
    EXPECT_GE(progress.work.events, work.events);
    work = progress.work;
    return absl::OkStatus();
  };
  RunOrDie(Parse(kTp2Dp2, layers), FourGpus(), options);
  ASSERT_GT(fractions.size(), 2u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_LE(fractions.back(), 1);
  EXPECT_EQ(fractions.front(), 0);
  // At most each of the three computations of the 2,000 layers, and each
  // collective, is an event. A closed form has no messages.
  EXPECT_GT(work.events, 0u);
  EXPECT_LE(work.events, 6000u);
  EXPECT_EQ(work.messages, 0u);
}

TEST(SimulationTest, EndsWhenProgressReturnsAnErrorAndTellsWhatThereWas) {
  std::vector<std::string> layers(2000, "1 NONE 0 1 NONE 0 1 NONE 0 0");
  SimulationOptions options;
  options.on_progress = [&](const RunProgress& progress) {
    return progress.share < 0.1 ? absl::OkStatus()
                                : absl::AbortedError("enough");
  };
  const Topology topology = FourGpus();
  Routes routes(topology);
  SimulationResult partial;
  EXPECT_THAT(Simulate(
                  Parse(kTp2Dp2, layers), options, routes,
                  [&] { return std::make_unique<AnalyticalBackend>(routes); },
                  &partial),
              StatusIs(absl::StatusCode::kAborted, "enough"));
  // Each of the 2,000 layers computes three times for 1 ns.
  EXPECT_GT(partial.stage_time, TimePs(500'000));
  EXPECT_LT(partial.stage_time, TimePs(5'999'000));
}

// A network that loses everything.
class SilentBackend final : public NetworkBackend {
 public:
  TimePs now() const override { return now_; }
  void Send(const Message&) override {}
  void AdvanceTo(TimePs limit, std::vector<MessageId>*) override {
    now_ = limit;
  }
  absl::Span<const double> link_bytes() const override { return {}; }
  const NetworkStatistics& statistics() override { return statistics_; }
  std::string WhyStuck() const override { return "link 7 is down"; }
  TimePs last_give_up() const override { return Microseconds(2); }

 private:
  TimePs now_;
  NetworkStatistics statistics_;
};

TEST(SimulationTest, ARunThatDrainsSaysWhoWaitsForWhat) {
  const Program workload =
      Parse("model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 2",
            {"0 ALLREDUCE 1000 0 NONE 0 0 NONE 0 0"});
  const Topology topology = OneServer(2, "800Gbps", "0ns");
  Routes routes(topology);
  SimulationOptions options;
  options.lowering = Lowering::kFlowGraph;
  EXPECT_THAT(
      Simulate(workload, options, routes,
               [] { return std::make_unique<SilentBackend>(); }),
      StatusIs(absl::StatusCode::kInternal,
               "nothing is left to happen after 2.000 us, but 2 rank(s) wait; "
               "rank 0 waits since 0.000 us in layer layer0 (fwd) for the "
               "all-reduce of 1000B over TP, 2 ranks from rank 0, which lacks "
               "4 of 4 messages: rank 0 to rank 1, rank 1 to rank 0 are under "
               "way; rank 1 waits since 0.000 us for the same; the network "
               "says: link 7 is down"));
}

TEST(SimulationTest, TwoRunsInOneProcessAreTheSame) {
  const Program workload = Parse(
      kTp2Dp2, {"1000 ALLREDUCE 1000003 7 ALLTOALL 999 3000 ALLGATHER 77 5"});
  const SimulationResult a = RunOrDie(workload, FourGpus());
  const SimulationResult b = RunOrDie(workload, FourGpus());
  EXPECT_EQ(a.total(), b.total());
  EXPECT_EQ(a.link_bytes, b.link_bytes);
}

// Rank 1 of four computes 4 us at half its speed from 1 us on: 1 + 2 x 3 us.
// Its peer of TP waits for it, 3 us, and both then start DP later.
TEST(SimulationTest, ASlowRankKeepsOthersWaiting) {
  const Program workload =
      Parse(kTp2Dp2, {"4000 ALLREDUCE 1000000 0 NONE 0 0 ALLREDUCE 1000000 0"});
  const SimulationResult healthy = RunOrDie(workload, FourGpus());
  SimulationOptions options;
  options.speed_changes = {{Microseconds(1), RankId(1), 0.5}};
  const SimulationResult slow = RunOrDie(workload, FourGpus(), options);
  EXPECT_EQ(healthy.total(), Microseconds(24));
  EXPECT_EQ(slow.total(), Microseconds(27));
  ASSERT_EQ(slow.ranks.size(), 4u);
  EXPECT_EQ(slow.ranks[1].slowed, Microseconds(3));
  EXPECT_EQ(slow.ranks[0].slowed, TimePs(0));
  // By rank 0 in TP; the ranks of the other replica wait in DP, for either.
  EXPECT_GE(slow.ranks[1].kept_waiting, Microseconds(3));
  EXPECT_EQ(slow.ranks[0].kept_waiting + slow.ranks[1].kept_waiting,
            Microseconds(9));
  EXPECT_EQ(slow.ranks[2].kept_waiting, TimePs(0));
}

TEST(SimulationTest, ARankThatRecoversIsFastAgain) {
  const Program workload = Parse(kTp2Dp2, {"4000 NONE 0 0 NONE 0 0 NONE 0 0"});
  SimulationOptions options;
  options.speed_changes = {{TimePs(0), RankId(2), 0.25},
                           {Microseconds(8), RankId(2), 1}};
  // 2 us of work in 8 us, and the other 2 us.
  EXPECT_EQ(RunOrDie(workload, FourGpus(), options).total(), Microseconds(10));
}

TEST(SimulationTest, WhoWaitsForADeadRankIsNamed) {
  const Program workload =
      Parse(kTp2Dp2, {"4000 ALLREDUCE 1000000 0 NONE 0 0 ALLREDUCE 1000000 0"});
  SimulationOptions options;
  options.speed_changes = {{Microseconds(2), RankId(3), 0},
                           {Microseconds(3), RankId(3), 1}};
  EXPECT_THAT(
      TryRun(workload, FourGpus(), options),
      StatusIs(
          absl::StatusCode::kInternal,
          HasSubstr("rank 2 waits since 4.000 us in layer layer0 (fwd) for "
                    "the all-reduce of 1000000B over TP, 2 ranks from "
                    "rank 2, which lacks rank 3 to join")));
  EXPECT_THAT(TryRun(workload, FourGpus(), options),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("rank 3 is dead since 2.000 us")));
}

// Rank 0 dies while it waits for the last collective, for which nobody waits
// but the ranks of it.
TEST(SimulationTest, ARankMayDieWhileItWaits) {
  const Program workload =
      Parse(kTp2Dp2, {"4000 ALLREDUCE 1000000 0 NONE 0 0 NONE 0 0"});
  SimulationOptions options;
  options.speed_changes = {{Microseconds(6), RankId(0), 0}};
  EXPECT_THAT(TryRun(workload, FourGpus(), options),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("rank 0 is dead since 6.000 us; no other rank "
                                 "waits for it")));
}

}  // namespace
}  // namespace astra
