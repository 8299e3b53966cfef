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
#include "astra-core/engine/layer_program.h"
#include "astra-core/engine/pipeline.h"
#include "astra-core/engine/stage_program.h"
#include "fmt/format.h"

namespace astra {
namespace {

absl::Status CheckClosedForm(const SimulationOptions& options) {
  if (options.collectives != CollectiveFamily::kDefault) {
    return absl::InvalidArgumentError(
        "the family of collectives has no effect on closed forms: only flow "
        "graphs have one");
  }
  if (options.message_costs != MessageCosts()) {
    return absl::InvalidArgumentError(
        "the costs of messages have no effect on closed forms: only flow "
        "graphs have messages");
  }
  return absl::OkStatus();
}

absl::Status CheckFlowGraph(const SimulationOptions& options) {
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension != ParallelDimension::kPipeline &&
        options.overlap[IndexOf(dimension)] != 0) {
      return absl::InvalidArgumentError(fmt::format(
          "the overlap of {} has no effect on messages: only closed forms have "
          "overlap ratios",
          Name(dimension)));
    }
  }
  const bool is_nccl = options.collectives == CollectiveFamily::kNccl;
  if (is_nccl && !options.nccl) {
    return absl::InvalidArgumentError(
        "NCCL's collectives need the system that they run on: give --system");
  }
  if (!is_nccl && options.nccl) {
    return absl::InvalidArgumentError(
        "the system has no effect on messages: only closed forms and NCCL's "
        "collectives use it");
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
                          const Topology& topology) {
  if (sizes.num_ranks != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("the workload is for {} GPUs, the topology has {}",
                    sizes.num_ranks, topology.num_gpus()));
  }
  return options.lowering == Lowering::kClosedForm ? CheckClosedForm(options)
                                                   : CheckFlowGraph(options);
}

// What each collective of `program` puts on links, in closed form.
std::vector<double> LinkBytes(const RankProgram& program,
                              const CollectiveCosts& costs, size_t num_links) {
  // By algorithm: what it puts on links grows with the bytes.
  std::map<std::pair<CostKey, std::string_view>, double> volumes;
  const OpStream next = program.Begin();
  for (Op op = next(); op.kind != OpKind::kFinish; op = next()) {
    if (op.kind != OpKind::kBlocking && op.kind != OpKind::kLaunch) continue;
    const auto& [kind, dimension, bytes] = op.communication;
    const CostKey key = {dimension, kind};
    const auto cost = costs.find(key);
    if (cost == costs.end() || bytes == Bytes(0)) continue;
    volumes[{key, cost->second.Time(0, kind, bytes).registry_name}] +=
        static_cast<double>(op.repeats) * static_cast<double>(bytes.count());
  }
  std::vector<double> link_bytes(num_links);
  for (const auto& [laid, bytes] : volumes) {
    const absl::Span<const double> per_byte =
        costs.at(laid.first).LinkBytesPerByte(laid.second);
    for (size_t link = 0; link < num_links; ++link) {
      link_bytes[link] += bytes * per_byte[link];
    }
  }
  return link_bytes;
}

std::vector<std::string> LayerNames(const Workload& workload) {
  std::vector<std::string> names;
  names.reserve(workload.layers().size());
  for (const Layer& layer : workload.layers()) names.push_back(layer.name);
  return names;
}

std::vector<std::string> LayerNames(const Program& program) {
  std::vector<std::string> names;
  for (const ProgramModule& module : program.modules()) {
    names.push_back(module.name);
  }
  return names;
}

// What all runs of one simulation share.
struct Setting {
  SimulationOptions options;
  Routes& routes;
  const NetworkFactory& new_network;
  ParallelPlan plan;
  CollectiveCosts costs;
  Communicators communicators;
  std::unique_ptr<CollectiveLowering> lowering;
  std::vector<std::string> layer_names;

  bool is_closed_form() const {
    return options.lowering == Lowering::kClosedForm;
  }
};

