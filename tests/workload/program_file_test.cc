#include "workload/program_file.h"

#include <string>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WithLine;

// As FormatProgram writes it.
constexpr std::string_view kFile =
    "simai_program: 1\n"
    "sizes: {gpus: 64, tp: 8, cp: 1, pp: 2, ep: 1, etp: 8, vpp: 1, "
    "micro_batches: 16}\n"
    "phase: training\n"
    "pipeline_message: 16777216\n"
    "modules:\n"
    "  - name: column\n"
    "    forward:\n"
    "      - {blocking: all-gather, over: TP, bytes: 16777216}\n"
    "      - {compute: 812.113us}\n"
    "    recompute:\n"
    "      - {compute: 0.000001us}\n"
    "    input_gradient:\n"
    "      - {prefetch: all-gather, over: DP, bytes: 7, when: first}\n"
    "    weight_gradient:\n"
    "      - {launch: reduce-scatter, over: CP, bytes: 5, when: last}\n"
    "      - {wait: CP, when: last}\n"
    "  - name: \"a \\\"b\\\": c\"\n"
    "stages:\n"
    "  - count: 1\n"
    "    run:\n"
    "      - {modules: [column]}\n"
    "      - {times: 8, modules: [column, column]}\n"
    "    after: [\"a \\\"b\\\": c\"]\n"
    "  - count: 1\n"
    "    run:\n"
    "      - {modules: [column]}\n";

