// Options of gen_workload that change nothing beside the others.

#include <string>
#include <string_view>
#include <tuple>

#include "astra-core/apps/gen_workload_options.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

constexpr std::string_view kTraining =
    "-m llama3-8b --world-size 8 --global-batch 8 --seq-length 128 --gpu H100";
constexpr std::string_view kMoe =
    "-m mixtral-8x7b --world-size 8 --global-batch 8 --seq-length 128 --gpu "
    "H100";
constexpr std::string_view kPrefill =
    "-m llama3-8b --phase prefill --world-size 8 --seq-length 128 --gpu H100";

// Options behind those of a command line that is right.
absl::StatusOr<GenWorkloadOptions> TryAdd(std::string_view base,
                                          std::string_view more) {
  return ReadGenWorkloadOptions(ValueOrDie(ParseArguments(
      GenWorkloadOptionSpecs(), fmt::format("{} {}", base, more))));
}

// A sweep leaves such layouts out.
auto IsIllegal(std::string_view message) {
  return StatusIs(absl::StatusCode::kFailedPrecondition, std::string(message));
}

auto Says(std::string_view message) {
  return StatusIs(absl::StatusCode::kInvalidArgument, std::string(message));
}

// What the layout leaves nothing to do for.
TEST(GenWorkloadEffectsTest, RefusesOptionsThatTheLayoutLeavesIdle) {
  const std::string one_replica = "--tp 8 ";
  const std::string why_replica =
      "DP is 1: no other rank has the same parameters";
  for (const auto& [arguments, option, why] :
       {std::tuple{std::string("--stage-layers 32"), "stage-layers",
                   std::string("PP is 1")},
        std::tuple{std::string("--first-stage-layers 2"), "first-stage-layers",
                   std::string("PP is 1")},
        std::tuple{std::string("--last-stage-layers 2"), "last-stage-layers",
                   std::string("PP is 1")},
        std::tuple{std::string("--account-for-embedding"),
                   "account-for-embedding", std::string("PP is 1")},
        std::tuple{std::string("--account-for-loss"), "account-for-loss",
                   std::string("PP is 1")},
        std::tuple{one_replica + "--zero-group 1", "zero-group",
                   why_replica}}) {
    EXPECT_THAT(TryAdd(kTraining, arguments),
                IsIllegal(fmt::format("--{} has no effect: {}", option, why)));
  }
  EXPECT_THAT(
      TryAdd(kMoe, "--fp8-dispatch"),
      IsIllegal("--fp8-dispatch has no effect: EP is 1: no token goes to "
                "another rank"));
  EXPECT_THAT(TryAdd(kMoe, "--ffn-hidden-size 64"),
              Says("--ffn-hidden-size has no effect: every block has experts, "
                   "whose width is --moe-ffn-hidden-size"));
  EXPECT_THAT(TryAdd(kPrefill, "--tp 2 --dp 8"),
              IsIllegal("TP 2 x PP 1 x DP 8 is not the world size 8"));
  EXPECT_TRUE(TryAdd(kPrefill, "--tp 2 --dp 4").ok());
}

// AICB's scripts give these to every run.
TEST(GenWorkloadEffectsTest, WarnsOfAicbsOptionsThatTheLayoutLeavesIdle) {
  EXPECT_THAT(
      ValueOrDie(TryAdd(kTraining,
                        "--sp --swiglu --max-position-embeddings 9999 "
                        "--aiob_enable"))
          .warnings,
      ElementsAre("--swiglu has no effect: the feed-forward part of llama3-8b "
                  "is gated",
                  "--max-position-embeddings has no effect: the positions of "
                  "the model are not learned, so that none is added",
                  "--sp has no effect: TP is 1",
                  "--aiob-enable has no effect without --comp-filepath: no GPU "
                  "is measured here, and formulas of --gpu give the times"));
  EXPECT_THAT(
      ValueOrDie(TryAdd(kTraining,
                        "--tp 8 --overlap-grad-reduce "
                        "--use-distributed-optimizer"))
          .warnings,
      ElementsAre("--overlap-grad-reduce has no effect: DP is 1: no other "
                  "rank has the same parameters",
                  "--use-distributed-optimizer has no effect: DP is 1: no "
                  "other rank has the same parameters"));
  EXPECT_THAT(ValueOrDie(TryAdd(kTraining, "--optimizer-workspace 8")).warnings,
              ElementsAre("--optimizer-workspace has no effect: only --format "
                          "program and --explain tell the memory"));
}

TEST(GenWorkloadEffectsTest, ResultDirIsTheFolderOfTheNamedFile) {
  EXPECT_EQ(
      ValueOrDie(TryAdd(kPrefill, "--batch 4 --result_dir results/w/")).output,
      "results/w/h100-sxm-llama3-8b-world_size8-tp1-pp1-ep1-bs4-seq128-"
      "prefill.txt");
  EXPECT_THAT(TryAdd(kPrefill, "--result-dir results -o w"),
              Says("--result-dir has no effect: --output names the file"));
}

}  // namespace
}  // namespace astra
