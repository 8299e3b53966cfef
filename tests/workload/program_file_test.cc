#include "workload/program_file.h"

#include <string>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::ScheduleList;
using ::astra::testing::ScheduleNamed;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;
using ::astra::testing::WithLine;

// As FormatProgram writes it.
constexpr std::string_view kFile =
    "simai_program: 1\n"
    "sizes: {gpus: 64, tp: 8, cp: 1, pp: 2, ep: 1, etp: 8, vpp: 1, "
    "micro_batches: 16}\n"
    "phase: training\n"
    "schedule: 1f1b\n"
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

// Two chunks of each stage, and what else is known. As FormatProgram writes it.
constexpr std::string_view kChunkedFile =
    "simai_program: 1\n"
    "sizes: {gpus: 4, tp: 1, cp: 1, pp: 2, ep: 1, etp: 1, vpp: 2, "
    "micro_batches: 4}\n"
    "phase: training\n"
    "schedule: zb-v\n"
    "gpu: {name: \"h100-sxm\", memory: 80000000000, peak_tflops: 989.4, "
    "communication_slowdown: 0.125}\n"
    "work: {tokens: 4096, model_flops: 1.5e+18}\n"
    "routing: {experts: 256, top_k: 8, groups: 8, top_groups: 4}\n"
    "modules:\n"
    "  - name: block\n"
    "    memory: {weights: 1, gradients: 2, optimizer: 3, saved: 4, workspace: "
    "5, cache: 6}\n"
    "stages:\n"
    "  - count: 2\n"
    "    run:\n"
    "      - {times: 3, modules: [block]}\n"
    "      - {times: 2, chunk: 1, modules: [block]}\n";

