#include "astra-core/engine/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/engine.h"
#include "astra-core/engine/link_bytes.h"
#include "astra-core/engine/link_sharing.h"
#include "astra-core/engine/lone_collectives.h"
#include "astra-core/engine/pipeline.h"
#include "astra-core/engine/pipeline_links.h"
#include "astra-core/engine/pipeline_program.h"
#include "astra-core/engine/shorter_iterations.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status CheckFamily(const SimulationOptions& options) {
  const bool is_nccl = options.collectives == CollectiveFamily::kNccl;
  if (is_nccl && !options.nccl) {
    return absl::InvalidArgumentError(
        "NCCL's collectives need the system that they run on: give --system");
  }
  if (!is_nccl && options.nccl) {
    return absl::InvalidArgumentError(
        "the system has no effect: only NCCL's collectives use it");
  }
  return absl::OkStatus();
}

absl::Status CheckClosedForm(const SimulationOptions& options) {
  if (options.symmetric) {
    return absl::InvalidArgumentError(
        "closed forms need no network for ranks that do the same");
  }
  if (options.message_costs != MessageCosts()) {
    return absl::InvalidArgumentError(
        "the costs of messages have no effect on closed forms, which have no "
        "messages");
  }
  return absl::OkStatus();
}

absl::Status CheckMessages(const SimulationOptions& options,
                           bool has_real_pipeline) {
  if (options.ideal_network) {
    return absl::InvalidArgumentError(
        "an ideal network has no messages: it needs closed forms");
  }
  for (const ParallelDimension dimension : kParallelDimensions) {
    const bool is_formula =
        dimension == ParallelDimension::kPipeline && !has_real_pipeline;
    if (!is_formula && options.overlap[IndexOf(dimension)] != 0) {
      return absl::InvalidArgumentError(fmt::format(
          "the overlap of {} has no effect on messages: only closed forms have "
          "overlap ratios",
          Name(dimension)));
    }
  }
  if (!options.bus_bandwidths.empty()) {
    return absl::InvalidArgumentError(
        "bus bandwidths have no effect on messages: only closed forms use "
        "them");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const ParallelSizes& sizes,
                          const SimulationOptions& options,
                          bool has_real_pipeline, const Topology& topology) {
  if (sizes.num_ranks != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("the workload is for {} GPUs, the topology has {}",
                    sizes.num_ranks, topology.num_gpus()));
  }
  ASTRA_RETURN_IF_ERROR(CheckFamily(options));
  return options.lowering == Lowering::kClosedForm
             ? CheckClosedForm(options)
             : CheckMessages(options, has_real_pipeline);
}

// What all runs of one simulation share.
struct Setting {
  SimulationOptions options;
  Routes& routes;
  const NetworkFactory& new_network;
  ParallelPlan plan;
  PipelineWiring wiring;
  std::shared_ptr<const CollectiveCosts> costs;
  Communicators communicators;
  std::unique_ptr<CollectiveLowering> lowering;
  std::vector<std::string> layer_names;
  std::unique_ptr<LinkSharing> sharing;
  std::unique_ptr<SymmetricTimes> symmetric = nullptr;
  std::unique_ptr<LoneCollectives> lone = nullptr;

  bool is_closed_form() const {
    return options.lowering == Lowering::kClosedForm;
  }
};

absl::StatusOr<Setting> Prepare(const Program& program,
                                const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network) {
  const Topology& topology = routes.topology();
  ASTRA_RETURN_IF_ERROR(CheckOptions(program.sizes(), options,
                                     program.simulates_pipeline(), topology));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(program.sizes()));
  PipelineWiring wiring = WiringOf(program, plan);
  std::shared_ptr<const CollectiveCosts> costs = options.costs;
  if (costs == nullptr) {
    const CostSetting setting = {
        .family = options.collectives,
        .nccl = options.nccl,
        .simai = options.simai,
        .measured = options.bus_bandwidths,
        .with_messages = options.lowering == Lowering::kFlowGraph};
    ASTRA_ASSIGN_OR_RETURN(CollectiveCosts found,
                           FindCosts(UsedCollectives(program, plan), plan,
                                     wiring.pairs, setting, routes));
    costs = std::make_shared<const CollectiveCosts>(std::move(found));
  }
  const bool each_rank =
      (options.lowering == Lowering::kFlowGraph && !options.symmetric) ||
      options.jitter > 0;
  Communicators communicators =
      FormCommunicators(plan, wiring, *costs, each_rank, topology);
  Setting setting{options,
                  routes,
                  new_network,
                  plan,
                  std::move(wiring),
                  std::move(costs),
                  std::move(communicators),
                  std::make_unique<CollectiveLowering>(
                      options.collectives, options.simai, options.message_costs,
                      topology, options.pace_network),
                  LayerNames(program),
                  nullptr};
  setting.sharing = std::make_unique<LinkSharing>(*setting.costs, topology);
  if (!setting.options.communication_slowdown) {
    setting.options.communication_slowdown =
        program.gpu().communication_slowdown;
  }
  return setting;
}

