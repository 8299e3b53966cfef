#include "collectives/inference_engines/engine_file.h"

#include <string>

#include "fmt/core.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::IsNull;
using ::testing::NotNull;

constexpr std::string_view kHead =
    "name: e\n"
    "source: [s]\n"
    "origin: o\n";

constexpr std::string_view kKernels =
    "kernels:\n"
    "  - {since: 1.2, links: nvlink4, kernel: one_shot, start_us: 4, rank_us: "
    "0.5, efficiency: 0.5}\n"
    "  - {since: 1.10, links: nvlink4, kernel: one_shot, start_us: 3, rank_us: "
    "0, pass_us: 1, buffer_GBps: 200, efficiency: 0.5}\n"
    "  - {since: 1.2, links: nvlink4, kernel: two_shot, start_us: 9, rank_us: "
    "0, efficiency: 1}\n";

constexpr std::string_view kChoices =
    "choices:\n"
    "  - {since: 1.2, links: nvlink4, gpus: 8, one_shot: 256}\n"
    "  - {since: 1.10, links: nvlink4, gpus: 8, one_shot: 128, two_shot: "
    "1024}\n"
    "eager:\n"
    "  - {since: 1.2, links: nvlink4, us: 20}\n";

TEST(EngineFileTest, ALaterReleaseTakesThePlaceOfAnEarlierOne) {
  const auto engines = ValueOrDie(ParseInferenceEngine(
      "f", fmt::format("{}{}{}", kHead, kKernels, kChoices)));
  ASSERT_EQ(engines.size(), 2U);
  // 1.10 is after 1.2: releases are no decimal fractions.
  EXPECT_EQ(engines[0].release, "1.2");
  EXPECT_EQ(engines[1].release, "1.10");
  const auto kernel = [&](size_t i, Bytes bytes) {
    return engines[i].KernelFor("nvlink4", 8, bytes);
  };
  ASSERT_THAT(kernel(0, KiB(128)), NotNull());
  EXPECT_EQ(kernel(0, KiB(128))->StartUs(8), 8);
  EXPECT_THAT(kernel(0, KiB(256)), IsNull());
  ASSERT_THAT(kernel(1, KiB(127)), NotNull());
  EXPECT_EQ(kernel(1, KiB(127))->StartUs(8), 3);
  EXPECT_EQ(kernel(1, KiB(127))->PassUs(8), 8);
  EXPECT_EQ(kernel(1, KiB(128))->algorithm, EngineAlgorithm::kTwoShot);
  EXPECT_THAT(kernel(1, MiB(1)), IsNull());
  EXPECT_EQ(engines[1].LinksOf("nvlink4")->eager_us, 20);
}

TEST(EngineFileTest, LinksOfOneGenerationAreOneKind) {
  const auto engines = ValueOrDie(ParseInferenceEngine(
      "f", fmt::format("{}{}{}", kHead, kKernels, kChoices)));
  EXPECT_THAT(engines[0].KernelFor("nvlink4-h800", 8, KiB(1)), NotNull());
  EXPECT_THAT(engines[0].KernelFor("nvlink5", 8, KiB(1)), IsNull());
  EXPECT_THAT(engines[0].KernelFor("nvlink4", 4, KiB(1)), IsNull());
}

TEST(EngineFileTest, SaysWhereAFileIsWrong) {
  const auto error = [](std::string_view rest) {
    return ParseInferenceEngine("f", fmt::format("{}{}", kHead, rest)).status();
  };
  using enum absl::StatusCode;
  EXPECT_THAT(error(fmt::format("{}choices:\n  - {{since: 1.2, links: nvlink4, "
                                "gpus: 8, one_shot: 256, two_shot: 128}}\n",
                                kKernels)),
              StatusIs(kInvalidArgument,
                       "f:9:68: 128 KiB: expected more than the 256 "
                       "before"));
  EXPECT_THAT(error(fmt::format("{}choices:\n  - {{since: 1.2, links: nvlink4, "
                                "gpus: 8, multicast: 256}}\n",
                                kKernels)),
              StatusIs(kInvalidArgument,
                       "f:9:3: multicast on nvlink4 has no line in "
                       "kernels"));
  EXPECT_THAT(error("choices:\n  - {since: new, links: nvlink4, gpus: 8}\n"),
              StatusIs(kInvalidArgument,
                       "f:5:13: \"new\" is no release: expected a version such "
                       "as 0.14"));
  EXPECT_THAT(
      error(fmt::format("{}{}serving:\n  - {{since: 1.2, scheduler: s, "
                        "memory_share: 0.9, block: 1, chunked_prefill: true, "
                        "overlapped_host: true, step_us: 0, sequence_us: 0, "
                        "launch_us: 0, request_us: 0, graphs: [4..x], "
                        "mixed_graphs: true}}\n",
                        kKernels, kChoices)),
      StatusIs(kInvalidArgument,
               "f:14:172: \"4..x\": expected a number of positions, or "
               "FIRST..LAST/STEP"));
  EXPECT_THAT(error(""),
              StatusIs(kInvalidArgument, "f:1:1: an engine without choices"));
}

