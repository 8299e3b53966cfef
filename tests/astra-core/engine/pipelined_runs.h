// Programs with pipelines of every schedule, to run and to explain.

#ifndef TESTS_ASTRA_CORE_ENGINE_PIPELINED_RUNS_H_
#define TESTS_ASTRA_CORE_ENGINE_PIPELINED_RUNS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "astra-core/engine/simulation.h"
#include "network-frontends/analytical/analytical_backend.h"
#include "tests/testing/matchers.h"
#include "tests/testing/schedules.h"
#include "tests/testing/small_clusters.h"
#include "workload/pipeline/schedule.h"
#include "workload/program_file.h"

namespace astra::testing {

// A pipeline on servers of 4 GPUs, with TP 2, DP 2 and EP 2 in each.
struct PipelineCase {
  PipelineSchedule schedule = ScheduleNamed("1f1b");
  int stages = 2;  // Or more.
  int chunks = 1;
  int micro_batches = 2;
};

// The first and the last stage have a module more than the others. There are
// blocking collectives, launches that go on into the next micro-batch, and
// steps of the first and the last one only.
inline Program PipelinedProgram(const PipelineCase& run) {
  const auto runs = [&](std::string_view first, std::string_view last) {
    std::string text;
    for (int chunk = 0; chunk < run.chunks; ++chunk) {
      const bool is_last = chunk + 1 == run.chunks;
      text += fmt::format("{}{{chunk: {}, modules: [{}block, block{}]}}",
                          chunk == 0 ? "" : ", ", chunk,
                          chunk == 0 ? first : "", is_last ? last : "");
    }
    return text;
  };
  std::string stages =
      fmt::format("  - run: [{}]\n    after: step\n", runs("embedding, ", ""));
  if (run.stages > 2) {
    stages += fmt::format("  - count: {}\n    run: [{}]\n    after: step\n",
                          run.stages - 2, runs("", ""));
  }
  stages += fmt::format("  - run: [{}]\n    after: step\n", runs("", ", head"));
  return ValueOrDie(ParseProgram(
      "p", fmt::format(R"(simai_program: 1
sizes: {{gpus: {}, tp: 2, ep: 2, pp: {}, vpp: {}, micro_batches: {}}}
schedule: {}
pipeline_message: 1000000
modules:
  - name: embedding
    forward: [{{compute: 1us}}]
    weight_gradient:
      - {{compute: 2us}}
      - {{launch: all-reduce, over: DP, bytes: 300000, when: last}}
  - name: block
    forward:
      - {{prefetch: all-gather, over: DP, bytes: 400000, when: first}}
      - {{compute: 13us}}
      - {{blocking: all-reduce, over: TP, bytes: 700000}}
      - {{blocking: dispatch, over: EP, bytes: 200000}}
    recompute: [{{compute: 1us}}]
    input_gradient:
      - {{blocking: combine, over: EP, bytes: 300000}}
      - {{compute: 12us}}
      - {{blocking: all-reduce, over: TP, bytes: 600000}}
    weight_gradient:
      - {{compute: 11us}}
      - {{launch: reduce-scatter, over: DP, bytes: 900000}}
  - name: head
    forward: [{{compute: 3us}}]
    input_gradient: [{{compute: 4us}}, {{wait: DP}}]
  - name: step
    forward: [{{compute: 5us}}, {{blocking: all-gather, over: DP, bytes: 500000}}]
stages:
{})",
                       4 * run.stages, run.stages, run.chunks,
                       run.micro_batches, Name(run.schedule), stages)));
}

// Runs `program`, keeping its timeline, on servers of 4 GPUs.
inline SimulationResult RunWithTimeline(const Program& program,
                                        SimulationOptions options = {}) {
  options.record_timeline = true;
  const Topology topology =
      Star(static_cast<uint32_t>(program.sizes().num_ranks / 4), 4);
  Routes routes(topology);
  return ValueOrDie(Simulate(program, options, routes, [&] {
    return std::make_unique<AnalyticalBackend>(routes);
  }));
}

// Calls `check` with the result of every schedule, few and many micro-batches,
// in closed form and as messages, counted and unrolled, and slowed computation.
inline void ForEachPipelinedRun(
    const std::function<void(const SimulationResult&)>& check) {
  const PipelineCase cases[] = {{ScheduleNamed("gpipe"), 3, 1, 4},
                                {ScheduleNamed("1f1b"), 3, 1, 3},
                                {ScheduleNamed("1f1b"), 2, 1, 2},
                                {ScheduleNamed("1f1b"), 4, 1, 30},
                                {ScheduleNamed("interleaved"), 2, 2, 4},
                                {ScheduleNamed("interleaved"), 2, 3, 40},
                                {ScheduleNamed("zb-h1"), 3, 1, 5},
                                {ScheduleNamed("zb-h1"), 3, 1, 33},
                                {ScheduleNamed("zb-v"), 3, 2, 6},
                                {ScheduleNamed("zb-v"), 2, 2, 40},
                                {ScheduleNamed("dualpipe"), 2, 2, 4},
                                {ScheduleNamed("dualpipe"), 4, 2, 60}};
  for (const PipelineCase& run : cases) {
    const Program program = PipelinedProgram(run);
    for (const Lowering lowering :
         {Lowering::kClosedForm, Lowering::kFlowGraph}) {
      for (const bool unroll : {false, true}) {
        SCOPED_TRACE(fmt::format("{} p={} v={} m={} {} {}", Name(run.schedule),
                                 run.stages, run.chunks, run.micro_batches,
                                 static_cast<int>(lowering), unroll));
        SimulationOptions options;
        options.lowering = lowering;
        options.unroll = unroll;
        options.communication_slowdown = 0.1;
        check(RunWithTimeline(program, options));
      }
    }
  }
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_ENGINE_PIPELINED_RUNS_H_
