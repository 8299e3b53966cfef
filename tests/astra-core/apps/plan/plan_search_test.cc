#include "astra-core/planner/plan_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "astra-core/apps/plan/plan_pricing.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"
#include "workload/generator/layout_rules.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::SearchAs;
using ::astra::testing::ValueOrDie;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

TEST(PlanSearchTest, LegalIsWhatTheGeneratorTakes) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m mixtral-8x7b --gpu H100 --gpus 16 --global-batch 24 --seq-length "
      "2048 --tp 1,2,3,4 --pp 1,2,3,4 --vpp 1,2,4 --ep 1,2,3,8 --etp 1,2 "
      "--cp 1,2 --micro-batch 1,2,3 --zero 1,3 --sp off,on --schedule "
      "1f1b,interleaved,zb-v --recompute none,selective,full "
      "--recompute-num-layers all,8,20 --cp-method all-gather,all-to-all");
  const SearchResult all = SearchAs(
      options, {.most = 1, .memory_bytes = kUnlimited, .exhaustive = true});
  const PlanSpace& space = options.space;
  int64_t legal = 0;
  Layout layout;
  const auto count = [&] {
    for (const int64_t stages : space.virtual_stages) {
      for (const PipelineSchedule schedule : space.schedules) {
        for (const Zero zero : space.zero) {
          layout.virtual_stages = stages;
          layout.schedule = schedule;
          layout.zero = zero;
          if (schedule->has_virtual_stages != (stages > 1)) continue;
          if (layout.pipeline == 1 && schedule != DefaultSchedule(1)) continue;
          legal +=
              CheckTraining(options.job.model, SetupOf(options.job, layout))
                  .ok();
        }
      }
    }
  };
  for (const int64_t tensor : space.tensor) {
    for (const int64_t context : space.context) {
      for (const int64_t expert : space.expert) {
        for (const int64_t expert_tensor : space.expert_tensor) {
          for (const int64_t pipeline : space.pipeline) {
            for (const int64_t micro_batch : space.micro_batch) {
              for (const bool sp : space.sequence_parallel) {
                if (sp && tensor == 1) continue;
                layout = {.tensor = tensor,
                          .context = context,
                          .expert = expert,
                          .expert_tensor = expert_tensor,
                          .pipeline = pipeline,
                          .micro_batch = micro_batch,
                          .sequence_parallel = sp};
                for (const ContextMethod method : space.context_methods) {
                  if (context == 1 && method != space.context_methods[0]) {
                    continue;
                  }
                  layout.context_method = method;
                  for (const RecomputeChoice& recompute : space.recompute) {
                    layout.recompute = recompute;
                    count();
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(legal, 100);
  EXPECT_EQ(all.estimated, legal);
  EXPECT_EQ(all.beyond_memory, 0);
}

// Of 4 micro-batch sizes, TP 1 cannot hide collectives of TP, and ZeRO 0
// gathers no parameters.
TEST(PlanSearchTest, OverlapsThatAreTheSameCountOnce) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 4096 "
      "--tp 1,2 --cp 1 --pp 1 --vpp 1 --schedule 1f1b --recompute none --zero "
      "0,1 --micro-batch 1 --overlap none,tp,parameters");
  const SearchResult all = SearchAs(
      options, {.most = 100, .memory_bytes = kUnlimited, .exhaustive = true});
  // TP 1: none, and parameters of ZeRO 1. TP 2: the same, and tp twice.
  EXPECT_EQ(all.estimated, 3 + 5);
  EXPECT_EQ(all.illegal.at("overlaps that are the same as others for the "
                           "layout"),
            3 + 1);
}

// Groups of 5 ranks cross the servers of 8 GPUs: some have 3 and 2 ranks on a
// server, others all 5.
TEST(PlanSearchTest, ADispatcherThatCannotServeAGroupIsARule) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m deepseek-v2 --gpu H100 --gpus 40 --global-batch 40 --seq-length 4096 "
      "--tp 1 --cp 1 --pp 1 --vpp 1 --ep 2,5 --micro-batch 1 --zero 1 "
      "--schedule 1f1b --recompute none,full --dispatcher deepep");
  const SearchResult all = SearchAs(
      options, {.most = 100, .memory_bytes = kUnlimited, .exhaustive = true});
  EXPECT_EQ(all.estimated, 2);
  EXPECT_EQ(all.illegal.at("dispatcher deepep needs equally many ranks of the "
                           "group on each server"),
            2);
}

// With TP 2, CP 1, ETP 1 and EP 4, stages cannot lie before replicas. With PP 1
// both orders are one, with EP 2 and PP 2 they are two.
TEST(PlanSearchTest, OrdersThatNumberRanksAlikeCountOnce) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m mixtral-8x7b --gpu H100 --gpus 16 --global-batch 16 --seq-length "
      "4096 --tp 2 --cp 1 --pp 1,2 --ep 2,4 --vpp 1 --schedule 1f1b "
      "--recompute none --zero 1 --micro-batch 1 --order "
      "tp-cp-ep-dp-pp,tp-cp-ep-pp-dp");
  const SearchResult all = SearchAs(
      options, {.most = 100, .memory_bytes = kUnlimited, .exhaustive = true});
  EXPECT_EQ(all.estimated, 2 + 3);
  EXPECT_EQ(all.illegal.at("an order that numbers ranks as another one does"),
            2);
  EXPECT_EQ(all.illegal.at("an order that puts stages elsewhere for experts"),
            1);
  for (const EstimatedLayout& one : all.best) {
    EXPECT_TRUE(
        CheckTraining(options.job.model, SetupOf(options.job, one.layout))
            .ok());
  }
}

TEST(PlanSearchTest, LessMemoryLeavesOutLayouts) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 4096");
  int64_t before = -1;
  for (const double gib : {80.0, 40.0, 20.0, 10.0}) {
    const SearchResult result = SearchAs(
        options, {.most = 10,
                  .memory_bytes = static_cast<int64_t>(gib * (1 << 30)),
                  .exhaustive = true});
    EXPECT_GT(result.beyond_memory, before);
    before = result.beyond_memory;
    for (const EstimatedLayout& one : result.best) {
      EXPECT_LE(one.bytes, static_cast<int64_t>(gib * (1 << 30)));
    }
  }
}

// The number is the least one: the layout fits with it, not with one less.
TEST(PlanSearchTest, TheRecomputationThatJustFitsIsTheLeast) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-70b --gpu H100 --gpus 64 --global-batch 64 --seq-length 8192 "
      "--recompute none,full,fit");
  constexpr int64_t kBytes = int64_t{60} << 30;
  const SearchResult result = SearchAs(
      options, {.most = 5000, .memory_bytes = kBytes, .exhaustive = true});
  EXPECT_GT(result.illegal.at("the recomputation that just fits is none"), 0);
  EXPECT_GT(
      result.illegal.at("the recomputation that just fits is of all layers"),
      0);
  const auto pricing = ValueOrDie(PlanPricing::Create(options));
  int64_t found = 0;
  for (const EstimatedLayout& one : result.best) {
    if (!one.layout.recompute.just_fits) continue;
    ++found;
    ASSERT_LE(one.bytes, kBytes);
    Layout less = one.layout;
    if (--less.recompute.layers == 0) less.recompute = {};
    const EstimatedLayout fewer = ValueOrDie(
        EstimateLayout(options.job, less, pricing->model(), pricing->groups()));
    EXPECT_GT(fewer.bytes, kBytes);
    EXPECT_LT(fewer.seconds, one.seconds);
  }
  EXPECT_GT(found, 20);
}