constexpr std::string_view kServing =
    "serving:\n"
    "  - {since: 1.2, scheduler: vllm, memory_share: 0.9, block: 16, "
    "chunked_prefill: true, overlapped_host: false, step_us: 1, sequence_us: "
    "2, launch_us: 3, request_us: 4, graphs: [1, 2, 4..8/2], mixed_graphs: "
    "true}\n"
    "budgets:\n"
    "  - {since: 1.2, memory_gib: 0, tokens: 2048, sequences: 256}\n"
    "  - {since: 1.2, memory_gib: 70, except: Ampere, tokens: 8192, "
    "sequences: 1024}\n";

TEST(EngineFileTest, ServingFactsHoldForTheGpuAndItsRelease) {
  const auto engines = ValueOrDie(ParseInferenceEngine(
      "f", fmt::format("{}{}{}{}", kHead, kKernels, kChoices, kServing)));
  const ServingFacts& facts = engines[1].serving;
  EXPECT_EQ(facts, engines[0].serving);
  EXPECT_THAT(facts.graphs, ElementsAre(1, 2, 4, 6, 8));
  EXPECT_EQ(facts.GraphFor(5), 6);
  EXPECT_EQ(facts.GraphFor(9), 0);
  EXPECT_EQ(facts.BudgetOf(80, "Hopper")->tokens, 8192);
  EXPECT_EQ(facts.BudgetOf(80, "Ampere")->tokens, 2048);
  EXPECT_EQ(facts.BudgetOf(69.9, "Hopper")->sequences, 256);
}

// SGLang on an H100 with TP 1: 512 + 1.5 x 8192 + 2 x 256 + 128 MiB.
TEST(EngineFileTest, AReserveCountsStepsGraphsAndGpus) {
  const MemoryReserve reserve = {.base_mib = 512,
                                 .token_mib = 1.5,
                                 .graph_mib = 2,
                                 .gpu_mib = 128,
                                 .least_mib = 10240};
  EXPECT_EQ(reserve.Of(79, 8192, 256, 1), 13440);
  EXPECT_EQ(reserve.Of(79, 2048, 160, 1), 10240);
  EXPECT_EQ(reserve.Of(24, 2048, 160, 1), 4032);
  const ServingFacts facts = ValueOrDie(LoadInferenceEngine("sglang")).serving;
  EXPECT_EQ(facts.reserve, reserve);
  EXPECT_EQ(facts.memory_share, 0);
}

TEST(EngineFileTest, BundledEnginesTellHowTheyServe) {
  for (const std::string_view name : InferenceEngineNames()) {
    const InferenceEngine engine = ValueOrDie(LoadInferenceEngine(name));
    EXPECT_EQ(engine.serving.scheduler, name);
    EXPECT_THAT(engine.serving.BudgetOf(16, "Hopper"), NotNull());
  }
}

TEST(EngineFileTest, BundledEnginesAreFoundByNameAndRelease) {
  EXPECT_THAT(InferenceEngineNames(), ElementsAre("sglang", "trtllm", "vllm"));
  EXPECT_EQ(ValueOrDie(LoadInferenceEngine("vllm")).release, "0.22");
  EXPECT_EQ(ValueOrDie(LoadInferenceEngine("vllm@0.18.3")).release, "0.14");
  EXPECT_EQ(ValueOrDie(LoadInferenceEngine("trtllm@1.3.0rc10")).release, "1.3");
  EXPECT_THAT(LoadInferenceEngine("vlm").status(),
              StatusIs(absl::StatusCode::kNotFound,
                       "unknown inference engine \"vlm\"; did you mean "
                       "\"vllm\"? (known: sglang, trtllm, vllm)"));
  for (const std::string_view text : {"vllm@0.10", "vllm@", "vllm@new"}) {
    EXPECT_THAT(
        LoadInferenceEngine(text).status(),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 fmt::format("{}: expected a release of vllm from 0.11 on, "
                             "such as vllm@0.22",
                             text)));
  }
}

}  // namespace
}  // namespace astra
