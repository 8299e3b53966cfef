#include "astra-core/apps/serving/simai_serving_options.h"

#include <string>

#include "astra-core/apps/serving/serving_compare.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kJob = "-m llama3-8b --gpu H100 ";
const std::string kLoad = "--requests 16 --isl 128 --osl 16 --concurrency 4 ";

absl::StatusOr<SimaiServingOptions> TryRead(const std::string& text) {
  return ReadSimaiServingOptions(
      ValueOrDie(ParseArguments(SimaiServingOptionSpecs(), text)));
}

std::string ErrorOf(const std::string& text) {
  return std::string(TryRead(text).status().message());
}

TEST(SimaiServingOptionsTest, TheEngineSaysWhatAStepHolds) {
  const ServingJob job = ValueOrDie(TryRead(kJob + kLoad)).job;
  EXPECT_EQ(job.engine.name, "vllm");
  EXPECT_EQ(job.scheduler->name, "vllm");
  EXPECT_EQ(job.options.max_batched_tokens, 8192);
  EXPECT_EQ(job.options.max_sequences, 1024);
  EXPECT_EQ(job.options.block_tokens, 16);
  const ServingJob small =
      ValueOrDie(TryRead("-m llama3-8b --gpu L40S " + kLoad)).job;
  EXPECT_EQ(small.options.max_batched_tokens, 2048);
  const ServingJob given =
      ValueOrDie(
          TryRead(kJob + kLoad + "--engine sglang@0.5.9 --num-gpu-blocks 77"))
          .job;
  EXPECT_EQ(given.options.num_blocks, 77);
  EXPECT_EQ(given.options.block_tokens, 1);
}

// A block of 16 positions takes 2 MiB.
TEST(SimaiServingOptionsTest, WarnsOfBlocksThatNoGpuHolds) {
  const auto warnings_of = [](const std::string& text) {
    return ValueOrDie(TryRead(text + kLoad)).warnings;
  };
  EXPECT_THAT(warnings_of(kJob + "--num-gpu-blocks 10000000 "),
              ElementsAre("--num-gpu-blocks is 10000000, a cache of 19531.2 "
                          "GiB beside 15.0 GiB of weights, but a GPU has 79.2 "
                          "GiB, in which the engine would have 28768 blocks"));
  // Beyond the engine's share, but not beyond the memory.
  EXPECT_THAT(warnings_of(kJob + "--num-gpu-blocks 32000 "), IsEmpty());
  EXPECT_THAT(
      warnings_of("-m llama3-70b --gpu H100 --num-gpu-blocks 1000 "),
      ElementsAre("--num-gpu-blocks is 1000, but there is no room for the KV "
                  "cache: weights of 131.4 GiB, 1.4 GiB of workspace and 1.0 "
                  "GiB of CUDA and NCCL fill the share of 0.92 of the 79.2 GiB "
                  "of a GPU that the engine takes: expected more TP or PP, or "
                  "a smaller precision"));
  EXPECT_THAT(warnings_of(kJob + "--decode-replicas 1 --decode-num-gpu-blocks "
                                 "10000000 "),
              ElementsAre(HasSubstr("--decode-num-gpu-blocks is 10000000, a "
                                    "cache of 19531.2 GiB")));
}

// SGLang's ranks share the budget of a step; vLLM's have one each.
TEST(SimaiServingOptionsTest, WarnsOfPositionsBeyondTheModel) {
  const auto warnings = [](const std::string& load) {
    return ValueOrDie(TryRead(kJob + "--requests 1 --concurrency 1 " + load))
        .warnings;
  };
  EXPECT_THAT(warnings("--isl 131000 --osl 72"), IsEmpty());
  EXPECT_THAT(warnings("--isl 131000 --osl 73"),
              ElementsAre("--isl and --osl are 131073 together, more than the "
                          "131072 that llama3-8b is made for"));
}

TEST(SimaiServingOptionsTest, RanksOfAttentionSpreadTheExperts) {
  const std::string moe = "-m deepseek-v3 --gpu H200 --tp 2 --attention-dp 8 ";
  const ServingJob job = ValueOrDie(TryRead(moe + kLoad + "--dtype fp8")).job;
  EXPECT_EQ(job.layout.expert, 16);
  EXPECT_EQ(job.num_gpus(), 16);
  EXPECT_EQ(job.options.max_batched_tokens, 8192);
  const ServingJob sglang =
      ValueOrDie(
          TryRead(moe + kLoad + "--dtype fp8 --engine sglang --router random"))
          .job;
  EXPECT_EQ(sglang.options.chunk_tokens, 1024);
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--attention-dp 2"),
            "--attention-dp has no effect: llama3-8b has no experts");
  EXPECT_EQ(ErrorOf(moe + kLoad + "--ep 8"),
            "--ep is 8: expected 16, since --attention-dp spreads the experts "
            "over --tp 2 x 8 GPUs");
}

