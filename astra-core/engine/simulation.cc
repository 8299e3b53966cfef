#include "astra-core/engine/simulation.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/event_queue.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/layer_program.h"
#include "astra-core/engine/pipeline.h"
#include "fmt/format.h"

namespace astra {
namespace {

constexpr TimePs kNever(std::numeric_limits<int64_t>::max());

// What a rank has called on one communicator and has no result of yet: the
// first call is joined, the others wait for their turn.
struct Lane {
  uint32_t num_calls = 0;
  std::deque<Call> calls;
};

// A rank, which stands for those of its class.
struct Actor {
  enum class State : uint8_t {
    kRunning,
    kWaiting,    // For the calls on the lane `awaited`.
    kFinishing,  // For all calls.
    kDone,
  };
  State state = State::kRunning;
  LayerProgram::Cursor cursor;
  std::array<Lane, kNumParallelDimensions> lanes;
  size_t awaited = 0;
  TimePs wait_began;
  TimePs finish;
  std::vector<std::array<PhaseResult, kNumPhases>> layers;
  std::array<TimePs, kNumParallelDimensions> exposed{};

  bool has_calls() const {
    return std::any_of(lanes.begin(), lanes.end(),
                       [](const Lane& lane) { return !lane.calls.empty(); });
  }
};

class Engine {
 public:
  Engine(const Workload& workload, const SimulationOptions& options,
         const CollectiveCosts& costs, const Communicators& communicators,
         NetworkBackend& network)
      : workload_(workload),
        options_(options),
        communicators_(communicators),
        program_(workload),
        network_(network),
        collectives_(costs, communicators, options.lowering, options.overlap,
                     network, timers_),
        actors_(communicators.classes.lowest_rank.size()) {
    for (Actor& actor : actors_) {
      actor.layers.resize(workload.layers().size());
    }
  }

  absl::Status Run();

  // After Run().
  SimulationResult TakeResult();

 private:
  absl::Status Step();
  absl::Status Resume(uint32_t id);
  absl::Status CallCollective(uint32_t id, const Op& op);
  absl::Status EndCall(const Ended& ended);
  void Finish(Actor& actor);
  void ReportProgress() const;
  absl::Status Silence() const;

  const Workload& workload_;
  const SimulationOptions& options_;
  const Communicators& communicators_;
  const LayerProgram program_;
  NetworkBackend& network_;
  EventQueue timers_;
  RunningCollectives collectives_;

