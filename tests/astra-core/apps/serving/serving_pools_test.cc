#include "astra-core/apps/serving/serving_pools.h"

#include <string>

#include "astra-core/apps/serving/replica_times.h"
#include "astra-core/apps/serving/serving_compare.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;

const std::string kJob =
    "-m llama3-8b --gpu H100 --requests 16 --isl 128 --osl 16 --concurrency 4 ";

absl::StatusOr<SimaiServingOptions> TryRead(const std::string& text) {
  return ReadSimaiServingOptions(
      ValueOrDie(ParseArguments(SimaiServingOptionSpecs(), kJob + text)));
}

std::string ErrorOf(const std::string& text) {
  return std::string(TryRead(text).status().message());
}

TEST(ServingPoolsTest, ThePoolThatDecodesTakesOverWhatIsNotGiven) {
  const SimaiServingOptions options = ValueOrDie(
      TryRead("--tp 2 --replicas 3 --num-gpu-blocks 77 --decode-replicas 2 "
              "--decode-tp 4 --decode-max-num-seqs 9"));
  const ServingJob& decode = options.decode->job;
  EXPECT_EQ(decode.layout.tensor, 4);
  EXPECT_EQ(decode.replicas, 2);
  EXPECT_EQ(decode.options.max_sequences, 9);
  EXPECT_EQ(decode.options.max_batched_tokens, 8192);
  EXPECT_GT(decode.options.num_blocks, 77);
  EXPECT_EQ(options.num_gpus(), 14);
  EXPECT_FALSE(options.decode->is_layerwise);
}

TEST(ReplicaTimesTest, WarnsOfAnotherGpuInTheTopology) {
  const std::string file =
      testing::SourcePath("inputs/topologies/one_server_8_h100.txt");
  const auto warnings_of = [&](const std::string& gpu) {
    const SimaiServingOptions options = ValueOrDie(ReadSimaiServingOptions(
        ValueOrDie(ParseArguments(SimaiServingOptionSpecs(),
                                  "-m llama3-8b --tp 8 --requests 1 --isl 128 "
                                  "--osl 16 --concurrency 1 -n " +
                                      file + " --gpu " + gpu))));
    Warnings warnings;
    for (int i = 0; i < 2; ++i) {
      ValueOrDie(ReplicaTimes::Create(options.job, &warnings));
    }
    return warnings;
  };
  EXPECT_EQ(warnings_of("A100"),
            Warnings({"--gpu-type is \"a100-sxm-80gb\", but " + file +
                      " has \"H100\""}));
  EXPECT_EQ(warnings_of("H100"), Warnings());
}

TEST(ServingPoolsTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("--decode-tp 2"),
            "--decode-tp has no effect: there is no --decode-replicas");
  EXPECT_EQ(ErrorOf("--network n.txt"),
            "--network has no effect: --fidelity closed-form has no network: "
            "give flow or packet");
  EXPECT_EQ(ErrorOf("--load-weights disk"),
            "--load-weights is \"disk\": expected storage or replica");
  EXPECT_EQ(ErrorOf("--storage-first-gpu 8"),
            "--storage-first-gpu has no effect: there is no --load-weights");
  const std::string pools = "--decode-replicas 1 ";
  EXPECT_EQ(ErrorOf(pools + "--decode-tp 3"),
            "illegal layout: TP 3 does not divide the 32 attention heads; the "
            "nearest --decode-tp is 2");
  EXPECT_EQ(ErrorOf(pools + "--decode-router random"),
            "--decode-router has no effect: 1 replica decodes");
  EXPECT_EQ(ErrorOf(pools + "--decode-first-gpu 8"),
            "--decode-first-gpu has no effect: there is no --topology");
  EXPECT_EQ(ErrorOf(pools + "--beside w.txt"),
            "--beside has no effect: --fidelity closed-form has no network: "
            "give flow or packet");
  EXPECT_EQ(ErrorOf(pools + "--fidelity flow --beside w.txt"),
            "--topology is missing");
  EXPECT_THAT(ErrorOf(pools + "--kv-transfer layers"),
              HasSubstr("did you mean \"layerwise\"?"));
}

