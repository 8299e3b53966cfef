#include "collectives/schedules/schedule_file.h"

#include <string>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WithLine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kAllPairs =
    ::astra::testing::SourcePath("inputs/schedules/all_pairs_8.yaml");

// As WriteSchedule writes it.
constexpr std::string_view kFile =
    "name: \"exchange\"\n"
    "kind: all-reduce\n"
    "ranks: 2\n"
    "chunks: 2\n"
    "channels: 2\n"
    "steps:\n"
    "  - {send: 0, to: 1, chunk: 1, reduce: true}\n"
    "  - {send: 1, to: 0, chunk: 0, reduce: true, channel: 1}\n"
    "  - {send: 0, to: 1, chunk: 0}\n"
    "  - {send: 1, to: 0, chunk: 1, after: [0, 1]}\n";

std::string Head(std::string_view kind, int ranks, int chunks) {
  return fmt::format("name: n\nkind: {}\nranks: {}\nchunks: {}\nsteps:\n", kind,
                     ranks, chunks);
}

TEST(ScheduleFile, ReadsEveryField) {
  const CustomSchedule schedule = ValueOrDie(ParseSchedule("f", kFile));
  EXPECT_EQ(schedule.name(), "exchange");
  EXPECT_EQ(schedule.collective().kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(schedule.collective().num_ranks, 2);
  EXPECT_EQ(schedule.collective().num_chunks, 2);
  ASSERT_EQ(schedule.flows().size(), 4);
  EXPECT_EQ(schedule.flows()[1], (ScheduleFlow{.source = GroupRank(1),
                                               .target = GroupRank(0),
                                               .first_chunk = ChunkId(0),
                                               .num_chunks = 1,
                                               .channel = 1,
                                               .op = FlowOp::kReduce}));
  EXPECT_THAT(schedule.flows()[3].after, ElementsAre(0, 1));
}

TEST(ScheduleFile, AStepWaitsForWhatBroughtItsChunks) {
  const CustomSchedule schedule = ValueOrDie(ParseSchedule("f", kFile));
  EXPECT_THAT(schedule.flows()[0].after, IsEmpty());
  EXPECT_THAT(schedule.flows()[1].after, IsEmpty());
  EXPECT_THAT(schedule.flows()[2].after, ElementsAre(1));
}

// The copy of step 2 replaces what step 0 brought, so step 3 waits for it only.
TEST(ScheduleFile, AStepWaitsForNothingThatWasReplaced) {
  const CustomSchedule schedule = ValueOrDie(
      ParseSchedule("f", Head("all-reduce", 2, 1) +
                             "  - {send: 0, to: 1, chunk: 0, reduce: true}\n"
                             "  - {send: 1, to: 0, chunk: 0}\n"
                             "  - {send: 0, to: 1, chunk: 0}\n"
                             "  - {send: 1, to: 0, chunk: 0}\n"));
  EXPECT_THAT(schedule.flows()[3].after, ElementsAre(2));
}

TEST(ScheduleFile, TwoRanksCanSwapTheirContributions) {
  const std::string first = Head("all-reduce", 2, 3) +
                            "  - {send: 0, to: 1, chunk: 0, count: 3, reduce: "
                            "true}\n";
  EXPECT_THAT(
      ParseSchedule("f", first + "  - {send: 1, to: 0, chunk: 0, count: 3, "
                                 "reduce: true, after: []}\n"),
      StatusIs(absl::StatusCode::kOk, ""));
  // By default the second sends what it got from the first.
  EXPECT_THAT(
      ParseSchedule("f", first + "  - {send: 1, to: 0, chunk: 0, count: 3, "
                                 "reduce: true}\n"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "f:7:12: step 1 adds rank 0's contribution to chunk 0 of rank "
               "0, which has it"));
}

TEST(ScheduleFile, WhatIsWrittenIsReadAsItWas) {
  EXPECT_EQ(ValueOrDie(WriteSchedule(ValueOrDie(ParseSchedule("f", kFile)))),
            kFile);
}

// Each rank gets 7 contributions to its chunk, and sends it after them.
TEST(ScheduleFile, AllPairsOf8Ranks) {
  const CustomSchedule schedule = ValueOrDie(ReadSchedule(kAllPairs));
  ASSERT_EQ(schedule.flows().size(), 2 * 8 * 7);
  for (size_t i = 0; i < 8 * 7; ++i) {
    EXPECT_THAT(schedule.flows()[i].after, IsEmpty());
    EXPECT_EQ(schedule.flows()[8 * 7 + i].after.size(), 7);
  }
  const std::string written = ValueOrDie(WriteSchedule(schedule));
  EXPECT_EQ(ValueOrDie(ParseSchedule("f", written)).flows(), schedule.flows());
}

// The fewest steps of each kind over 3 ranks, root 0, and what fails without
// the last of them.
struct Kind {
  std::string name;
  int chunks;
  std::vector<std::string> steps;
  std::string without_last;
};

class EveryKind : public ::testing::TestWithParam<Kind> {};

TEST_P(EveryKind, EndsWithWhatItDemands) {
  std::string file =
      Head(GetParam().name, GetParam().name == "send-recv" ? 2 : 3,
           GetParam().chunks);
  std::string shorter;
  for (const std::string& step : GetParam().steps) {
    shorter = file;
    file += fmt::format("  - {{{}}}\n", step);
  }
  const auto schedule = ParseSchedule("f", file);
  ASSERT_THAT(schedule, StatusIs(absl::StatusCode::kOk, ""));
  const std::string written = ValueOrDie(WriteSchedule(*schedule));
  EXPECT_EQ(ValueOrDie(ParseSchedule("f", written)).flows(), schedule->flows());
  if (GetParam().steps.size() == 1) return;
  EXPECT_THAT(ParseSchedule("f", shorter),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "f:6:3: " + GetParam().without_last));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryKind,
    ::testing::Values(
        Kind{"all-reduce",
             1,
             {"send: 1, to: 0, chunk: 0, reduce: true",
              "send: 2, to: 0, chunk: 0, reduce: true",
              "send: 0, to: 1, chunk: 0", "send: 0, to: 2, chunk: 0"},
             "rank 2 ends without chunk 0's contribution of rank 0"},
        Kind{"reduce",
             1,
             {"send: 1, to: 2, chunk: 0, reduce: true",
              "send: 2, to: 0, chunk: 0, reduce: true"},
             "rank 0 ends without chunk 0's contribution of rank 1"},
        Kind{"reduce-scatter",
             3,
             {"send: 0, to: 1, chunk: 1, reduce: true",
              "send: 0, to: 2, chunk: 2, reduce: true",
              "send: 1, to: 0, chunk: 0, reduce: true",
              "send: 1, to: 2, chunk: 2, reduce: true",
              "send: 2, to: 0, chunk: 0, reduce: true",
              "send: 2, to: 1, chunk: 1, reduce: true"},
             "rank 1 ends without chunk 1's contribution of rank 2"},
        Kind{"all-gather",
             3,
             {"send: 0, to: 1, chunk: 0", "send: 2, to: 0, chunk: 2",
              "send: 1, to: 2, chunk: 0, count: 2", "send: 0, to: 1, chunk: 2",
              "send: 2, to: 0, chunk: 1"},
             "rank 0 ends without chunk 1 of rank 1"},
        Kind{"broadcast",
             1,
             {"send: 0, to: 1, chunk: 0", "send: 1, to: 2, chunk: 0"},
             "rank 2 ends without chunk 0 of rank 0"},
        Kind{"gather",
             3,
             {"send: 2, to: 1, chunk: 2", "send: 1, to: 0, chunk: 1, count: 2"},
             "rank 0 ends without chunk 1 of rank 1"},
        Kind{"scatter",
             3,
             {"send: 0, to: 1, chunk: 1, count: 2", "send: 1, to: 2, chunk: 2"},
             "rank 2 ends without chunk 2 of rank 0"},
        // Chunk 3 i + j goes from rank i to rank j.
        Kind{"all-to-all",
             9,
             {"send: 0, to: 1, chunk: 1, count: 2", "send: 1, to: 0, chunk: 3",
              "send: 1, to: 2, chunk: 5", "send: 2, to: 1, chunk: 7",
              "send: 2, to: 0, chunk: 6", "send: 1, to: 2, chunk: 2"},
             "rank 2 ends without chunk 2 of rank 0"},
        Kind{"send-recv", 2, {"send: 0, to: 1, chunk: 0, count: 2"}, ""}),
    [](const auto& kind) {
      std::string name = kind.param.name;
      std::erase(name, '-');
      return name;
    });