  std::vector<Actor> actors_;  // By class of ranks.
  size_t num_done_ = 0;
  int64_t num_ops_ = 0;
  int64_t num_events_ = 0;
  std::vector<MessageId> arrived_;  // Scratch.
};

absl::Status Engine::Run() {
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    ASTRA_RETURN_IF_ERROR(Resume(id));
  }
  constexpr int64_t kEventsPerReport = 1 << 12;
  while (num_done_ < actors_.size()) {
    ASTRA_RETURN_IF_ERROR(Step());
    if (++num_events_ % kEventsPerReport == 0) ReportProgress();
  }
  return absl::OkStatus();
}

// Goes to the next instant at which something happens. Arrivals come before
// timers.
absl::Status Engine::Step() {
  if (timers_.empty() && collectives_.num_messages_in_flight() == 0) {
    return Silence();
  }
  const TimePs next_timer = timers_.empty() ? kNever : timers_.next().time;
  const TimePs limit = std::min(next_timer, options_.stop_at);
  arrived_.clear();
  network_.AdvanceTo(limit, &arrived_);
  if (!arrived_.empty()) {
    for (const MessageId message : arrived_) collectives_.OnArrival(message);
  } else if (next_timer == limit) {
    const Event event = timers_.Pop();
    if (event.kind == kComputeDone) return Resume(event.index);
    collectives_.OnTimer(event);
  } else if (timers_.empty() && options_.stop_at == kMaxCollectiveTime) {
    return Silence();
  } else if (options_.stop_at == kMaxCollectiveTime) {
    return absl::ResourceExhaustedError(
        "the iteration would take longer than the limit of 26 days");
  } else {
    return absl::AbortedError(fmt::format(
        "stopped at {:.3f} us of simulated time, with {:.1f} % of the work "
        "done",
        ToMicroseconds(options_.stop_at),
        100 * static_cast<double>(num_ops_) /
            static_cast<double>(program_.num_ops() *
                                static_cast<int64_t>(actors_.size()))));
  }
  for (const Ended& ended : collectives_.TakeEnded()) {
    ASTRA_RETURN_IF_ERROR(EndCall(ended));
  }
  return absl::OkStatus();
}

// The rank goes on through its program until it has to wait.
absl::Status Engine::Resume(uint32_t id) {
  Actor& actor = actors_[id];
  actor.state = Actor::State::kRunning;
  while (actor.state == Actor::State::kRunning) {
    const Op op = program_.Next(actor.cursor);
    if (op.kind == OpKind::kFinish) {
      actor.state = Actor::State::kFinishing;
      actor.wait_began = network_.now();
      if (!actor.has_calls()) Finish(actor);
      break;
    }
    ++num_ops_;
    if (op.kind != OpKind::kCompute) {
      ASTRA_RETURN_IF_ERROR(CallCollective(id, op));
      continue;
    }
    const TimePs compute = workload_.layer(op.layer).phase(op.phase).compute;
    if (compute == TimePs(0)) continue;
    actor.layers[op.layer.index()][IndexOf(op.phase)].compute += compute;
    timers_.Push(
        {.time = network_.now() + compute, .kind = kComputeDone, .index = id});
    break;
  }
  return absl::OkStatus();
}

absl::Status Engine::CallCollective(uint32_t id, const Op& op) {
  Actor& actor = actors_[id];
  const Layer& layer = workload_.layer(op.layer);
  const auto& communication = layer.phase(op.phase).communication;
  if (!communication || communication->bytes == Bytes(0)) {
    return absl::OkStatus();
  }
  const size_t dimension = IndexOf(communication->dimension);
  const auto& communicator = communicators_.of_class[id][dimension];
  if (!communicator) return absl::OkStatus();  // A group of one rank.

  Lane& lane = actor.lanes[dimension];
  const Call call = {.communicator = *communicator,
                     .number = lane.num_calls++,
                     .layer = op.layer,
                     .phase = op.phase,
                     .communication = *communication,
                     .update = layer.update};
  lane.calls.push_back(call);
  if (op.kind == OpKind::kCommunicate) {
    actor.state = Actor::State::kWaiting;
    actor.awaited = dimension;
    actor.wait_began = network_.now();
  }
  if (lane.calls.size() > 1) return absl::OkStatus();
  return collectives_.Join(id, call);
}

// Waiting counts for the call that ends it.
absl::Status Engine::EndCall(const Ended& ended) {
  Actor& actor = actors_[ended.member];
  const Communicator& communicator =
      communicators_.list[ended.communicator.index()];
  const size_t dimension = IndexOf(communicator.dimension);
  Lane& lane = actor.lanes[dimension];
  const Call call = lane.calls.front();
  lane.calls.pop_front();
  if (!lane.calls.empty()) {
    ASTRA_RETURN_IF_ERROR(collectives_.Join(ended.member, lane.calls.front()));
  }

  PhaseResult& phase = actor.layers[call.layer.index()][IndexOf(call.phase)];
  phase.network += ended.network;
  phase.bytes += call.communication.bytes;
  const bool waits =
      actor.state == Actor::State::kFinishing ||
      (actor.state == Actor::State::kWaiting && actor.awaited == dimension);
  if (!waits) return absl::OkStatus();
  const TimePs waited = network_.now() - actor.wait_began;
  phase.exposed += waited;
  actor.exposed[dimension] += waited;
  actor.wait_began = network_.now();
  if (actor.state == Actor::State::kFinishing) {
    if (!actor.has_calls()) Finish(actor);
    return absl::OkStatus();
  }
  return lane.calls.empty() ? Resume(ended.member) : absl::OkStatus();
}

void Engine::Finish(Actor& actor) {
  actor.state = Actor::State::kDone;
  actor.finish = network_.now();
  ++num_done_;
}

void Engine::ReportProgress() const {
  if (!options_.on_progress) return;
  const auto all = static_cast<double>(program_.num_ops() *
                                       static_cast<int64_t>(actors_.size()));
  options_.on_progress(static_cast<double>(num_ops_) / all, network_.now());
}

// Nothing is left to happen, but ranks wait: says who, for what.
absl::Status Engine::Silence() const {
  constexpr size_t kMaxNamed = 4;
  std::string who;
  size_t num_waiting = 0;
  for (uint32_t id = 0; id < actors_.size(); ++id) {
    for (const Lane& lane : actors_[id].lanes) {
      if (lane.calls.empty()) continue;
      if (++num_waiting > kMaxNamed) continue;
      const Call& call = lane.calls.front();
      who += fmt::format(
          "; rank {} waits in layer {} ({}) for the {} over {}, which lacks {}",
          communicators_.classes.lowest_rank[id],
          workload_.layer(call.layer).name, Name(call.phase),
          Name(call.communication.kind), Name(call.communication.dimension),
          collectives_.WhatIsMissing(call.communicator));
    }
  }
  if (num_waiting > kMaxNamed) {
    who += fmt::format("; and {} more", num_waiting - kMaxNamed);
  }
  return absl::InternalError(fmt::format(
      "nothing is left to happen, but {} rank(s) wait{}", num_waiting, who));
}

SimulationResult Engine::TakeResult() {
  const auto last = std::max_element(
      actors_.begin(), actors_.end(),
      [](const Actor& a, const Actor& b) { return a.finish < b.finish; });
  const auto reported = static_cast<size_t>(last - actors_.begin());
  SimulationResult result;
  result.reported_rank = communicators_.classes.lowest_rank[reported];
  result.stage_time = last->finish;
  result.layers = std::move(last->layers);
  result.exposed = last->exposed;
  for (const auto& layer : result.layers) {
    for (const PhaseResult& phase : layer) result.compute += phase.compute;
  }
  result.collectives = collectives_.TakeRecords();
  for (CollectiveRecord& record : result.collectives) {
    const size_t dimension = IndexOf(record.communication.dimension);
    record.is_of_reported_rank = communicators_.of_class[reported][dimension] ==
                                 CommunicatorId(record.communicator);
  }
  std::stable_sort(result.collectives.begin(), result.collectives.end(),
                   [](const CollectiveRecord& a, const CollectiveRecord& b) {
                     return std::pair(a.start, a.lowest_rank) <
                            std::pair(b.start, b.lowest_rank);
                   });
  result.num_rank_classes = static_cast<uint32_t>(actors_.size());
  result.num_events = num_events_;
  return result;
}

absl::Status CheckOptions(const Workload& workload,
                          const SimulationOptions& options,
                          const Topology& topology) {
  if (workload.sizes().num_ranks != topology.num_gpus()) {
    return absl::InvalidArgumentError(
        fmt::format("the workload is for {} GPUs, the topology has {}",
                    workload.sizes().num_ranks, topology.num_gpus()));
  }
  if (options.lowering == Lowering::kClosedForm) return absl::OkStatus();
  for (const ParallelDimension dimension : kParallelDimensions) {
    if (dimension != ParallelDimension::kPipeline &&
        options.overlap[IndexOf(dimension)] != 0) {
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

// What each collective of the workload puts on links, in closed form.
std::vector<double> LinkBytes(const LayerProgram& program,
                              const Workload& workload,
                              const CollectiveCosts& costs, size_t num_links) {
  std::map<CostKey, double> volume;
  LayerProgram::Cursor cursor;
  for (Op op = program.Next(cursor); op.kind != OpKind::kFinish;
       op = program.Next(cursor)) {
    if (op.kind == OpKind::kCompute) continue;
    const auto& what = workload.layer(op.layer).phase(op.phase).communication;
    if (!what) continue;
    volume[{what->dimension, what->kind}] +=
        static_cast<double>(what->bytes.count());
  }
  std::vector<double> link_bytes(num_links);
  for (const auto& [key, cost] : costs) {
    const double bytes = volume[key];
    for (size_t link = 0; link < num_links; ++link) {
      link_bytes[link] += bytes * cost.forms.link_bytes_per_byte[link];
    }
  }
  return link_bytes;
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

}  // namespace

absl::StatusOr<SimulationResult> Simulate(const Workload& workload,
                                          const SimulationOptions& options,
                                          Routes& routes,
                                          NetworkBackend& network) {
  const Topology& topology = routes.topology();
  ASTRA_RETURN_IF_ERROR(CheckOptions(workload, options, topology));
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(workload.sizes()));
  ASTRA_ASSIGN_OR_RETURN(
      const CollectiveCosts costs,
      FindCosts(workload, plan, options.bus_bandwidths, routes));
  const bool each_rank = options.lowering == Lowering::kFlowGraph;
  const Communicators communicators =
      FormCommunicators(plan, costs, each_rank, topology);

  Engine engine(workload, options, costs, communicators, network);
  ASTRA_RETURN_IF_ERROR(engine.Run());
  SimulationResult result = engine.TakeResult();
  if (each_rank) {
    result.link_bytes.assign(network.link_bytes().begin(),
                             network.link_bytes().end());
  } else {
    result.link_bytes = LinkBytes(LayerProgram(workload), workload, costs,
                                  topology.links().size());
  }
  ASTRA_ASSIGN_OR_RETURN(
      result.pipeline,
      AddPipeline(workload, plan, MicroBatchTime(workload, result),
                  options.overlap[IndexOf(ParallelDimension::kPipeline)],
                  options.bus_bandwidths.Find(ParallelDimension::kPipeline,
                                              CollectiveKind::kSendRecv),
                  routes, result.link_bytes));
  return result;
}

}  // namespace astra