// TensorRT-LLM's attention is replicated on all GPUs of TP, or split over them.
TEST(SimaiServingOptionsTest, ARankOfAttentionOfTrtllmIsOneGpu) {
  const std::string moe =
      "-m deepseek-v3 --gpu H200 --dtype fp8 --engine trtllm " + kLoad;
  EXPECT_EQ(ErrorOf(moe + "--tp 2 --attention-dp 8"),
            "--tp is 2: a rank of attention of trtllm is one GPU: expected "
            "--tp 1 --attention-dp 16");
  const std::string gpus = moe + "--attention-dp 16 --decode-replicas 1 ";
  EXPECT_TRUE(TryRead(gpus).ok());
  EXPECT_EQ(ErrorOf(gpus + "--decode-tp 4 --decode-attention-dp 4"),
            "--decode-tp is 4: a rank of attention of trtllm is one GPU: "
            "expected --decode-tp 1 --decode-attention-dp 16");
}

// The weights of a draft model leave less room for the cache.
TEST(SimaiServingOptionsTest, DraftsHaveAModelAndARate) {
  const std::string drafts = kJob + kLoad + "--speculative-tokens 3 ";
  const ServingJob job =
      ValueOrDie(TryRead(drafts + "--acceptance-rate 0.6 --seed 3")).job;
  EXPECT_EQ(job.options.draft_tokens, 3);
  EXPECT_EQ(job.options.acceptance_rate, 0.6);
  const ServingJob mtp =
      ValueOrDie(TryRead(drafts + "--acceptance-rate 0.6 --draft-model mtp"))
          .job;
  EXPECT_EQ(mtp.draft_model->layers, 1);
  EXPECT_LT(mtp.options.num_blocks, job.options.num_blocks);
  EXPECT_TRUE(TryRead("-m deepseek-v3 --gpu H200 --tp 8 --dtype fp8 " + kLoad +
                      "--speculative-tokens 1 --acceptance-rate 0.8 "
                      "--draft-model mtp")
                  .ok());
  EXPECT_EQ(ErrorOf(drafts), "--acceptance-rate is missing");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--draft-model mtp"),
            "--draft-model has no effect: --speculative-tokens is not given");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--prefill-schedule-interval 2"),
            "--prefill-schedule-interval has no effect: there is 1 rank of "
            "attention");
  EXPECT_EQ(
      ErrorOf(kJob + kLoad + "--engine sglang --prefill-schedule-interval 2"),
      "--prefill-schedule-interval has no effect: it is of the scheduler "
      "vllm, not sglang");
}

TEST(SimaiServingOptionsTest, SessionsHaveTurnsAndWaits) {
  const std::string load = kJob + "--requests 12 --isl 128 --osl 16 ";
  const SimaiServingOptions options = ValueOrDie(
      TryRead(load + "--rate 1 --turns 3 --turn-wait-ms 1.5 --shared-prefix 64 "
                     "--prefix-groups 2"));
  EXPECT_EQ(options.sessions.turns, 3);
  EXPECT_EQ(options.sessions.turn_wait, Microseconds(1500));
  EXPECT_EQ(options.sessions.prefix_groups, 2);
  EXPECT_EQ(ErrorOf(load + "--rate 1 --turns 5"),
            "--requests is 12: expected a multiple of the 5 of --turns");
  EXPECT_EQ(ErrorOf(load + "--concurrency 5 --turns 3"),
            "--concurrency is 5: expected at most the 4 sessions of "
            "--requests");
  EXPECT_EQ(ErrorOf(load + "--rate 1 --turn-wait-ms 3"),
            "--turn-wait-ms has no effect: a session has 1 turn");
  EXPECT_EQ(ErrorOf(load + "--rate 1 --turns 3 --turn-wait-cv 3"),
            "--turn-wait-cv has no effect: no turn waits (--turn-wait-ms)");
  EXPECT_EQ(ErrorOf(load + "--rate 1 --prefix-groups 3"),
            "--prefix-groups has no effect: --shared-prefix is not given");
  EXPECT_EQ(ErrorOf(load + "--rate 1 --shared-prefix 129"),
            "--shared-prefix is 129: expected 64 to the 128 of --isl; it "
            "counts in whole blocks of 64");
}