// Prompts of 2 replicas of TP 2, and one of TP 8 that decodes: it begins at the
// next server.
TEST(ServingPoolsTest, ReplicasLieOnFewServers) {
  SimaiServingOptions options = ValueOrDie(
      TryRead("--tp 2 --replicas 2 --decode-replicas 1 --decode-tp 8"));
  const auto cluster =
      ValueOrDie(ServingCluster::Create(options.job, &*options.decode));
  const auto pools = ValueOrDie(ServingPools::Create(
      options.job, *options.decode, *cluster, &options.warnings));
  EXPECT_EQ(cluster->pools()[1].first_gpu, 8);
  EXPECT_EQ(cluster->topology().num_gpus(), 16u);
  // 128 KiB a token; each of 2 NICs of the sender has half of it.
  EXPECT_EQ(pools->kv().BytesOf(1), 131072);
}

// A server behind the pools stores weights, and a job can have none of them.
TEST(ServingPoolsTest, StorageIsAServerBehindThePools) {
  const SimaiServingOptions options =
      ValueOrDie(TryRead("--tp 2 --replicas 3 --load-weights storage"));
  const StorageServer behind;
  const auto cluster =
      ValueOrDie(ServingCluster::Create(options.job, nullptr, &behind));
  EXPECT_EQ(cluster->storage_gpu(), 8);
  EXPECT_EQ(cluster->end(), 16);
  EXPECT_EQ(cluster->CheckFree(8, 24, "the job", "--place").message(),
            "the job takes GPUs 8 to 23, but 8 to 15 store weights: give "
            "another --place");
  const StorageServer among = {0};
  EXPECT_EQ(
      ServingCluster::Create(options.job, nullptr, &among).status().message(),
      "the storage server takes GPUs 0 to 7, but 0 to 5 serve: give another "
      "--storage-first-gpu");
}

// Sixteen GPUs are two servers, so that the collectives of TP cross; a replica
// of one server has nothing to send.
TEST(ServingPoolsTest, NetworksNeedSomethingToCarry) {
  SimaiServingOptions alone =
      ValueOrDie(TryRead("--tp 8 --replicas 2 --fidelity flow"));
  EXPECT_THAT(ServingSetup::Create(alone.job, alone.decode, alone.fabric,
                                   &alone.warnings)
                  .status()
                  .message(),
              HasSubstr("nothing is on the network of --fidelity flow"));
}

ServingSummary SummaryOf(const std::string& text) {
  SimaiServingOptions options = ValueOrDie(TryRead(text));
  const auto times =
      ValueOrDie(ReplicaTimes::Create(options.job, &options.warnings));
  const auto setup = ValueOrDie(ServingSetup::Create(
      options.job, options.decode, options.fabric, &options.warnings));
  const LoadPoint& point = options.points.front();
  const auto source = ValueOrDie(SourceOf(options, point));
  const ServingRun run = ValueOrDie(RunServing(
      options.job, *times,
      {.source = source.get(), .in_flight = point.in_flight}, setup->parts()));
  EXPECT_TRUE(setup->status().ok());
  return run.summary;
}

// Every collective of TP, or every message between stages, crosses servers.
TEST(ServingPoolsTest, AReplicaAloneOnTheNetworkTakesItsClosedForm) {
  for (const std::string layout : {"--tp 16 ", "--tp 8 --pp 2 "}) {
    const ServingSummary closed = SummaryOf(layout);
    const ServingSummary flow = SummaryOf(layout + "--fidelity flow");
    EXPECT_NEAR(flow.ttft.mean, closed.ttft.mean, 1e-5 * closed.ttft.mean);
    EXPECT_NEAR(flow.e2e.mean, closed.e2e.mean, 1e-5 * closed.e2e.mean);
  }
}

TEST(ServingPoolsTest, RowsWithSeparatePoolsArePredicted) {
  const std::string header =
      "model,gpu,tp,framework,precision,isl,osl,concurrency,mode,"
      "prefill_workers,prefill_tp,decode_workers,decode_tp\n";
  const std::string point = "llama3-8b,H100-SXM,,vllm 0.14.0,bf16,512,32,8,";
  const ServingComparison comparison =
      ValueOrDie(CompareServing("t.csv", header + point + "disagg,1,1,1,2\n" +
                                             point + "disagg,1,1,,2\n"));
  EXPECT_EQ(comparison.predicted, 1u);
  EXPECT_THAT(comparison.csv,
              HasSubstr("not predicted: prefill and decode on separate GPUs, "
                        "without decode_workers"));
}

}  // namespace
}  // namespace astra