absl::StatusOr<std::vector<double>> LinkBytesOf(const RankProgram& program,
                                                const Setting& setting) {
  return LinkBytes(program, setting.plan, setting.wiring, *setting.costs,
                   setting.options.nccl, setting.routes);
}

// A program on a network of its own.
class Run {
 public:
  // `options` are those of `setting`, but perhaps others are told.
  Run(const RankProgram& program, const Setting& setting,
      const SimulationOptions& options)
      : setting_(setting),
        options_(options),
        network_(setting.new_network()),
        engine_(program, setting.layer_names, options, *setting.costs,
                setting.communicators, *setting.lowering,
                setting.symmetric.get(), *setting.sharing, setting.lone.get(),
                *network_) {
    if (options_.message_log != nullptr) options_.message_log->BeginNetwork();
  }

  // Errors of both: those of Simulate(), which also says what `partial` is
  // then.
  absl::Status ToTheEnd(SimulationResult* partial) {
    absl::Status status = engine_.Run();
    if (absl::IsUnavailable(status)) return status;  // All is simulated anew.
    if (options_.message_log != nullptr) {
      options_.message_log->EndNetwork(network_->now());
    }
    if (options_.on_network_end) options_.on_network_end(*network_);
    return Fill(partial, status);
  }
  absl::StatusOr<SimulationResult> TakeResult(const StandIn& stand_in,
                                              SimulationResult* partial) {
    absl::StatusOr<SimulationResult> result = engine_.TakeResult(stand_in);
    if (!result.ok()) return Fill(partial, result.status());
    return result;
  }

  std::vector<double> link_bytes() const {
    return {network_->link_bytes().begin(), network_->link_bytes().end()};
  }

  const Engine& engine() const { return engine_; }

 private:
  absl::Status Fill(SimulationResult* partial, const absl::Status& status) {
    const bool has_begun = status.code() == absl::StatusCode::kAborted ||
                           status.code() == absl::StatusCode::kInternal;
    if (partial != nullptr && has_begun) {
      *partial = engine_.TakePartialResult();
      partial->link_bytes = link_bytes();
      partial->layer_names = setting_.layer_names;
    }
    return status;
  }

  const Setting& setting_;
  const SimulationOptions& options_;
  std::unique_ptr<NetworkBackend> network_;
  Engine engine_;
};

// What the messages of a run of `program`, some of whose repetitions stand in
// for others, would put on links if all were run. Every repetition sends the
// same messages, so a run with fewer of them says how many bytes each adds.
absl::StatusOr<std::vector<double>> MessageBytes(const Program& program,
                                                 int64_t micro_batches,
                                                 const Setting& setting,
                                                 const Run& run) {
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
  Run once(less, setting, options);
  ASTRA_RETURN_IF_ERROR(once.ToTheEnd(nullptr));
  const std::vector<double> least = once.link_bytes();
  const double scale = static_cast<double>(all - micro_batches) /
                       static_cast<double>(micro_batches - fewer);
  for (size_t link = 0; link < bytes.size(); ++link) {
    bytes[link] += scale * (bytes[link] - least[link]);
  }
  return bytes;
}

// Waiting for messages of other stages is not that of a collective.
void MovePipeline(const Setting& setting, SimulationResult& result) {
  constexpr size_t kPipeline = IndexOf(ParallelDimension::kPipeline);
  PipelineResult& pipeline = result.pipeline;
  pipeline.is_simulated = true;
  pipeline.bubble = result.late[kPipeline];
  pipeline.exposed = result.exposed[kPipeline] - pipeline.bubble;
  result.stage_time -= result.exposed[kPipeline];
  result.exposed[kPipeline] = TimePs(0);
  result.late[kPipeline] = TimePs(0);
  if (setting.wiring.links.empty()) return;
  const CollectiveRecord* slowest = nullptr;
  for (const CollectiveRecord& record : result.collectives) {
    if (record.communication.dimension != ParallelDimension::kPipeline) {
      continue;
    }
    if (record.is_of_reported_rank) pipeline.num_messages += record.count;
    if (slowest == nullptr || record.time > slowest->time) slowest = &record;
  }
  if (slowest != nullptr) pipeline.message = *slowest;
  pipeline.message.count = pipeline.num_messages;
}

// Returns the time that a stage works on its micro-batches: what the bubble is
// a multiple of. Gradients are exchanged once per iteration, so waiting for
// their collectives does not count.
TimePs MicroBatchTime(const Program& program, const SimulationResult& result) {
  TimePs time;
  for (size_t i = 0; i < result.layers.size(); ++i) {
    if (program.modules()[i].is_once) continue;
    for (const Phase phase : kPhases) {
      const PhaseResult& part = result.layers[i][IndexOf(phase)];
      time += part.compute;
      if (phase != Phase::kWeightGradient) time += part.exposed;
    }
  }
  return time;
}