// A block of 16 positions has 32 layers of 2 x 8 x 128 elements: 2 MiB.
TEST(SimaiServingOptionsTest, TheHostHasBlocksAndARate) {
  const std::string host = kJob +
                           "--requests 8 --isl 128 --osl 16 "
                           "--concurrency 4 --host-kv-gib 4 ";
  const ServingJob job =
      ValueOrDie(TryRead(host + "--turns 2 --host-kv-gbps 32")).job;
  EXPECT_EQ(job.options.host_blocks, 2048);
  EXPECT_EQ(job.host_block_time, TimePs(65'536'000));
  EXPECT_EQ(ErrorOf(host + "--host-kv-gbps 32"),
            "--host-kv-gib has no effect: no prompts begin alike (--turns, "
            "--shared-prefix, --trace)");
  EXPECT_EQ(ErrorOf(host + "--turns 2"), "--host-kv-gbps is missing");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--host-kv-gbps 2"),
            "--host-kv-gbps has no effect: --host-kv-gib is not given");
}

TEST(SimaiServingOptionsTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf(kLoad), "--model is missing");
  EXPECT_EQ(ErrorOf(kJob), "--requests is missing");
  EXPECT_EQ(ErrorOf(kJob + "--requests 4 --isl 1 --osl 1"),
            "--rate or --concurrency is missing");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--rate 2"),
            "--rate has no effect: --concurrency is given");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--seed 2"),
            "--seed has no effect: --concurrency draws nothing at random");
  EXPECT_EQ(ErrorOf(kJob + "--requests 4 --isl 1 --osl 1 --concurrency 5"),
            "--concurrency is 5: expected at most the 4 of --requests");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--tp 3"),
            "illegal layout: TP 3 does not divide the 32 attention heads; the "
            "nearest --tp is 2");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--ep 2"),
            "--ep has no effect: llama3-8b has no experts");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--dtype mxfp4"),
            "--dtype mxfp4 is for experts, and llama3-8b has none");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--router round-robin"),
            "--router has no effect: there is 1 replica");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--system dgx-h100"),
            "--system has no effect: a replica has 1 GPU");
  EXPECT_EQ(ErrorOf("-m gpt-7b --gpu H100 --requests 1 --concurrency 1 --isl "
                    "4000 --osl 100"),
            "--isl and --osl are 4100 together: gpt-7b has learned 4096 "
            "positions");
  EXPECT_EQ(ErrorOf(kJob + "--trace t.csv --isl 4"),
            "--isl has no effect: --trace says it");
  EXPECT_EQ(ErrorOf("--compare-table t.csv -o o --tp 2"),
            "--tp has no effect: --compare-table says what is served");
  EXPECT_THAT(ErrorOf("-m llama3-70b --gpu H100 " + kLoad),
              HasSubstr("no room for the KV cache: weights of 131.4 GiB"));
}

TEST(ServingCompareTest, APointIsPredictedOrSaysWhyNot) {
  const ServingComparison done = ValueOrDie(CompareServing(
      "t.csv",
      "model,gpu,tp,framework,isl,osl,concurrency,tpot_ms\n"
      "meta-llama/Llama-3.1-8B-Instruct,H100-SXM,1,vllm 0.14.0,64,8,2,10\n"
      "meta-llama/Llama-3.1-8B-Instruct,H100-SXM,1,vllm 0.14.0,64,8,,10\n"
      "x/unknown,H100-SXM,1,vllm 0.14.0,64,8,2,10\n"));
  EXPECT_EQ(done.rows, 3U);
  EXPECT_EQ(done.predicted, 1U);
  EXPECT_THAT(done.csv, HasSubstr(",ok: assumed bf16\n"));
  EXPECT_THAT(done.csv, HasSubstr(",not predicted: no concurrency\n"));
  EXPECT_THAT(done.csv, HasSubstr("not predicted: unknown model"));
  EXPECT_THAT(
      ValueOrDie(CompareServing("t.csv",
                                "model,gpu,tp,framework,isl,osl,concurrency\n"
                                "llama3-8b,H100,1,vllm 0.14.0,64,8,200000\n"))
          .csv,
      HasSubstr("not predicted: 10 x concurrency 200000 and osl 8: expected at "
                "most 1000000 requests and 10000000 tokens after one another"));
}

}  // namespace
}  // namespace astra