TEST(PlanSearchTest, WhereNothingFitsTheLeastRecomputesAllLayers) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 4096 "
      "--tp 1 --cp 1 --pp 1 --zero 1 --micro-batch 1 --recompute fit");
  const SearchResult result =
      SearchAs(options, {.most = 10, .memory_bytes = 1});
  EXPECT_EQ(result.beyond_memory, 1);
  EXPECT_EQ(result.least.layout.recompute.layers, 32);
  EXPECT_GT(result.least.bytes, 1);
}

TEST(PlanSearchTest, WhatFitsAnywayRecomputesNothing) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 8 --seq-length 4096 "
      "--recompute fit");
  const SearchResult result =
      SearchAs(options, {.most = 10, .memory_bytes = kUnlimited});
  ASSERT_FALSE(result.best.empty());
  for (const EstimatedLayout& one : result.best) {
    EXPECT_EQ(one.layout.recompute, RecomputeChoice());
  }
}

TEST(PlanSearchTest, TheEstimateOfALayoutIsThatOfTheSearch) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 16 --global-batch 64 --seq-length 8192 "
      "--zero 1,3 --recompute none,selective,full,fit "
      "--recompute-num-layers all,2,3 --recompute-method block,uniform");
  const SearchResult result = SearchAs(
      options, {.most = 200, .memory_bytes = UsableMemory(options.job.gpu)});
  const auto pricing = ValueOrDie(PlanPricing::Create(options));
  for (const EstimatedLayout& one : result.best) {
    SCOPED_TRACE(DescribeLayout(options.job, one.layout));
    const EstimatedLayout alone = ValueOrDie(EstimateLayout(
        options.job, one.layout, pricing->model(), pricing->groups()));
    EXPECT_EQ(alone.bytes, one.bytes);
    EXPECT_NEAR(alone.seconds, one.seconds, 1e-9 * one.seconds);
  }
}

}  // namespace
}  // namespace astra