// Adds the pipeline that schedule "simai" does not simulate.
absl::Status AddPipelineByFormula(const Program& program,
                                  const Setting& setting,
                                  SimulationResult& result) {
  const ParallelSizes& sizes = program.sizes();
  const TimePs bubble = ShareOf(
      static_cast<double>(sizes.pipeline - 1) /
          static_cast<double>(sizes.micro_batches * sizes.virtual_stages),
      MicroBatchTime(program, result));
  const SimulationOptions& options = setting.options;
  ASTRA_ASSIGN_OR_RETURN(
      result.pipeline,
      AddPipeline({.bytes = program.pipeline_message(),
                   .micro_batches = sizes.micro_batches,
                   .virtual_stages = sizes.virtual_stages},
                  setting.plan, bubble,
                  options.overlap[IndexOf(ParallelDimension::kPipeline)],
                  options.nccl,
                  options.bus_bandwidths.Find(ParallelDimension::kPipeline,
                                              CollectiveKind::kSendRecv),
                  setting.routes, result.link_bytes));
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> LayerNames(const Program& program) {
  std::vector<std::string> names;
  for (const ProgramModule& module : program.modules()) {
    names.push_back(module.name);
  }
  // Messages between stages count as a module of their own.
  if (program.simulates_pipeline()) names.push_back("pipeline");
  return names;
}

namespace {

// Runs as short an iteration as stands for the whole. What a result says of
// links and of the pipeline is left to the caller.
struct IterationRun {
  SimulationResult result;
  std::unique_ptr<PipelineProgram> program;
  std::unique_ptr<Run> run;
  int64_t micro_batches = 0;
};

absl::StatusOr<IterationRun> RunIteration(const Program& program,
                                          const Setting& setting,
                                          SimulationResult* partial) {
  ShorterIterations iterations(program);
  if (setting.options.unroll || setting.options.jitter > 0) iterations.TryAll();
  while (true) {
    IterationRun made;
    made.micro_batches = iterations.micro_batches();
    made.program = std::make_unique<PipelineProgram>(
        program, iterations.micro_batches(), iterations.period());
    if (!iterations.is_whole() && !made.program->CanSkip()) {
      iterations.TryAll();
      continue;
    }
    made.run = std::make_unique<Run>(*made.program, setting, setting.options);
    ASTRA_RETURN_IF_ERROR(made.run->ToTheEnd(partial));
    if (!iterations.is_whole()) {
      constexpr size_t kLongestPeriod = 64;
      const size_t period =
          PeriodOf(made.run->engine(), *made.program, kLongestPeriod);
      if (period == 0) {
        iterations.TryMore();
        continue;
      }
      if (iterations.period() % period != 0) {
        iterations.TryPeriod(period);
        continue;
      }
    }
    ASTRA_ASSIGN_OR_RETURN(
        made.result, made.run->TakeResult(StandInOf(*made.program), partial));
    return made;
  }
}

}  // namespace

namespace {

// Returns what lets collectives be counted again, or null if they may not.
std::unique_ptr<LoneCollectives> LoneCollectivesOf(const Setting& setting) {
  const SimulationOptions& options = setting.options;
  const bool may_replay = options.acceleration != Acceleration::kOff &&
                          options.lowering == Lowering::kFlowGraph &&
                          options.jitter == 0 &&
                          options.stop_at == kMaxCollectiveTime;
  if (!may_replay) return nullptr;
  std::unique_ptr<NetworkBackend> network = setting.new_network();
  if (network->replay() == nullptr) return nullptr;
  return std::make_unique<LoneCollectives>(
      setting.communicators, *setting.costs, *setting.lowering,
      setting.new_network, std::move(network),
      LoneOptions{.notes_messages = options.message_log != nullptr,
                  .error_bound = options.acceleration == Acceleration::kBounded
                                     ? options.error_bound
                                     : 0});
}

absl::StatusOr<SimulationResult> SimulateOnce(const Program& program,
                                              const SimulationOptions& options,
                                              Routes& routes,
                                              const NetworkFactory& new_network,
                                              SimulationResult* partial) {
  ASTRA_ASSIGN_OR_RETURN(Setting setting,
                         Prepare(program, options, routes, new_network));
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
  if (program.simulates_pipeline()) {
    MovePipeline(setting, made.result);
  } else {
    ASTRA_RETURN_IF_ERROR(AddPipelineByFormula(program, setting, made.result));
  }
  made.result.layer_names = std::move(setting.layer_names);
  made.result.costs = std::move(setting.costs);
  return std::move(made.result);
}

}  // namespace

// Where replays turn out to have been none, everything is simulated.
absl::StatusOr<SimulationResult> Simulate(const Program& program,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network,
                                          SimulationResult* partial) {
  absl::StatusOr<SimulationResult> result =
      SimulateOnce(program, options, routes, new_network, partial);
  if (!absl::IsUnavailable(result.status())) return result;
  SimulationOptions in_full = options;
  in_full.acceleration = Acceleration::kOff;
  return SimulateOnce(program, in_full, routes, new_network, partial);
}

absl::StatusOr<std::vector<TimePs>> IdealTimes(
    const Program& program, const SimulationOptions& options,
    absl::Span<const Ideal> ideals, Routes& routes,
    const NetworkFactory& new_network) {
  ASTRA_ASSIGN_OR_RETURN(Setting setting,
                         Prepare(program, options, routes, new_network));
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
