#include "astra-core/engine/simulation.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/engine_run.h"
#include "astra-core/engine/iteration_pipeline.h"
#include "astra-core/engine/link_bytes.h"
#include "astra-core/engine/pipeline_program.h"
#include "astra-core/engine/shorter_iterations.h"

namespace astra {
namespace {

absl::StatusOr<std::vector<double>> LinkBytesOf(
    const RankProgram& program, const SimulationSetting& setting) {
  return LinkBytes(program, setting.plan, setting.wiring, *setting.costs,
                   setting.options.nccl, setting.routes);
}

// What the messages of a run of `program`, some of whose repetitions stand in
// for others, would put on links if all were run. Every repetition sends the
// same messages, so a run with fewer of them says how many bytes each adds.
absl::StatusOr<std::vector<double>> MessageBytes(
    const Program& program, int64_t micro_batches,
    const SimulationSetting& setting, const EngineRun& run) {
  std::vector<double> bytes = run.link_bytes();
  const int64_t all = program.shape().micro_batches;
  if (micro_batches == all) return bytes;
  const int64_t fewer = micro_batches - UnitOf(program);
  SimulationOptions options = setting.options;
  options.on_collective = nullptr;
  options.on_network_end = nullptr;
  options.message_log = nullptr;
  options.record_timeline = false;
  const PipelineProgram less(program, fewer, 1);
  EngineRun once(less, setting, options);
  ASTRA_RETURN_IF_ERROR(once.ToTheEnd(nullptr));
  const std::vector<double> least = once.link_bytes();
  const double scale = static_cast<double>(all - micro_batches) /
                       static_cast<double>(micro_batches - fewer);
  for (size_t link = 0; link < bytes.size(); ++link) {
    bytes[link] += scale * (bytes[link] - least[link]);
  }
  return bytes;
}

// Runs as short an iteration as stands for the whole, or the whole up to the
// time to stop at. What a result says of links and of the pipeline is left to
// the caller.
struct IterationRun {
  SimulationResult result;
  std::unique_ptr<PipelineProgram> program;
  std::unique_ptr<EngineRun> run;
  int64_t micro_batches = 0;
};

absl::StatusOr<IterationRun> RunIteration(const Program& program,
                                          const SimulationSetting& setting,
                                          SimulationResult* partial) {
  ShorterIterations iterations(program);
  // The error of the iteration is that of its periods.
  constexpr double kShareOfBound = 0.25;
  const double tolerance =
      setting.options.acceleration == Acceleration::kBounded
          ? kShareOfBound * setting.options.bound.share
          : 0;
  if (setting.options.unroll || setting.options.ranks_differ())
    iterations.TryAll();
  while (true) {
    IterationRun made;
    made.micro_batches = iterations.micro_batches();
    made.program = std::make_unique<PipelineProgram>(
        program, iterations.micro_batches(), iterations.period());
    if (!iterations.is_whole() && !made.program->CanSkip()) {
      iterations.TryAll();
      continue;
    }
    made.run =
        std::make_unique<EngineRun>(*made.program, setting, setting.options);
    const absl::Status status = made.run->ToTheEnd(partial);
    if (status.ok() && !iterations.is_whole()) {
      constexpr size_t kLongestPeriod = 64;
      const size_t period = PeriodOf(made.run->engine(), *made.program,
                                     kLongestPeriod, tolerance);
      if (period == 0) {
        iterations.TryMore();
        continue;
      }
      if (iterations.period() % period != 0) {
        iterations.TryPeriod(period);
        continue;
      }
    }
    const auto take = [&]() -> absl::StatusOr<SimulationResult> {
      ASTRA_RETURN_IF_ERROR(status);
      return made.run->TakeResult(StandInOf(*made.program), partial);
    };
    absl::StatusOr<SimulationResult> result = take();
    if (!iterations.is_whole() && made.run->engine().has_stopped()) {
      iterations.TryAll();
      continue;
    }
    ASTRA_ASSIGN_OR_RETURN(made.result, std::move(result));
    return made;
  }
}

absl::StatusOr<SimulationResult> SimulateOnce(const Program& program,
                                              const SimulationOptions& options,
                                              Routes& routes,
                                              const NetworkFactory& new_network,
                                              SimulationResult* partial) {
  ASTRA_ASSIGN_OR_RETURN(
      SimulationSetting setting,
      PrepareSimulation(program, options, routes, new_network));
  if (options.symmetric) {
    setting.symmetric = std::make_unique<SymmetricTimes>(
        setting.plan, setting.wiring, *setting.costs, setting.communicators,
        *setting.lowering, routes, new_network);
    setting.options.lowering = Lowering::kClosedForm;
  }
  setting.lone = LoneCollectivesOf(setting);
  ASTRA_ASSIGN_OR_RETURN(IterationRun made,
                         RunIteration(program, setting, partial));
  if (setting.is_closed_form()) {
    ASTRA_ASSIGN_OR_RETURN(made.result.link_bytes,
                           LinkBytesOf(*made.program, setting));
  } else {
    absl::StatusOr<std::vector<double>> bytes =
        MessageBytes(program, made.micro_batches, setting, *made.run);
    if (!bytes.ok()) {
      if (partial != nullptr) {
        *partial = std::move(made.result);
        partial->link_bytes = made.run->link_bytes();
        partial->layer_names = std::move(setting.layer_names);
      }
      return bytes.status();
    }
    made.result.link_bytes = *std::move(bytes);
  }
  ASTRA_RETURN_IF_ERROR(FinishPipeline(program, setting, made.result));
  made.result.layer_names = std::move(setting.layer_names);
  made.result.costs = std::move(setting.costs);
  return std::move(made.result);
}

}  // namespace

absl::StatusOr<SimulationResult> AnewIfNeeded(
    const SimulationOptions& options,
    absl::FunctionRef<
        absl::StatusOr<SimulationResult>(const SimulationOptions&)>
        simulate) {
  constexpr int kMostRestarts = 3;  // Each loses what has been simulated.
  SimulationOptions these = options;
  if (these.never_replayed == nullptr) {
    these.never_replayed = std::make_shared<std::vector<Communication>>();
  }
  for (int restarts = 1;; ++restarts) {
    const size_t num_known = these.never_replayed->size();
    absl::StatusOr<SimulationResult> result = simulate(these);
    const bool has_ended = !absl::IsUnavailable(result.status()) ||
                           these.acceleration == Acceleration::kOff;
    if (has_ended) return result;
    Restart restart = {.why = std::string(result.status().message()),
                       .simulated = absl::MakeConstSpan(*these.never_replayed)};
    restart.simulated.remove_prefix(num_known);
    if (restarts == kMostRestarts) restart.simulated = {};
    if (restart.simulated.empty()) these.acceleration = Acceleration::kOff;
    if (options.on_restart) options.on_restart(restart);
  }
}

absl::StatusOr<SimulationResult> Simulate(const Program& program,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network,
                                          SimulationResult* partial) {
  return AnewIfNeeded(options, [&](const SimulationOptions& these) {
    return SimulateOnce(program, these, routes, new_network, partial);
  });
}

absl::StatusOr<std::vector<TimePs>> IdealTimes(
    const Program& program, const SimulationOptions& options,
    absl::Span<const Ideal> ideals, Routes& routes,
    const NetworkFactory& new_network) {
  ASTRA_ASSIGN_OR_RETURN(
      SimulationSetting setting,
      PrepareSimulation(program, options, routes, new_network));
  std::vector<TimePs> times;
  for (const Ideal ideal : ideals) {
    setting.options.ideal_network = ideal == Ideal::kNetwork;
    setting.options.ideal_compute = ideal == Ideal::kCompute;
    ASTRA_ASSIGN_OR_RETURN(const IterationRun made,
                           RunIteration(program, setting, nullptr));
    times.push_back(made.result.stage_time);
  }
  return times;
}

}  // namespace astra
