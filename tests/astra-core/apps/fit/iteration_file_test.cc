#include "astra-core/apps/fit/iteration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string ErrorOf(std::string_view text) {
  return std::string(ParseIterations("f", text).status().message());
}

TEST(IterationFileTest, OptionsOfAnIterationGoBeforeTheSharedOnes) {
  const auto file = ParseIterations("f",
                                    "name: ours\n"
                                    "gen_workload: {model: m.json, tp: 4}\n"
                                    "simai_analytical: {system: dgx-h100}\n"
                                    "iterations:\n"
                                    "- seconds: 4.2\n"
                                    "  gen_workload: {tp: 8, sp: true}\n"
                                    "  trace: rank0.json\n"
                                    "- {seconds: 8, spread_pct: 0.5}\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->name, "ours");
  ASSERT_EQ(file->iterations.size(), 2U);
  const MeasuredIteration& first = file->iterations[0];
  EXPECT_EQ(first.place, "f:5:12");
  EXPECT_EQ(first.seconds, 4.2);
  EXPECT_EQ(first.spread_pct, 2);
  EXPECT_EQ(first.trace, "rank0.json");
  EXPECT_THAT(first.gen_workload,
              ElementsAre("--model=m.json", "--tp=8", "--sp"));
  EXPECT_THAT(first.simai_analytical, ElementsAre("--system=dgx-h100"));
  const MeasuredIteration& second = file->iterations[1];
  EXPECT_EQ(second.spread_pct, 0.5);
  EXPECT_THAT(second.trace, IsEmpty());
  EXPECT_THAT(second.gen_workload, ElementsAre("--model=m.json", "--tp=4"));
}

TEST(IterationFileTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ErrorOf("name: ours\n"),
            "f:1:1: expected at least one measured iteration");
  EXPECT_EQ(ErrorOf("name: a/b\niterations: [{seconds: 1}]\n"),
            "f:1:7: name is \"a/b\": expected letters, digits, \"-\" and "
            "\"_\"");
  EXPECT_EQ(ErrorOf("name: a\niterations: [{seconds: 0}]\n"),
            "f:2:24: seconds is \"0\": expected a number from 1e-06 to "
            "1000000");
  EXPECT_EQ(ErrorOf("name: a\niterations: [{second: 1}]\n"),
            "f:2:23: unknown field of an iteration \"second\"; did you mean "
            "\"seconds\"? (known: gen_workload, seconds, simai_analytical, "
            "spread_pct, trace)");
  EXPECT_EQ(ErrorOf("name: a\niterations: [{seconds: 1}]\nload: 1\n"),
            "f:3:7: unknown field of measured iterations \"load\" (known: "
            "gen_workload, iterations, name, simai_analytical)");
  EXPECT_EQ(
      ErrorOf("name: a\ngen_workload: [tp]\niterations: [{seconds: 1}]"),
      "f:2:15: the options of gen_workload is a list, expected a mapping");
}

}  // namespace
}  // namespace astra