TEST(ProgramFileTest, ReadsChunksMemoryGpuWorkAndRouting) {
  const Program program = ValueOrDie(ParseProgram("p", kChunkedFile));
  EXPECT_EQ(program.schedule(), ScheduleNamed("zb-v"));
  EXPECT_EQ(program.sizes().virtual_stages, 2);
  EXPECT_EQ(program.gpu(), (ProgramGpu{.memory = Bytes(80'000'000'000),
                                       .peak_tflops = 989.4,
                                       .communication_slowdown = 0.125,
                                       .name = "h100-sxm"}));
  EXPECT_EQ(program.work(),
            (ProgramWork{.tokens = 4096, .model_flops = 1.5e18}));
  EXPECT_EQ(program.routing(),
            (ExpertRouting{
                .experts = 256, .top_k = 8, .groups = 8, .top_groups = 4}));
  EXPECT_EQ(program.module(ModuleId(0)).memory,
            (ModuleMemory{Bytes(1), Bytes(2), Bytes(3), Bytes(4), Bytes(5),
                          Bytes(6)}));
  const ModuleRun first = {.times = 3, .modules = {ModuleId(0)}};
  const ModuleRun second = {.times = 2, .modules = {ModuleId(0)}, .chunk = 1};
  EXPECT_EQ(program.stage(1).runs, (std::vector<ModuleRun>{first, second}));
  EXPECT_EQ(FormatProgram(program), kChunkedFile);
}

TEST(ProgramFileTest, RoutingMayBeLeftOutAndHasOneGroupByDefault) {
  EXPECT_EQ(ValueOrDie(ParseProgram("p", kFile)).routing(), std::nullopt);
  constexpr std::string_view kRouting = "routing: {experts: 8, top_k: 2}";
  const std::string text = WithLine(kChunkedFile, 7, kRouting);
  const Program program = ValueOrDie(ParseProgram("p", text));
  EXPECT_EQ(program.routing(), (ExpertRouting{.experts = 8, .top_k = 2}));
  EXPECT_EQ(FormatProgram(program), text);
}

// Chunks without a schedule are interleaved.
TEST(ProgramFileTest, TheScheduleFollowsFromTheChunks) {
  std::string contents(kChunkedFile);
  contents.erase(contents.find("schedule"), 15);
  const Program program = ValueOrDie(ParseProgram("p", contents));
  EXPECT_EQ(program.schedule(), ScheduleNamed("interleaved"));
}

TEST(ProgramFileTest, ReadsTheOrderItWrites) {
  const std::string text =
      WithLine(kFile, 2,
               "sizes: {gpus: 64, tp: 8, cp: 1, pp: 2, ep: 1, etp: 8, vpp: 1, "
               "micro_batches: 16, order: tp-cp-ep-pp-dp}");
  const Program program = ValueOrDie(ParseProgram("p", text));
  EXPECT_EQ(Name(program.sizes().order), "tp-cp-ep-pp-dp");
  EXPECT_EQ(FormatProgram(program), text);
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

BadInput Chunked(std::string name, size_t number, std::string_view line,
                 std::string message) {
  return {std::move(name), WithLine(kChunkedFile, number, line),
          std::move(message)};
}

BadInput Routing(std::string name, std::string_view routing,
                 std::string message) {
  return Chunked(std::move(name), 7, fmt::format("routing: {}", routing),
                 std::move(message));
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
                 "p:1:1: the counts of the stages add up to 0, but PP is 1"},
        Line("Version", 1, "simai_program: 2",
             "p:1:16: simai_program is \"2\": expected a whole number from 1 "
             "to 1"),
        Line("Sizes", 2, "sizes: {gpus: 0}",
             "p:2:15: gpus is \"0\": expected a whole number from 1 to "
             "16777216"),
        Line("SizeKey", 2, "sizes: {gpus: 8, dp: 3}",
             "p:2:22: unknown field of sizes \"dp\"; did you mean \"cp\"? "
             "(known: cp, ep, etp, gpus, micro_batches, order, pp, tp, vpp)"),
        Line("Order", 2, "sizes: {gpus: 8, order: tp-dp}",
             "p:2:25: order \"tp-dp\": expected each of tp, cp, ep, dp and pp "
             "once, such as tp-cp-ep-dp-pp"),
        Line("OrderOfStages", 2,
             "sizes: {gpus: 8, tp: 2, ep: 2, etp: 2, pp: 2, order: "
             "tp-cp-ep-pp-dp}",
             "p:2:54: order tp-cp-ep-pp-dp puts stages 2 ranks apart, those of "
             "experts 4 ranks (TP 2, CP 1; ETP 2, EP 2)"),
        Line(
            "SizesThatDoNotDivide", 2, "sizes: {gpus: 9, pp: 2}",
            "p:2:15: TP 1 x PP 2 does not divide the 9 GPUs: there is no whole "
            "DP"),
        Line("Phase", 3, "phase: trainin",
             "p:3:8: unknown phase \"trainin\"; did you mean \"training\"? "
             "(known: training, inference)"),
        Line("Inference", 3, "phase: inference",
             "p:7:5: module \"column\" has a backward pass, but inference has "
             "none"),
        Line("Schedule", 4, "schedule: 1f1",
             "p:4:11: unknown pipeline schedule \"1f1\"; did you mean "
             "\"1f1b\"? (known: " +
                 ScheduleList() + ")"),
        Line("ScheduleOfChunks", 4, "schedule: zb-v",
             "p:4:11: schedule zb-v: the number of chunks per stage is 1: "
             "expected "
             "2"),
        Chunked(
            "Slowdown", 5, "gpu: {communication_slowdown: 1}",
            "p:5:31: the slowdown by communication is 1, expected 0 to 0.999"),
        Chunked("Gpu", 5, "gpu: {memori: 1}",
                "p:5:15: unknown field of the GPU \"memori\"; did you mean "
                "\"memory\"? (known: communication_slowdown, memory, name, "
                "peak_tflops)"),
        Chunked("Work", 6, "work: {flops: 1}",
                "p:6:15: unknown field of the work of an iteration \"flops\"; "
                "did you mean \"model_flops\"? (known: model_flops, tokens)"),
        Routing("NoTopK", "{experts: 8}",
                "p:7:10: the routing has no \"top_k\""),
        Routing("NoExperts", "{experts: 0, top_k: 1}",
                "p:7:20: experts is \"0\": expected a whole number from 1 to "
                "4096"),
        Routing("RoutingKey", "{experts: 8, top_k: 2, group: 2}",
                "p:7:40: unknown field of the routing \"group\"; did you mean "
                "\"groups\"? (known: combine_bytes, dispatch_bytes, experts, "
                "groups, top_groups, top_k)"),
        Routing("TopK", "{experts: 8, top_k: 9}",
                "p:7:30: top_k is 9: expected no more than the 8 experts"),
        Routing("Groups", "{experts: 8, top_k: 2, groups: 3}",
                "p:7:41: groups is 3: expected a divisor of the 8 experts"),
        Routing("TopGroups", "{experts: 8, top_k: 2, groups: 4, top_groups: 5}",
                "p:7:56: top_groups is 5: expected 1 to the 4 groups"),
        Routing("TopKOfGroups", "{experts: 8, top_k: 3, groups: 4}",
                "p:7:30: top_k is 3: expected no more than the 2 experts of 1 "
                "of the 4 groups"),
        Chunked("Memory", 10, "    memory: {weights: 17592186044417}",
                "p:10:23: weights is \"17592186044417\": expected a whole "
                "number from 0 to 17592186044416"),
        Chunked("Chunk", 15, "      - {chunk: 2, modules: [block]}",
                "p:12:5: stage entry 1: a run is of chunk 2, but vpp is 2"),
        Chunked("NoChunk", 15, "      - {modules: [block]}",
                "p:12:5: stage entry 1: chunk 1 runs no module, but vpp is 2"),
        Line("Message", 5, "pipeline_message: 16MiB",
             "p:5:19: pipeline_message is \"16MiB\": expected a whole number "
             "of at least 0"),
        Line("Modules", 6, "modules: {}\nmodule:",
             "p:6:10: modules is a mapping, expected a list"),
        Line("NoName", 7, "  - nam: column",
             "p:7:10: unknown field of a module \"nam\"; did you mean "
             "\"name\"? (known: forward, input_gradient, memory, name, "
             "recompute, weight_gradient)"),
        Line("Pass", 8, "    forwards:",
             "p:9:7: unknown field of a module \"forwards\"; did you mean "
             "\"forward\"? (known: forward, input_gradient, memory, name, "
             "recompute, weight_gradient)"),
        Line("SameName", 18, "  - name: column",
             "p:18:11: module \"column\" is there twice"),
        Line("StepKind", 9, "      - {block: all-gather}",
             "p:9:9: a step has none of the fields compute, blocking, launch, "
             "prefetch, wait"),
        Line(
            "TwoKinds", 10, "      - {compute: 1us, wait: TP}",
            "p:10:30: unknown field of a step \"wait\" (known: compute, when)"),
        Line("Collective", 9,
             "      - {blocking: allgather, over: TP, bytes: 1}",
             "p:9:20: unknown blocking \"allgather\"; did you mean "
             "\"all-gather\"? (known: all-reduce, all-gather, "
             "reduce-scatter, all-to-all, send-recv, broadcast, reduce, "
             "gather, scatter, dispatch, combine)"),
        Line("Dimension", 9,
             "      - {blocking: all-gather, over: DPEP, bytes: 1}",
             "p:9:38: unknown over \"DPEP\"; did you mean \"DP_EP\"? (known: "
             "TP, DP, EP, DP_EP, PP, CP, ETP)"),
        Line("Pipeline", 9,
             "      - {blocking: all-gather, over: PP, bytes: 1}",
             "p:9:9: module \"column\", forward step 1: over PP, where there "
             "is nothing but the pipeline message"),
        Line("NoBytes", 9, "      - {blocking: all-gather, over: TP}",
             "p:9:9: a step has no \"bytes\""),
        Line("Time", 10, "      - {compute: 812}",
             "p:10:19: \"812\" is not a time: expected a number and a unit of "
             "s, ms, us, ns or ps, such as 500ns"),
        Line("When", 17, "      - {wait: CP, when: never}",
             "p:17:26: unknown when \"never\" (known: each, first, last)"),
        Line("WaitForNothing", 17, "      - {wait: XP}",
             "p:17:16: unknown wait \"XP\"; did you mean \"TP\"? (known: TP, "
             "DP, EP, DP_EP, PP, CP, ETP)"),
        Line("Count", 20, "  - count: 0",
             "p:20:12: count is \"0\": expected a whole number from 1 to "
             "16777216"),
        Line("Counts", 20, "  - count: 2",
             "p:20:3: the counts of the stages add up to 3, but PP is 2"),
        Line("Times", 23, "      - {times: 0, modules: [column]}",
             "p:23:17: times is \"0\": expected a whole number from 1 to "
             "2097152"),
        Line("Module", 22, "      - {modules: [colum]}",
             "p:22:19: unknown module \"colum\"; did you mean \"column\"? "
             "(known: a \"b\": c, column)"),
        Line("NoModules", 27, "      - {}",
             "p:25:5: stage entry 2: it runs no module"),
        Line("NotYaml", 22, "      - {modules: [column}",
             "p:22:26: not YAML: illegal flow end")),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