class BadSchedule : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadSchedule, IsRefused) {
  EXPECT_THAT(ParseSchedule("f", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

std::string Line(size_t number, std::string_view text) {
  return WithLine(kFile, number, text);
}

INSTANTIATE_TEST_SUITE_P(
    Heads, BadSchedule,
    ::testing::Values(
        BadInput{"Empty", "",
                 "f:1:1: a schedule is nothing, expected a mapping"},
        BadInput{"NoSteps", "name: n\nkind: reduce\nranks: 2\nchunks: 1\n",
                 "f:1:1: a schedule has no \"steps\""},
        BadInput{"NoName", Line(1, "name: \"\""),
                 "f:7:3: the name \"\": expected one without control "
                 "characters"},
        BadInput{"UnknownKind", Line(2, "kind: all-reduct"),
                 "f:2:7: unknown kind \"all-reduct\"; did you mean "
                 "\"all-reduce\"? (known: all-reduce, all-gather, "
                 "reduce-scatter, all-to-all, send-recv, broadcast, reduce, "
                 "gather, scatter, dispatch, combine)"},
        BadInput{"OneRank", Line(3, "ranks: 1"),
                 "f:3:8: ranks is \"1\": expected a whole number from 2 to "
                 "1024"},
        BadInput{"TooManyRanks", Line(3, "ranks: 1025"),
                 "f:3:8: ranks is \"1025\": expected a whole number from 2 to "
                 "1024"},
        BadInput{
            "TooManyChunks", Line(4, "chunks: 65537"),
            "f:4:9: chunks is \"65537\": expected a whole number from 1 to "
            "65536"},
        BadInput{"ChunksOfNoPart", Line(2, "kind: all-to-all"),
                 "f:7:3: 2 chunks: expected a multiple of 4 for the all-to-all "
                 "of 2 ranks"},
        BadInput{"RootOfNothing", Line(5, "root: 0"),
                 "f:5:7: no all-reduce has a root"},
        BadInput{
            "UnknownField", Line(5, "chanels: 2"),
            "f:5:10: unknown field of a schedule \"chanels\"; did you mean "
            "\"channels\"? (known: channels, chunks, kind, name, ranks, "
            "root, steps)"}),
    [](const auto& bad) { return bad.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Steps, BadSchedule,
    ::testing::Values(
        BadInput{"RankThatIsNotThere",
                 Line(7, "  - {send: 2, to: 1, chunk: 1}"),
                 "f:7:12: send is \"2\": expected a whole number from 0 to 1"},
        BadInput{"ToItself", Line(7, "  - {send: 1, to: 1, chunk: 1}"),
                 "f:7:12: step 0 goes from rank 1 to itself"},
        BadInput{"ChunkThatIsNotThere",
                 Line(7, "  - {send: 0, to: 1, chunk: 1, count: 2}"),
                 "f:7:39: count is \"2\": expected a whole number from 1 to 1"},
        BadInput{"ChannelThatIsNotThere",
                 Line(7, "  - {send: 0, to: 1, chunk: 1, channel: 2}"),
                 "f:7:41: channel is \"2\": expected a whole number from 0 to "
                 "1"},
        BadInput{"NoChunk", Line(7, "  - {send: 0, to: 1}"),
                 "f:7:5: a step has no \"chunk\""},
        BadInput{"AfterOfTheFirst",
                 Line(7, "  - {send: 0, to: 1, chunk: 1, after: [0]}"),
                 "f:7:39: the first step has none to wait for"},
        BadInput{"AfterItself",
                 Line(9, "  - {send: 0, to: 1, chunk: 0, after: [2]}"),
                 "f:9:39: the step to wait for is \"2\": expected a whole "
                 "number from 0 to 1"},
        BadInput{"AfterNoList",
                 Line(9, "  - {send: 0, to: 1, chunk: 0, after: 1}"),
                 "f:9:39: after is no list: expected positions of steps"},
        // Rank 1's sum of chunk 0 is replaced by one that lacks rank 1.
        BadInput{"LostContribution",
                 Line(9, "  - {send: 0, to: 1, chunk: 0, after: []}"),
                 "f:7:3: rank 1 ends without chunk 0's contribution of rank "
                 "1"},
        BadInput{"LastStepMissing", Line(10, ""),
                 "f:7:3: rank 0 ends without chunk 1's contribution of rank "
                 "1"}),
    [](const auto& bad) { return bad.param.name; });

TEST(ScheduleFile, AStepMustHaveWhatItSends) {
  EXPECT_THAT(ParseSchedule("f", Head("broadcast", 3, 1) +
                                     "  - {send: 1, to: 2, chunk: 0}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "f:6:12: step 0 sends chunk 0, of which rank 1 has "
                       "nothing from the steps that it waits for"));
}

// Rank 1 may get rank 2's copy before or after it adds rank 0's contribution.
TEST(ScheduleFile, ACopyMustWaitForWhatItReplaces) {
  EXPECT_THAT(
      ParseSchedule("f", Head("reduce", 3, 1) +
                             "  - {send: 0, to: 1, chunk: 0, reduce: true}\n"
                             "  - {send: 2, to: 1, chunk: 0}\n"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "f:7:12: step 1 replaces what step 0 brings of chunk 0 to rank "
               "1 without waiting for it"));
}

// 70 ranks: more than one word of a set, and more than 64 flows.
TEST(ScheduleFile, AChainOf70RanksReducesAndComesBack) {
  std::string file = Head("all-reduce", 70, 1);
  for (int i = 0; i < 69; ++i) {
    file += fmt::format("  - {{send: {}, to: {}, chunk: 0, reduce: true}}\n", i,
                        i + 1);
  }
  for (int i = 69; i > 0; --i) {
    file += fmt::format("  - {{send: {}, to: {}, chunk: 0}}\n", i, i - 1);
  }
  EXPECT_THAT(ParseSchedule("f", file), StatusIs(absl::StatusCode::kOk, ""));
  // A step that replaces rank 0's chunk waits for nothing that came there.
  EXPECT_THAT(
      ParseSchedule("f",
                    file + "  - {send: 69, to: 35, chunk: 0, after: []}\n"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "f:144:12: step 138 replaces what step 34 brings of chunk 0 to "
               "rank 35 without waiting for it"));
}

}  // namespace
}  // namespace astra
