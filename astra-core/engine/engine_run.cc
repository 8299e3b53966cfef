#include "astra-core/engine/engine_run.h"

#include <utility>

#include "astra-core/base/status_macros.h"
#include "collectives/closed_form.h"

namespace astra {

// Returns what lets collectives be counted again, or null if they may not.
std::unique_ptr<LoneCollectives> LoneCollectivesOf(
    const EngineSetting& setting) {
  const SimulationOptions& options = setting.options;
  const bool may_replay = options.acceleration != Acceleration::kOff &&
                          options.lowering == Lowering::kFlowGraph &&
                          options.jitter == 0 &&
                          options.stop_at == kMaxCollectiveTime;
  if (!may_replay) return nullptr;
  std::unique_ptr<NetworkBackend> network = setting.new_network();
  if (network->replay() == nullptr) return nullptr;
  LoneOptions lone = {.notes_messages = options.message_log != nullptr,
                      .never_replayed = options.never_replayed};
  if (options.acceleration == Acceleration::kBounded) {
    lone.bound = options.bound;
  }
  return std::make_unique<LoneCollectives>(
      setting.communicators, *setting.costs, *setting.lowering,
      setting.new_network, std::move(network), lone);
}

EngineRun::EngineRun(const RankProgram& program, const EngineSetting& setting,
                     const SimulationOptions& options)
    : setting_(setting),
      options_(options),
      network_(setting.new_network()),
      collectives_(options, *setting.costs, setting.communicators,
                   *setting.lowering, setting.symmetric.get(), *setting.sharing,
                   setting.lone.get(), *network_, timers_),
      engine_(program, setting.layer_names, options, setting.communicators,
              timers_, collectives_) {
  if (options_.message_log != nullptr) options_.message_log->BeginNetwork();
}

absl::Status EngineRun::ToTheEnd(SimulationResult* partial) {
  absl::Status status = engine_.Run().status();
  if (absl::IsUnavailable(status)) return status;  // All is simulated anew.
  if (options_.message_log != nullptr) {
    options_.message_log->EndNetwork(network_->now());
  }
  if (options_.on_network_end) options_.on_network_end(*network_);
  return Fill(partial, status);
}

absl::StatusOr<SimulationResult> EngineRun::TakeResult(
    const StandIn& stand_in, SimulationResult* partial) {
  absl::StatusOr<SimulationResult> result = engine_.TakeResult(stand_in);
  if (!result.ok()) return Fill(partial, result.status());
  return result;
}

std::vector<double> EngineRun::link_bytes() const {
  return {network_->link_bytes().begin(), network_->link_bytes().end()};
}

absl::Status EngineRun::Fill(SimulationResult* partial,
                             const absl::Status& status) {
  const bool has_begun = status.code() == absl::StatusCode::kAborted ||
                         status.code() == absl::StatusCode::kInternal;
  if (partial != nullptr && has_begun) {
    *partial = engine_.TakePartialResult();
    partial->link_bytes = link_bytes();
    partial->layer_names = setting_.layer_names;
  }
  return status;
}

}  // namespace astra