TEST(ProgramFileTest, ReadsWhatItSays) {
  const Program program = ValueOrDie(ParseProgram("p", kFile));
  EXPECT_EQ(program.sizes(), (ParallelSizes{.num_ranks = 64,
                                            .tensor = 8,
                                            .expert_tensor = 8,
                                            .pipeline = 2,
                                            .micro_batches = 16}));
  EXPECT_FALSE(program.forward_only());
  EXPECT_EQ(program.pipeline_message(), MiB(16));
  ASSERT_EQ(program.modules().size(), 2u);
  const ProgramModule& column = program.module(ModuleId(0));
  EXPECT_EQ(column.name, "column");
  EXPECT_EQ(column.passes[0][0],
            (Step{.kind = StepKind::kBlocking,
                  .communication = {CollectiveKind::kAllGather,
                                    ParallelDimension::kTensor, MiB(16)}}));
  EXPECT_EQ(column.passes[0][1], Step{.compute = Nanoseconds(812'113)});
  EXPECT_EQ(column.passes[1][0], Step{.compute = TimePs(1)});
  EXPECT_EQ(column.passes[2][0],
            (Step{.kind = StepKind::kPrefetch,
                  .when = StepWhen::kFirst,
                  .communication = {CollectiveKind::kAllGather,
                                    ParallelDimension::kData, Bytes(7)}}));
  EXPECT_EQ(
      column.passes[3][1],
      (Step{.kind = StepKind::kWait,
            .when = StepWhen::kLast,
            .communication = {.dimension = ParallelDimension::kContext}}));
  EXPECT_EQ(program.module(ModuleId(1)).name, "a \"b\": c");
  const ModuleId id(0);
  EXPECT_EQ(program.stages()[0],
            (ProgramStage{
                .runs = {{.modules = {id}}, {.times = 8, .modules = {id, id}}},
                .after = {ModuleId(1)}}));
}

TEST(ProgramFileTest, WritesWhatItReads) {
  EXPECT_EQ(FormatProgram(ValueOrDie(ParseProgram("p", kFile))), kFile);
}

TEST(ProgramFileTest, MostMayBeLeftOut) {
  const Program program =
      ValueOrDie(ParseProgram("p",
                              "# A comment.\n"
                              "simai_program: 1\n"
                              "sizes: {gpus: 4, tp: 2}\n"
                              "modules: [{name: idle}]\n"
                              "stages: [{run: [{modules: idle}]}]\n"));
  EXPECT_EQ(program.sizes(),
            (ParallelSizes{.num_ranks = 4, .tensor = 2, .expert_tensor = 2}));
  EXPECT_EQ(FormatProgram(program),
            "simai_program: 1\n"
            "sizes: {gpus: 4, tp: 2, cp: 1, pp: 1, ep: 1, etp: 2, vpp: 1, "
            "micro_batches: 1}\n"
            "phase: training\n"
            "modules:\n"
            "  - name: idle\n"
            "stages:\n"
            "  - count: 1\n"
            "    run:\n"
            "      - {modules: [idle]}\n");
}

TEST(ProgramFileTest, AnyNameAndTimeIsReadBack) {
  for (const std::string name :
       {"null", "~", "1", "true", "- a", "a: b", "#", "[", " x ", "\\", "\"",
        "'", "\xc3\xa9", "a,b", "simai_program", "yes", "%", "!x", "&a"}) {
    for (const int64_t ps :
         {int64_t{0}, int64_t{1}, int64_t{999'999}, int64_t{1'000'000},
          int64_t{123'456'789'012'345'678},
          int64_t{1'000'000'000'000'000'000}}) {
      ProgramParts parts;
      parts.forward_only = true;
      parts.modules.resize(1);
      parts.modules[0].name = name;
      parts.modules[0].passes[0] = {{.compute = TimePs(ps)}};
      parts.stages = {{.runs = {{.modules = {ModuleId(0)}}}}};
      const Program program = ValueOrDie(Program::Create(parts));
      EXPECT_EQ(ValueOrDie(ParseProgram("p", FormatProgram(program))), program)
          << name << " " << ps;
    }
  }
}

TEST(ProgramFileTest, IsKnownByItsFirstKey) {
  EXPECT_TRUE(IsProgram(kFile));
  EXPECT_TRUE(IsProgram("# a\n\n  \t# b\r\nsimai_program : 1\n"));
  EXPECT_FALSE(IsProgram(""));
  EXPECT_FALSE(IsProgram("# simai_program: 1"));
  EXPECT_FALSE(IsProgram("simai_program"));
  EXPECT_FALSE(IsProgram("simai_programs: 1"));
  EXPECT_FALSE(IsProgram("HYBRID_TRANSFORMER simai_program: 1\n"));
}

TEST(ProgramFileTest, ReadsFiles) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.PathOf("p.yaml");
  EXPECT_THAT(ReadProgram(path),
              StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  testing::WriteText(path, kFile);
  EXPECT_EQ(FormatProgram(ValueOrDie(ReadProgram(path))), kFile);
}

class BadProgramFileTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadProgramFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseProgram("p", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

BadInput Line(std::string name, size_t number, std::string_view line,
              std::string message) {
  return {std::move(name), WithLine(kFile, number, line), std::move(message)};
}

INSTANTIATE_TEST_SUITE_P(
    All, BadProgramFileTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "p:1:1: a program is nothing, expected a mapping"},
        BadInput{"NoMark", "sizes: {gpus: 1}\n",
                 "p:1:1: a program has no \"simai_program\""},
        BadInput{"NoSizes", "simai_program: 1\n",
                 "p:1:1: a program has no \"sizes\""},
        BadInput{"NoStages", "simai_program: 1\nsizes: {gpus: 1}\n",
                 "p: the counts of the stages add up to 0, but PP is 1"},
        Line("Version", 1, "simai_program: 2",
             "p:1:16: simai_program is \"2\": expected a whole number from 1 "
             "to 1"),
        Line("Sizes", 2, "sizes: {gpus: 0}",
             "p:2:15: gpus is \"0\": expected a whole number from 1 to "
             "16777216"),
        Line("SizeKey", 2, "sizes: {gpus: 8, dp: 3}",
             "p:2:22: unknown field of sizes \"dp\"; did you mean \"cp\"? "
             "(known: cp, ep, etp, gpus, micro_batches, pp, tp, vpp)"),
        Line("SizesThatDoNotDivide", 2, "sizes: {gpus: 9, pp: 2}",
             "p: TP 1 x PP 2 does not divide the 9 GPUs: there is no whole "
             "DP"),
        Line("Phase", 3, "phase: trainin",
             "p:3:8: unknown phase \"trainin\"; did you mean \"training\"? "
             "(known: training, inference)"),
        Line("Inference", 3, "phase: inference",
             "p: module \"column\" has a backward pass, but inference has "
             "none"),
        Line("Message", 4, "pipeline_message: 16MiB",
             "p:4:19: pipeline_message is \"16MiB\": expected a whole number "
             "of at least 0"),
        Line("Modules", 5, "modules: {}\nmodule:",
             "p:5:10: modules is a mapping, expected a list"),
        Line("NoName", 6, "  - nam: column", "p:6:5: a module has no \"name\""),
        Line("Pass", 7, "    forwards:",
             "p:8:7: unknown field of a module \"forwards\"; did you mean "
             "\"forward\"? (known: forward, input_gradient, name, recompute, "
             "weight_gradient)"),
        Line("SameName", 17, "  - name: column",
             "p:17:11: module \"column\" is there twice"),
        Line("StepKind", 8, "      - {block: all-gather}",
             "p:8:9: a step has none of the fields compute, blocking, launch, "
             "prefetch, wait"),
        Line("TwoKinds", 9, "      - {compute: 1us, wait: TP}",
             "p:9:30: unknown field of a step \"wait\"; did you mean "
             "\"when\"? (known: compute, when)"),
        Line("Collective", 8,
             "      - {blocking: allgather, over: TP, bytes: 1}",
             "p:8:20: unknown blocking \"allgather\"; did you mean "
             "\"all-gather\"? (known: all-reduce, all-gather, "
             "reduce-scatter, all-to-all, send-recv, broadcast, reduce, "
             "gather, scatter)"),
        Line("Dimension", 8,
             "      - {blocking: all-gather, over: DPEP, bytes: 1}",
             "p:8:38: unknown over \"DPEP\"; did you mean \"DP_EP\"? (known: "
             "TP, DP, EP, DP_EP, PP, CP, ETP)"),
        Line("Pipeline", 8,
             "      - {blocking: all-gather, over: PP, bytes: 1}",
             "p: module \"column\", forward step 1: over PP, where there is "
             "nothing but the pipeline message"),
        Line("NoBytes", 8, "      - {blocking: all-gather, over: TP}",
             "p:8:9: a step has no \"bytes\""),
        Line("Time", 9, "      - {compute: 812}",
             "p:9:19: \"812\" is not a time: expected a number and a unit of "
             "s, ms, us, ns or ps, such as 500ns"),
        Line("When", 16, "      - {wait: CP, when: never}",
             "p:16:26: unknown when \"never\"; did you mean \"each\"? (known: "
             "each, first, last)"),
        Line("WaitForNothing", 16, "      - {wait: XP}",
             "p:16:16: unknown wait \"XP\"; did you mean \"TP\"? (known: TP, "
             "DP, EP, DP_EP, PP, CP, ETP)"),
        Line("Count", 19, "  - count: 0",
             "p:19:12: count is \"0\": expected a whole number from 1 to "
             "16777216"),
        Line("Counts", 19, "  - count: 2",
             "p: the counts of the stages add up to 3, but PP is 2"),
        Line("Times", 22, "      - {times: 0, modules: [column]}",
             "p:22:17: times is \"0\": expected a whole number from 1 to "
             "1048576"),
        Line("Module", 21, "      - {modules: [colum]}",
             "p:21:19: unknown module \"colum\"; did you mean \"column\"? "
             "(known: a \"b\": c, column)"),
        Line("NoModules", 26, "      - {}",
             "p: stage entry 2: it runs no "
             "module"),
        Line("NotYaml", 21, "      - {modules: [column}",
             "p:21:26: not YAML: illegal flow end")),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
