#include "astra-core/apps/plan/internevo_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "astra-core/apps/plan/simai_planner_options.h"
#include "tests/astra-core/apps/plan/plan_test_job.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::SourcePath;
using ::astra::testing::TryReadPlanner;
using ::astra::testing::ValueOrDie;

// Takes words that are parted by spaces; @NAME is the path of a config of ours,
// which may hold spaces.
absl::StatusOr<EvoRequest> TryRead(const std::string& text) {
  std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  std::vector<const char*> argv = {"simai_planner"};
  for (std::string& word : words) {
    if (word.front() == '@') {
      word = SourcePath("inputs/internevo/" + word.substr(1));
    }
    argv.push_back(word.c_str());
  }
  const auto flags = CommandLine::Parse(
      SimaiPlannerOptionSpecs(), static_cast<int>(argv.size()), argv.data());
  if (!flags.ok()) return flags.status();
  return ReadEvoRequest(*flags);
}

std::string ErrorOf(const std::string& text) {
  return std::string(TryRead(text).status().message());
}

const std::string kCluster = "--world_size 128 --gpu A800 ";
const std::string kSearch = "--run_all_solu " + kCluster;

std::string Config(const std::string& name) {
  return "--config @" + name + " ";
}

TEST(InternEvoRequestTest, ASizeIsAModelOfTheTable) {
  const EvoRequest request = ValueOrDie(TryRead(kSearch + "--model_size 20"));
  EXPECT_EQ(request.model, *EvoModelOfSize(20));
  EXPECT_EQ(request.seq_len, 2048);
  EXPECT_EQ(request.tokens, 4194304);
  EXPECT_EQ(request.run.system, "a800");
  EXPECT_EQ(request.name, "internevo-20b-128-a800-sxm-80gb");
  EXPECT_FALSE(request.layout);
}

TEST(InternEvoRequestTest, AConfigHasTheModelThatItsSizeNames) {
  const std::string config = Config("20B_internlm2.yaml");
  const EvoRequest request =
      ValueOrDie(TryRead(kSearch + config + "--model_size 20"));
  EXPECT_EQ(request.model.layers, 48);
  EXPECT_EQ(request.seq_len, 16384);
  EXPECT_THAT(ErrorOf(kSearch + config + "--model_size 7"),
              ::testing::HasSubstr("--model_size is 7, but the model of "));
}

TEST(InternEvoRequestTest, ZeroSizesBelowOneAreAllReplicas) {
  const EvoRequest request =
      ValueOrDie(TryRead(kCluster + Config("7B_internlm2.yaml")));
  EXPECT_EQ(request.layout->zero, 128 / 2);  // Replicas of weights.
}

TEST(InternEvoRequestTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf(kSearch + "--model_size 8"),
            "--model_size is 8: expected one of 7, 13, 20, 30, 65, 104; other "
            "models need a --config");
  EXPECT_EQ(ErrorOf(kSearch + "--model llama3-8b"),
            "--model_size is \"llama3-8b\": expected billions of parameters "
            "(7, 13, 20, 30, 65, 104); other models need a --config");
  EXPECT_EQ(ErrorOf(kSearch),
            "--model_size is missing: there is no model of a --config");
  EXPECT_EQ(ErrorOf(kSearch + "--model_size 7 --tp 2"),
            "--tp has no effect: --run_all_solu and --config plan as InternEvo "
            "does");
  EXPECT_EQ(ErrorOf(kSearch + "--model_size 7 --global-batch 64"),
            "--global-batch has no effect: with --run_all_solu or --config the "
            "batch is in tokens, --global_batch_size");
  EXPECT_EQ(ErrorOf(kCluster + Config("7B_internlm2.yaml") +
                    "--global_batch_size 4194304"),
            "--global-batch-size has no effect: without --run_all_solu the "
            "config says what runs");
  EXPECT_THAT(
      ErrorOf("--world_size 7 --gpu A800 " + Config("7B_internlm2.yaml")),
      ::testing::EndsWith("7B_internlm2.yaml: tensor size 2 does not "
                          "divide the ranks of a stage, 7"));
}

TEST(InternEvoRequestTest, TheOrdinaryWayKnowsNoneOfIt) {
  const auto error = [](const std::string& text) {
    return std::string(TryReadPlanner("--gpu H100 --gpus 16 --global-batch 64 "
                                      "--seq-length 8192 " +
                                      text)
                           .status()
                           .message());
  };
  EXPECT_EQ(error("--model_size 7"),
            "--model is \"7\": a size in billions goes with --run_all_solu; "
            "expected a model's name or file");
  EXPECT_EQ(error("-m llama3-8b --profile x"),
            "--profile has no effect: there is no --run_all_solu or --config");
  EXPECT_EQ(error("-m llama3-8b --global_batch_size 4194304"),
            "--global-batch-size has no effect: tokens of a step go with "
            "--run_all_solu or --config; --global-batch is in sequences");
}

}  // namespace
}  // namespace astra
