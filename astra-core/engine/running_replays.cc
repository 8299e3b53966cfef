// The part of RunningCollectives that replays collectives, or does not.

#include <algorithm>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/check.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/engine/lone_run.h"
#include "astra-core/engine/running_collectives.h"
#include "network-frontends/replay_support.h"

namespace astra {
namespace {

constexpr std::string_view kEndedBeforeStarts =
    "a rank had its result before all had started";

}  // namespace

// Lets `rank` start in a replay, if there can be one. Otherwise the collective
// is simulated from here on; returns whether `rank` has started in any case.
absl::StatusOr<bool> RunningCollectives::StartReplay(GroupRank rank, Run& run) {
  if (run.claim == kNoClaim) {
    if (!run.first_start && !run.region->may_begin_alone) {
      run.first_start = rank;
      return true;
    }
    run.claim =
        replays_->Claim(IdOf(run), *run.region, run.first_start.value_or(rank));
    ASTRA_RETURN_IF_ERROR(EndClaims());
    if (run.is_live) return !run.first_start.has_value();
    if (run.claim == kNoClaim) {
      ASTRA_RETURN_IF_ERROR(GoLive(run));
      return false;
    }
    if (!run.first_start) return true;
  }
  ASTRA_RETURN_IF_ERROR(replays_->Start(IdOf(run), rank));
  ASTRA_RETURN_IF_ERROR(EndClaims());
  return true;
}

// Simulates a collective none of whose flows could leave so far.
absl::Status RunningCollectives::GoLive(Run& run) {
  ASTRA_ASSIGN_OR_RETURN(
      run.messages.graph,
      lowering_.GraphOf(run.messages, run.call.communication));
  run.flows = std::make_unique<FlowRun>(run.messages.graph);
  run.is_live = true;
  if (run.first_start) {
    ready_.clear();
    run.flows->Join(*run.first_start, &ready_);
    ASTRA_CHECK(ready_.empty(), "flows leave before a second rank has started");
  }
  replays_->AddLive(IdOf(run), *run.region);
  return EndClaims();
}

absl::Status RunningCollectives::EndClaims() {
  for (const ClaimId claim : replays_->TakeEvicted()) {
    // Ending one may have ended another.
    if (!replays_->has_claim(claim)) continue;
    ASTRA_RETURN_IF_ERROR(EndClaim(claim));
  }
  return absl::OkStatus();
}

// Simulates up to now what a replay would only have counted. Ranks have had the
// results that the replay knew of. With an error bound they may have had them a
// little earlier than the simulation says, or have them only now.
absl::Status RunningCollectives::EndClaim(ClaimId id) {
  const ReplayClaim claim = replays_->TakeClaim(id);
  ASTRA_ASSIGN_OR_RETURN(std::vector<LoneCollective> collectives,
                         replays_->lone().WithGraphs(claim.collectives));
  const TimePs now = network_.now();
  ReplaySupport& network = *network_.replay();
  for (LoneCollective& each : collectives) {
    for (KernelStart& start : each.starts) {
      start.time = std::min(start.time, now);  // If it was rounded up.
    }
  }
  network.GoBackTo(claim.begin(), claim.region->links);
  carrier_.GoBack();
  LoneRun lone(collectives, carrier_, network_);
  const std::vector<RankEnd> ends = lone.RunTo(now);
  carrier_.Return();
  network.Return();
  for (const RankEnd& end : ends) {
    const StartedCollective& of = claim.collectives[end.collective];
    if (!of.have_all_started()) {
      return replays_->lone().Regret(*of.region, kEndedBeforeStarts);
    }
  }
  for (size_t i = 0; i < collectives.size(); ++i) {
    const auto& [of, region, starts] = claim.collectives[i];
    if (of.number < first_run_[of.communicator]) continue;  // It has ended.
    Run& run = RunOf(region->communicator, of.number);
    run.messages = std::move(collectives[i].messages);
    run.flows = lone.TakeFlows(i);
    run.is_live = true;
    replays_->AddLive(of, *region);
  }
  for (const RankEnd& end : ends) {
    const auto& [of, region, starts] = claim.collectives[end.collective];
    if (of.number < first_run_[of.communicator]) continue;
    Run& run = RunOf(region->communicator, of.number);
    if (run.has_result[end.rank.index()]) continue;
    if (end.time < now && replays_->lone().is_exact()) {
      return replays_->lone().Regret(*region, "a rank has its result too late");
    }
    Finish(end.rank, run);
  }
  return EndClaims();
}

// Takes what ends now, all at once: others that come at this instant may make
// the rest of a replay void, but not that.
absl::Status RunningCollectives::TakeDueEnds() {
  ASTRA_ASSIGN_OR_RETURN(const std::vector<ReplayedEnd> ends,
                         replays_->TakeEnds());
  for (const ReplayedEnd& end : ends) ASTRA_RETURN_IF_ERROR(TakeEnd(end));
  return absl::OkStatus();
}

absl::Status RunningCollectives::TakeEnd(const ReplayedEnd& end) {
  const CommunicatorId communicator(end.flow.communicator);
  // Ends come again where collectives have met. All ranks may have results.
  if (end.flow.number < first_run_[communicator.index()]) {
    return absl::OkStatus();
  }
  Run& run = RunOf(communicator, end.flow.number);
  if (run.has_result[end.rank.index()]) return absl::OkStatus();
  if (end.is_late && replays_->lone().is_exact()) {
    const ReplayClaim& claim = replays_->claim(end.claim);
    return replays_->lone().Regret(*claim.collectives[end.collective].region,
                                   kEndedBeforeStarts);
  }
  run.has_result[end.rank.index()] = true;
  ++run.num_replayed_ends;
  if (run.num_replayed_ends == run.has_result.size()) LogReplay(end, run);
  due_.push_back(end);
  return absl::OkStatus();
}

// Handles flows and ends of replays of the next batch of this instant, in the
// order of flows. Batches count as if all were simulated in earnest.
void RunningCollectives::TakeBatch() {
  if (done_.empty() && due_.empty()) return;
  if (done_.empty()) {
    batch_ = due_.front().batch;
  } else {
    batch_ = network_.now() == batch_time_ ? batch_ + 1 : 0;
  }
  batch_time_ = network_.now();
  const auto take_next_end = [this] {
    const ReplayedEnd end = due_.front();
    due_.pop_front();
    Finish(end.rank,
           RunOf(CommunicatorId(end.flow.communicator), end.flow.number));
  };
  for (const CarriedFlow& flow : done_) {
    while (!due_.empty() && std::tie(due_.front().batch, due_.front().flow) <
                                std::tie(batch_, flow)) {
      take_next_end();
    }
    OnFlow(flow);
  }
  while (!due_.empty() && due_.front().batch <= batch_) take_next_end();
}

// Tells the log of the messages of a replay, the last rank of which has ended.
void RunningCollectives::LogReplay(const ReplayedEnd& end, Run& run) {
  if (options_.message_log == nullptr) return;
  const ReplayClaim& claim = replays_->claim(end.claim);
  const auto append_path = [this](const Connection& connection,
                                  std::vector<LinkId>* path) {
    std::vector<LinkId> back;
    network_.replay()->AppendPath(connection, path, &back);
  };
  options_.message_log->Repeat(
      {.sequence = claim.result->messages[end.collective],
       .begin = claim.begin(),
       .connections = claim.region->connections,
       .append_path = append_path},
      static_cast<uint32_t>(run.record));
  run.is_told = true;
}

}  // namespace astra