// `Form` is Workload or Program.
template <class Form>
absl::StatusOr<Setting> Prepare(const Form& form,
                                const SimulationOptions& options,
                                Routes& routes,
                                const NetworkFactory& new_network) {
  const Topology& topology = routes.topology();
  ASTRA_RETURN_IF_ERROR(CheckOptions(form.sizes(), options, topology));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(form.sizes()));
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveCosts costs,
      FindCosts(UsedCollectives(form, plan), plan, options.bus_bandwidths,
                options.nccl, options.collectives == CollectiveFamily::kNccl,
                routes));
  const bool each_rank = options.lowering == Lowering::kFlowGraph;
  Communicators communicators =
      FormCommunicators(plan, costs, each_rank, topology);
  return Setting{
      options,
      routes,
      new_network,
      plan,
      std::move(costs),
      std::move(communicators),
      std::make_unique<CollectiveLowering>(options.collectives, options.simai,
                                           options.message_costs, topology),
      LayerNames(form)};
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
        engine_(program, setting.layer_names, options, setting.costs,
                setting.communicators, *setting.lowering, *network_) {}

  // Errors of both: those of Simulate(), which also says what `partial` is
  // then.
  absl::Status ToTheEnd(SimulationResult* partial) {
    const absl::Status status = engine_.Run();
    if (options_.on_network_end) options_.on_network_end(*network_);
    return Fill(partial, status);
  }
  absl::StatusOr<SimulationResult> TakeResult(size_t stand_in,
                                              int64_t num_skipped,
                                              SimulationResult* partial) {
    absl::StatusOr<SimulationResult> result =
        engine_.TakeResult(stand_in, num_skipped);
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

// Whether all ranks went through repetition `last` as through the one before
// it, and all took the same time for it. What a rank does and when depends on
// nothing else, so the next ones would go alike, too.
bool AreAlike(const Engine& engine, size_t last) {
  const TimePs duration = engine.repetitions(0)[last].duration;
  for (size_t rank = 0; rank < engine.num_ranks(); ++rank) {
    const absl::Span<const Repetition> all = engine.repetitions(rank);
    if (all[last] != all[last - 1] || all[last].duration != duration) {
      return false;
    }
  }
  return true;
}

// What the messages of `program`, run to its end in `run` with at most `limit`
// repetitions, would put on links without that limit. Every repetition sends
// the same messages, so a run with one of them says how many bytes each adds.
absl::StatusOr<std::vector<double>> MessageBytes(StageProgram program,
                                                 const Setting& setting,
                                                 const Run& run,
                                                 int64_t limit) {
  std::vector<double> bytes = run.link_bytes();
  const int64_t num_skipped = program.skip().num_skipped;
  if (num_skipped == 0) return bytes;
  program.LimitRepetitions(1);
  SimulationOptions options = setting.options;
  options.on_collective = nullptr;
  options.on_network_end = nullptr;
  Run once(program, setting, options);
  ASTRA_RETURN_IF_ERROR(once.ToTheEnd(nullptr));
  const std::vector<double> least = once.link_bytes();
  const double scale =
      static_cast<double>(num_skipped) / static_cast<double>(limit - 1);
  for (size_t link = 0; link < bytes.size(); ++link) {
    bytes[link] += scale * (bytes[link] - least[link]);
  }
  return bytes;
}

// Runs as many micro-batches as it takes until they are alike.
absl::StatusOr<SimulationResult> RunStage(StageProgram program,
                                          const Setting& setting,
                                          SimulationResult* partial) {
  constexpr int64_t kFirstLimit = 4;
  constexpr int64_t kGrowth = 4;
  int64_t limit =
      setting.options.unroll ? StageProgram::kUnlimited : kFirstLimit;
  while (true) {
    program.LimitRepetitions(limit);
    const auto [stand_in, num_skipped] = program.skip();
    Run run(program, setting, setting.options);
    ASTRA_RETURN_IF_ERROR(run.ToTheEnd(partial));
    if (num_skipped > 0 && !AreAlike(run.engine(), stand_in)) {
      limit *= kGrowth;
      continue;
    }
    ASTRA_ASSIGN_OR_RETURN(SimulationResult result,
                           run.TakeResult(stand_in, num_skipped, partial));
    if (setting.is_closed_form()) {
      result.link_bytes = LinkBytes(program, setting.costs,
                                    setting.routes.topology().links().size());
    } else {
      ASTRA_ASSIGN_OR_RETURN(result.link_bytes,
                             MessageBytes(program, setting, run, limit));
    }
    return result;
  }
}

absl::StatusOr<PipelineResult> AddPipeline(const PipelineMessages& messages,
                                           TimePs bubble,
                                           const Setting& setting,
                                           std::vector<double>& link_bytes) {
  const SimulationOptions& options = setting.options;
  return AddPipeline(messages, setting.plan, bubble,
                     options.overlap[IndexOf(ParallelDimension::kPipeline)],
                     options.nccl,
                     options.bus_bandwidths.Find(ParallelDimension::kPipeline,
                                                 CollectiveKind::kSendRecv),
                     setting.routes, link_bytes);
}

// The time that a stage works on its micro-batches: what the bubble is a
// multiple of. Gradients are exchanged once per iteration, so waiting for their
// collectives does not count.
TimePs MicroBatchTime(const Workload& workload,
                      const SimulationResult& result) {
  TimePs time;
  for (size_t i = 0; i < result.layers.size(); ++i) {
    if (IsOncePerIteration(workload.layers()[i].name)) continue;
    for (const Phase phase : kPhases) {
      const PhaseResult& part = result.layers[i][IndexOf(phase)];
      time += part.compute;
      if (phase != Phase::kWeightGradient) time += part.exposed;
    }
  }
  return time;
}

// The bubble of a stage whose neighbours together take `others` for one
// micro-batch each.
absl::StatusOr<TimePs> BubbleOf(double others_ps, int64_t virtual_stages) {
  const double bubble_ps = others_ps / static_cast<double>(virtual_stages);
  if (bubble_ps > static_cast<double>(kMaxCollectiveTime.count())) {
    return absl::ResourceExhaustedError(
        "the pipeline bubble is longer than the limit of 26 days");
  }
  return TimePs(std::llround(bubble_ps));
}

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const Workload& workload,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network,
                                          SimulationResult* partial) {
  ASTRA_ASSIGN_OR_RETURN(Setting setting,
                         Prepare(workload, options, routes, new_network));
  const LayerProgram program(workload);
  Run run(program, setting, setting.options);
  ASTRA_RETURN_IF_ERROR(run.ToTheEnd(partial));
  ASTRA_ASSIGN_OR_RETURN(SimulationResult result,
                         run.TakeResult(0, 0, partial));
  result.link_bytes =
      setting.is_closed_form()
          ? LinkBytes(program, setting.costs, routes.topology().links().size())
          : run.link_bytes();
  const ParallelSizes& sizes = workload.sizes();
  const TimePs bubble = ShareOf(
      static_cast<double>(sizes.pipeline - 1) /
          static_cast<double>(sizes.micro_batches * sizes.virtual_stages),
      MicroBatchTime(workload, result));
  ASTRA_ASSIGN_OR_RETURN(result.pipeline,
                         AddPipeline({.bytes = workload.pipeline_message(),
                                      .micro_batches = sizes.micro_batches,
                                      .virtual_stages = sizes.virtual_stages},
                                     bubble, setting, result.link_bytes));
  result.layer_names = std::move(setting.layer_names);
  return result;
}

