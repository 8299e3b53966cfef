#include "astra-core/apps/plan/plan_objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/astra-core/apps/plan/plan_test_job.h"

namespace astra {
namespace {

using ::astra::testing::ReadPlanner;
using ::astra::testing::SearchAs;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const SimaiPlannerOptions& Options() {
  static const auto& options = *new SimaiPlannerOptions(
      ReadPlanner("-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 "
                  "--seq-length 4096 --candidates 3"));
  return options;
}

std::string ErrorOf(std::string_view line) {
  return std::string(ParseLayout(Options(), line).status().message());
}

TEST(PlanObjectiveTest, AbsentKeysAreAsUsual) {
  const Layout layout =
      ValueOrDie(ParseLayout(Options(), R"({"tp": 2, "pp": 2, "vpp": 4})"));
  EXPECT_EQ(layout.tensor, 2);
  EXPECT_EQ(layout.context, 1);
  EXPECT_TRUE(layout.sequence_parallel);
  EXPECT_EQ(layout.zero, Zero::kOptimizer);  // Megatron's.
  EXPECT_EQ(Name(layout.schedule), "interleaved");
  const Layout some = ValueOrDie(ParseLayout(
      Options(), R"({"recompute": "full", "recompute_layers": 3})"));
  EXPECT_EQ(some.recompute.layers, 3);
  EXPECT_EQ(some.recompute.method, RecomputeMethod::kBlock);
  EXPECT_FALSE(ValueOrDie(ParseLayout(Options(), R"({"tp": 2, "sp": false})"))
                   .sequence_parallel);
}

TEST(PlanObjectiveTest, AnswersAsTheSearchDoes) {
  const SearchResult search =
      SearchAs(Options(), {.most = 3, .memory_bytes = int64_t{1} << 50});
  const Layout& best = search.best.front().layout;
  const Plan plan = ValueOrDie(RunLayout(Options(), best));
  const std::string line = fmt::format(
      R"({{"tp": {}, "cp": {}, "pp": {}, "vpp": {}, "micro_batch": {}, "zero": )"
      R"({}, "recompute": "{}"}})",
      best.tensor, best.context, best.pipeline, best.virtual_stages,
      best.micro_batch, static_cast<int>(best.zero),
      kRecomputeNames[static_cast<size_t>(best.recompute.kind)]);
  const std::string answer = ValueOrDie(AnswerLayout(Options(), line));
  EXPECT_THAT(answer, StartsWith(R"({"legal":true,"fits":)"));
  EXPECT_THAT(answer, HasSubstr(fmt::format("\"reserved_bytes\":{}",
                                            plan.reserved.count())));
}

TEST(PlanObjectiveTest, ALayoutThatBreaksARuleIsAnAnswer) {
  EXPECT_EQ(ValueOrDie(AnswerLayout(Options(), R"({"pp": 3})")),
            "{\"legal\":false,\"why\":\"TP 1 x PP 3 does not divide the 8 "
            "GPUs: there is no whole DP\"}\n");
}

TEST(PlanObjectiveTest, AFixedStageOfZeroIsARule) {
  SimaiPlannerOptions options = Options();
  options.workloads.front().framework.fixed_zero = true;
  options.workloads.front().framework.zero = 3;
  EXPECT_THAT(ValueOrDie(AnswerLayout(options, R"({"zero": 1})")),
              AllOf(StartsWith(R"({"legal":false,"why":"\"zero\" is 1: )"),
                    HasSubstr("has stage 3 only")));
}

TEST(PlanObjectiveTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("tp 8"),
            "expected a JSON object such as {\"tp\": 8, \"pp\": 4}");
  EXPECT_THAT(ErrorOf(R"({"tpp": 8})"),
              StartsWith("unknown key \"tpp\"; did you mean \"tp\"?"));
  EXPECT_EQ(ErrorOf(R"({"tp": 0})"),
            "\"tp\" is 0: expected a whole number from 1 to 16777216");
  EXPECT_EQ(ErrorOf(R"({"sp": 1})"), "\"sp\" is 1: expected true or false");
  EXPECT_EQ(ErrorOf(R"({"recompute": 1})"),
            "\"recompute\" is 1: expected a name");
  EXPECT_EQ(ErrorOf(R"({"recompute": "all"})"),
            "unknown recompute \"all\" (known: none, selective, full)");
  EXPECT_EQ(ErrorOf(R"({"cp_method": "ring"})"),
            "\"cp_method\" has no effect: CP is 1");
  EXPECT_EQ(ErrorOf(R"({"recompute_layers": 2})"),
            "\"recompute_layers\" has no effect: \"recompute\" is not "
            "\"full\"");
  EXPECT_EQ(ErrorOf(R"({"recompute": "full", "recompute_method": "block"})"),
            "\"recompute_method\" has no effect: there is no "
            "\"recompute_layers\"");
}

TEST(PlanObjectiveTest, RefusesAClusterWithOtherGpusBeforeTheFirstLine) {
  const SimaiPlannerOptions options = ReadPlanner(
      "-m llama3-8b --gpu H100 --gpus 8 --global-batch 16 "
      "--seq-length 4096 --system dgx-a100 --objective");
  EXPECT_EQ(AnswerStdin(options).message(),
            "--gpu-type is \"h100-sxm\", but --system has \"a100-sxm-80gb\"");
}

}  // namespace
}  // namespace astra
