#include "astra-core/engine/pipeline_program.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"
#include "workload/program_file.h"

namespace astra {
namespace {

using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;

Program Parse(int micro_batches, std::string_view rest) {
  return ValueOrDie(
      ParseProgram("p", fmt::format("simai_program: 1\n"
                                    "sizes: {{gpus: 1, micro_batches: {}}}\n{}",
                                    micro_batches, rest)));
}

// "C0f": compute (C), block (B), launch (L), wait (W) or wait for all (A), in
// module 0, fwd; behind a wait how many calls may be left or, behind "e", must
// have ended; behind "R", the end of a repetition, how many it counts for.
std::vector<std::string> Trace(const Program& program, int64_t micro_batches,
                               uint32_t stage = 0) {
  const PipelineProgram run(program, micro_batches, 1);
  const OpStream next = run.Begin(stage);
  std::vector<std::string> trace;
  for (Op op = next(); op.kind != OpKind::kFinish; op = next()) {
    const char kind = "CBLWAR"[static_cast<int>(op.kind)];
    trace.push_back(kind == 'A'   ? "A"
                    : kind == 'R' ? fmt::format("R{}", op.repeats)
                                  : fmt::format("{}{}{}", kind, op.layer,
                                                Name(op.phase).front()));
    if (kind == 'W') {
      trace.back() += op.ended > 0 ? fmt::format("e{}", op.ended)
                                   : fmt::format("{}", op.outstanding);
    }
  }
  EXPECT_EQ(next(), Op());  // For ever.
  return trace;
}

TEST(PipelineProgramTest, GoesForwardThenBackwardThenToWhatIsAfter) {
  const Program program = Parse(1, R"(
modules:
  - name: a
    forward: [{compute: 1us}]
    recompute: [{compute: 2us}]
    input_gradient: [{compute: 3us}]
    weight_gradient: [{compute: 4us}]
  - name: b
    forward: [{compute: 5us}, {compute: 0us}]
    weight_gradient: [{launch: all-reduce, over: DP, bytes: 1}]
  - name: c
    forward: [{compute: 6us}]
stages: [{run: [{modules: a}, {times: 2, modules: b}], after: c}]
)");
  EXPECT_THAT(Trace(program, 1), ElementsAre("C0f", "C1f", "C1f",        //
                                             "L1w", "L1w",               //
                                             "C0f", "C0i", "C0w", "R1",  //
                                             "A", "C2f", "A"));
}

TEST(PipelineProgramTest, StepsRunInTheirMicroBatches) {
  const std::string_view rest = R"(
phase: inference
modules:
  - name: a
    forward:
      - {blocking: all-gather, over: DP, bytes: 1, when: first}
      - {compute: 1us}
      - {launch: all-reduce, over: DP, bytes: 1, when: last}
stages: [{run: [{modules: a}]}]
)";
  EXPECT_THAT(Trace(Parse(1, rest), 1),
              ElementsAre("B0f", "C0f", "L0f", "R1", "A"));
  EXPECT_THAT(Trace(Parse(2, rest), 2),
              ElementsAre("B0f", "C0f", "R1", "C0f", "L0f", "R1", "A"));
  EXPECT_THAT(Trace(Parse(4, rest), 4),
              ElementsAre("B0f", "C0f", "R1", "C0f", "R1", "C0f", "R1", "C0f",
                          "L0f", "R1", "A"));
  EXPECT_THAT(Trace(Parse(9, rest), 4),
              ElementsAre("B0f", "C0f", "R1", "C0f", "R1", "C0f", "R6", "C0f",
                          "L0f", "R1", "A"));
}

TEST(PipelineProgramTest, TheLastRepetitionRunStandsForTheOthers) {
  const Program program = Parse(9, R"(
modules: [{name: a, forward: [{compute: 1us}]},
          {name: b, weight_gradient: [{launch: all-reduce, over: DP, bytes: 1,
                                       when: last}]}]
stages: [{run: [{modules: [a, b]}]}]
)");
  EXPECT_THAT(Trace(program, 4), ElementsAre("C0f", "R1", "C0f", "R1", "C0f",
                                             "R6", "C0f", "L1w", "R1", "A"));
  const PipelineProgram all(program, 9, 1);
  EXPECT_EQ(all.num_skipped(), 0);
  EXPECT_EQ(all.steady(0).last, 7u);
  const PipelineProgram few(program, 4, 1);
  EXPECT_EQ(few.num_skipped(), 5);
  EXPECT_EQ(few.steady(0).last, 2u);
  EXPECT_TRUE(few.CanSkip());
}

// Each prefetch starts before the first computation of the module before it,
// and the first one at once.
TEST(PipelineProgramTest, APrefetchStartsOneModuleEarlier) {
  const Program program = Parse(1, R"(
modules:
  - name: a
    forward: [{prefetch: all-gather, over: DP, bytes: 1}, {compute: 1us}]
    input_gradient: [{prefetch: all-gather, over: DP, bytes: 1}, {compute: 1us}]
    weight_gradient: [{launch: reduce-scatter, over: DP, bytes: 1}]
  - name: plain
    forward: [{compute: 1us}, {launch: all-reduce, over: DP, bytes: 1}]
stages: [{run: [{modules: [a, plain, a]}]}]
)");
  EXPECT_THAT(Trace(program, 1),
              ElementsAre("L0f",                  // The first; then
                          "W0fe1", "L0f", "C0f",  // it starts the second,
                          "C1f", "L1f",           //
                          "W0f1", "L0i", "C0f",   // which starts the third.
                          "W0i0", "L0i", "C0i", "L0w",  //
                          "W0i1", "C0i", "L0w", "R1", "A"));
}

TEST(PipelineProgramTest, PrefetchesOfSeveralDimensionsStartTogether) {
  const Program program = Parse(1, R"(
phase: inference
modules:
  - name: a
    forward:
      - {prefetch: all-gather, over: DP, bytes: 1}
      - {prefetch: all-gather, over: DP_EP, bytes: 1}
      - {prefetch: all-gather, over: EP, bytes: 0}
      - {compute: 1us}
      - {prefetch: all-gather, over: DP, bytes: 2}
stages: [{run: [{times: 2, modules: a}]}]
)");
  EXPECT_THAT(Trace(program, 1),
              ElementsAre("L0f", "L0f", "L0f", "W0fe1", "W0fe1",  //
                          "L0f", "L0f", "L0f", "C0f", "W0fe2",    //
                          "W0f1", "W0f0", "C0f", "W0f0", "R1", "A"));
}

}  // namespace
}  // namespace astra
