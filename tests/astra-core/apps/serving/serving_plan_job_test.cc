#include "astra-core/apps/serving/serving_plan_job.h"

#include <memory>
#include <string>

#include "astra-core/apps/serving/simai_serving_options.h"
#include "fmt/core.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ValueOrDie;

const std::string kJob = "--plan -m llama3-8b --gpu H100 --gpus 8 ";
const std::string kLoad = "--isl 1024 --osl 128 --slo-tpot 15 ";

absl::StatusOr<ServingPlanJob> TryRead(const std::string& text) {
  return ReadServingPlanJob(
      ValueOrDie(ParseArguments(SimaiServingOptionSpecs(), text)));
}

std::string ErrorOf(const std::string& text) {
  return std::string(TryRead(text).status().message());
}

TEST(ServingPlanJobTest, ReadsListsAndLimits) {
  const ServingPlanJob job = ValueOrDie(
      TryRead(kJob + kLoad + "--tp 1,4 --pools shared --slo-ttft 500 --top 3"));
  EXPECT_EQ(job.gpus, 8);
  EXPECT_EQ(job.tensor, (std::vector<int64_t>{1, 4}));
  EXPECT_FALSE(job.has_separate);
  EXPECT_EQ(job.limits.to_first_token, TimePs(500'000'000'000));
  EXPECT_EQ(job.limits.per_token, TimePs(15'000'000'000));
  EXPECT_EQ(job.share, 0.99);
  EXPECT_EQ(job.top, 3u);
  EXPECT_EQ(job.load.CountOf(12.2), 1000);
  EXPECT_EQ(job.load.CountOf(200.5), 2010);
}

TEST(ServingPlanJobTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("--plan -m llama3-8b --gpu H100 " + kLoad),
            "--gpus is missing");
  EXPECT_EQ(ErrorOf(kJob + "--isl 1 --osl 2"),
            "--slo-ttft and --slo-tpot are missing: expected at least one "
            "limit");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--slo-ttft 0"),
            "--slo-ttft is 0: no request would keep it");
  EXPECT_EQ(ErrorOf(kJob + "--isl 1 --osl 1 --slo-tpot 5"),
            "--osl is 1: expected at least 2, as a request of one token has no "
            "time between tokens");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--tp 4,2"),
            "--tp is 4,2: expected rising numbers, such as 1,2,8");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--rate 4"),
            "--rate has no effect: --plan is given");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--ep 2"),
            "--ep has no effect: llama3-8b has no experts");
  EXPECT_EQ(ErrorOf(kJob + kLoad + "--scheduler orca"),
            "the closed form has no scheduler \"orca\": expected one of vllm, "
            "sarathi, sglang, vllm-v0, trtllm");
}

// TP 1 or 2 within 4 GPUs: 4 or 2 ranks of attention at most, and with several
// ranks experts on all of their GPUs. Of trtllm a rank is one GPU.
TEST(ServingPlanJobTest, RanksOfAttentionAreShapes) {
  const auto shapes_of = [](const std::string& engine) {
    Warnings warnings;
    const ServingPlanJob job = ValueOrDie(
        TryRead("--plan -m qwen3-30b-a3b --gpu H200 --gpus 4 --tp 1,2 --pp 1 "
                "--attention-dp 1,2,4 --engine " +
                engine + " " + kLoad));
    const std::unique_ptr<PlanShapes> shapes =
        ValueOrDie(PlanShapes::Create(job, &warnings));
    std::string text;
    for (const ServingShape& shape : shapes->space().shapes) {
      text += fmt::format("{}x{} EP {}: {}; ", shape.layout.tensor,
                          shape.layout.attention_ranks, shape.layout.expert,
                          shape.options.max_batched_tokens);
    }
    return text;
  };
  EXPECT_EQ(shapes_of("vllm@0.14"),
            "1x1 EP 1: 8192; 1x2 EP 2: 8192; 1x4 EP 4: 8192; 2x1 EP 1: 8192; "
            "2x1 EP 2: 8192; 2x2 EP 4: 8192; ");
  EXPECT_EQ(shapes_of("sglang@0.5.9"),
            "1x1 EP 1: 8192; 1x2 EP 2: 4096; 1x4 EP 4: 2048; 2x1 EP 1: 8192; "
            "2x1 EP 2: 8192; 2x2 EP 4: 4096; ");
  EXPECT_EQ(shapes_of("trtllm"),
            "1x1 EP 1: 8192; 1x2 EP 2: 8192; 1x4 EP 4: 8192; 2x1 EP 1: 8192; "
            "2x1 EP 2: 8192; ");
}

TEST(ServingPlanJobTest, ShapesThatCannotBeAreCountedByTheirRule) {
  Warnings warnings;
  const ServingPlanJob job =
      ValueOrDie(TryRead("--plan -m llama3-70b --gpu H100 --gpus 8 --tp 1,3,8 "
                         "--pp 1 " +
                         kLoad));
  const std::unique_ptr<PlanShapes> shapes =
      ValueOrDie(PlanShapes::Create(job, &warnings));
  ASSERT_EQ(shapes->space().shapes.size(), 1u);
  EXPECT_EQ(shapes->space().shapes[0].layout.tensor, 8);
  EXPECT_EQ(shapes->left_out(),
            (std::map<std::string, int64_t>{
                {"TP 3 does not divide the 64 attention heads", 1},
                {"do not fit into the memory", 1}}));
  // 80 layers of 8 heads of 128 in BF16, keys and values: 0.33 GB, by a NIC of
  // 50 GB/s.
  EXPECT_NEAR(shapes->space().transfer_seconds,
              80.0 * 2 * 8 * 128 * 2 * 1024 / 50e9, 1e-9);
}

}  // namespace
}  // namespace astra
