#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/testing/files.h"
#include "tests/testing/programs.h"

namespace astra {
namespace {

using ::astra::testing::ProgramResult;
using ::astra::testing::ReadText;
using ::astra::testing::RunProgram;
using ::astra::testing::TemporaryFolder;
using ::astra::testing::WriteText;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kSearch[] =
    "--run_all_solu --model_size 7 --world_size 16 --gpu A800 "
    "--global_batch_size 524288 ";

double BestTgs(const TemporaryFolder& folder, const std::string& run) {
  const std::string path = folder.PathOf(run + "/best.json");
  return Json::parse(ReadText(path))["best"]["tgs"].get<double>();
}

TEST(SimaiPlannerInternEvoTest, ItsFilesGiveTheSameAgain) {
  const TemporaryFolder folder;
  const ProgramResult first =
      RunProgram("simai_planner", std::string(kSearch) + "--draw_heatmap -o a",
                 folder.path());
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_EQ(ReadText(folder.PathOf("a/summary.txt")),
            first.out.substr(0, first.out.find("results ")));
  // The profile that was written stands for the models.
  const ProgramResult again = RunProgram(
      "simai_planner",
      std::string(kSearch) + "--pre_profiling_data_path a/profile -o b",
      folder.path());
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(again.error, "");
  EXPECT_NEAR(BestTgs(folder, "b"), BestTgs(folder, "a"), 1e-3);
  // So does the config of the best.
  const ProgramResult priced =
      RunProgram("simai_planner",
                 "--config a/best_config.yaml --world_size 16 --gpu A800 -o c",
                 folder.path());
  ASSERT_EQ(priced.exit_code, 0) << priced.error;
  EXPECT_EQ(BestTgs(folder, "c"), BestTgs(folder, "a"));
}

TEST(SimaiPlannerInternEvoTest, ModelsFillWhatAProfileLacks) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("collectives.csv"),
            "op,intra,inter,bytes,time_us\nbroadcast,2,1,1024,50\n");
  const ProgramResult result =
      RunProgram("simai_planner", std::string(kSearch) + "--profile . -o a",
                 folder.path());
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.error,
              HasSubstr("warning: . lacks products.csv, for which the models' "
                        "times stand\n"));
  EXPECT_THAT(result.error, HasSubstr("tables, for which the models' times "
                                      "stand: all2all_intra_2_inter_1, "));
  EXPECT_THAT(ReadText(folder.PathOf("a/profile/fits.csv")),
              HasSubstr("broadcast_intra_2_inter_1,measured,1,0,"));
}

TEST(SimaiPlannerInternEvoTest, SaysWhatTheLeastTakes) {
  const TemporaryFolder folder;
  const ProgramResult result = RunProgram(
      "simai_planner",
      "--run_all_solu --model_size 104 --world_size 8 --gpu A800 -o a",
      folder.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("no layout fits into 74.3 GB: the least "
                                    "one, "));
  EXPECT_FALSE(
      Json::parse(ReadText(folder.PathOf("a/run.json")))["result"]["fits"]
          .get<bool>());
}

TEST(SimaiPlannerInternEvoTest, NamesTheNearestBatch) {
  const TemporaryFolder folder;
  const ProgramResult result =
      RunProgram("simai_planner",
                 "--run_all_solu --model_size 7 --world_size 16 --gpu A800 "
                 "--global_batch_size 524289",
                 folder.path());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error,
            "simai_planner: error: --global_batch_size: 524289 tokens make no "
            "whole micro-batches on 16 ranks: expected a multiple of seq_len "
            "2048 x DP, with PP or more sequences for each of the DP replicas; "
            "the nearest is 524288\n");
}

}  // namespace
}  // namespace astra
