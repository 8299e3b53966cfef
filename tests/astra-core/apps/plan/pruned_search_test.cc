#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra-core/apps/plan/plan_pricing.h"
#include "astra-core/planner/plan_search.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::SearchAs;
using ::astra::testing::ValueOrDie;

int64_t CountOf(const SearchResult& result) {
  int64_t count = result.estimated + result.beyond_memory + result.beyond_bound;
  for (const auto& [rule, number] : result.illegal) count += number;
  return count;
}

class PrunedSearchTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PrunedSearchTest, FindsWhatAnExhaustiveOneFinds) {
  const SimaiPlannerOptions options = ReadPlanner(GetParam());
  SearchOptions search = {.most = 10,
                          .memory_bytes = UsableMemory(options.job.gpu)};
  const SearchResult pruned = SearchAs(options, search);
  search.exhaustive = true;
  const SearchResult all = SearchAs(options, search);
  ASSERT_EQ(pruned.best.size(), all.best.size());
  ASSERT_FALSE(all.best.empty());
  for (size_t i = 0; i < all.best.size(); ++i) {
    EXPECT_EQ(pruned.best[i].layout, all.best[i].layout) << i;
    EXPECT_EQ(pruned.best[i].seconds, all.best[i].seconds) << i;
    if (i > 0) {
      EXPECT_GE(all.best[i].seconds, all.best[i - 1].seconds);
    }
  }
  EXPECT_EQ(CountOf(pruned), options.space.size());
  EXPECT_EQ(CountOf(all), options.space.size());
  EXPECT_EQ(all.beyond_bound, 0);
}

// Spaces that differ in kind.
INSTANTIATE_TEST_SUITE_P(
    Spaces, PrunedSearchTest,
    ::testing::Values(
        "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192",
        "-m llama3-8b --gpu A100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --framework fsdp",
        "-m llama2-13b --gpu A100 --gpus 32 --global-batch 128 --seq-length "
        "4096 --zero 0,1,2,3",
        "-m llama2-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "4096 --framework megatron-core --sp off,on",
        "-m mixtral-8x7b --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --etp 1,2,4,8 --micro-batch 1,2",
        "-m gpt-175b --gpu A100 --gpus 256 --global-batch 512 --seq-length "
        "2048 --schedule 1f1b,interleaved,zb-h1,zb-v",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "8192 --recompute none,full,fit --recompute-num-layers 1..12 "
        "--recompute-method block,uniform",
        "-m deepseek-v2 --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --recompute-modules core_attn,moe_act+mla_up_proj,moe",
        "-m llama3-8b --gpu A100 --gpus 32 --global-batch 128 --seq-length "
        "8192 --framework torchtitan --recompute none,selective,full,fit "
        "--recompute-num-layers 4",
        "-m llama3-8b --gpu H100 --gpus 32 --global-batch 32 --seq-length "
        "32768 --cp-method ring,all-gather,all-to-all",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "4096 --overlap none,gradients,gradients+parameters+tp --zero 0,1,3",
        "-m deepseek-v2 --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --overlap none,shared_experts,tp --recompute-modules "
        "moe_act,shared_experts --dispatcher deepep",
        "-m llama3-70b --gpu H100 --gpus 64 --global-batch 128 --seq-length "
        "8192 --order tp-cp-ep-dp-pp,tp-cp-ep-pp-dp,cp-tp-ep-pp-dp",
        "-m mixtral-8x7b --gpu H100 --gpus 64 --global-batch 256 --seq-length "
        "4096 --etp 1,2,4 --order tp-cp-ep-dp-pp,ep-tp-cp-pp-dp",
        "-m deepseek-v3 --gpu H800 --gpus 256 --global-batch 1024 "
        "--seq-length 4096 --schedule 1f1b,dualpipe --dtype fp8"));

std::vector<std::string> JobsOfModels() {
  std::vector<std::string> jobs;
  for (const char* model : {"deepseek-v2",
                            "deepseek-v2-lite",
                            "gpt-13b",
                            "gpt-1t",
                            "gpt-22b",
                            "gpt-530b",
                            "gpt-oss-120b",
                            "llama-65b",
                            "llama2-7b",
                            "llama3-405b",
                            "llama3-70b",
                            "mixtral-8x22b",
                            "mpt-30b",
                            "mpt-7b",
                            "qwen3-14b",
                            "qwen3-30b-a3b",
                            "qwen3-32b",
                            "qwen3-8b",
                            "qwen3-moe-235b-a22b",
                            "qwen3-next-80b-a3b"}) {
    jobs.push_back(fmt::format(
        "-m {} --gpu H100 --gpus 64 --global-batch 128 --seq-length 2048 "
        "--memory 3000 --micro-batch 1,2 --recompute none,full",
        model));
  }
  return jobs;
}
INSTANTIATE_TEST_SUITE_P(Models, PrunedSearchTest,
                         ::testing::ValuesIn(JobsOfModels()));

}  // namespace
}  // namespace astra