absl::StatusOr<SimulationResult> Simulate(const Program& program,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          const NetworkFactory& new_network,
                                          SimulationResult* partial) {
  ASTRA_ASSIGN_OR_RETURN(Setting setting,
                         Prepare(program, options, routes, new_network));
  const auto num_entries = static_cast<double>(program.stages().size());
  SimulationResult slowest;
  double micro_batches_ps = 0;  // One of each stage.
  double done = 0;
  for (size_t i = 0; i < program.stages().size(); ++i) {
    if (options.on_progress) {
      // A stage that is run again does not count back.
      setting.options.on_progress = [&, i](double share, TimePs now) {
        done = std::max(done, (static_cast<double>(i) + share) / num_entries);
        options.on_progress(done, now);
      };
    }
    const ProgramStage& stage = program.stages()[i];
    ASTRA_ASSIGN_OR_RETURN(
        SimulationResult result,
        RunStage(StageProgram(program, stage), setting, partial));
    micro_batches_ps += static_cast<double>(stage.count) *
                        static_cast<double>(result.micro_batch.count());
    const bool is_slower = result.stage_time > slowest.stage_time;
    if (i == 0 || is_slower) slowest = std::move(result);
  }
  const ParallelSizes& sizes = program.sizes();
  ASTRA_ASSIGN_OR_RETURN(
      const TimePs bubble,
      BubbleOf(
          micro_batches_ps - static_cast<double>(slowest.micro_batch.count()),
          sizes.virtual_stages));
  ASTRA_ASSIGN_OR_RETURN(slowest.pipeline,
                         AddPipeline({.bytes = program.pipeline_message(),
                                      .micro_batches = sizes.micro_batches,
                                      .virtual_stages = sizes.virtual_stages,
                                      .forward_only = program.forward_only()},
                                     bubble, setting, slowest.link_bytes));
  slowest.layer_names = std::move(setting.layer_names);
  return slowest;
}

}  // namespace astra
