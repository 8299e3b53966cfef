#include "astra-core/run/traffic_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/wall_pace.h"
#include "astra-core/run/run_network.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

constexpr TimePs kForever(std::numeric_limits<int64_t>::max());

uint64_t PairOf(const TrafficMessage& message) {
  return uint64_t{message.source.index()} << 32 | message.target.index();
}

// Returns the channel of each message: its number among those of its sender
// and receiver.
//
// Errors: those of Routes::Find().
absl::StatusOr<std::vector<uint32_t>> ChannelsOf(const Traffic& traffic,
                                                 Routes& routes) {
  absl::flat_hash_map<uint64_t, uint32_t> num_of_pair;
  std::vector<uint32_t> channels;
  channels.reserve(traffic.messages.size());
  for (const TrafficMessage& message : traffic.messages) {
    const auto [pair, is_new] = num_of_pair.try_emplace(PairOf(message), 0);
    if (is_new) {
      ASTRA_RETURN_IF_ERROR(
          routes.Find(message.source, message.target).status());
    }
    channels.push_back(pair->second++);
  }
  return channels;
}

// Sends the messages of a request on a network.
class TrafficSender {
 public:
  TrafficSender(const TrafficRunRequest& request,
                std::vector<uint32_t> channels, NetworkBackend& network)
      : request_(request),
        messages_(request.traffic.messages),
        channels_(std::move(channels)),
        network_(network),
        finish_(messages_.size(), TrafficRunResult::kNever) {
    std::vector<bool> sends(request.topology.num_gpus());
    for (const TrafficMessage& message : messages_) {
      total_bytes_ += static_cast<double>(message.bytes.count());
      sends[message.source.index()] = true;
    }
    for (uint32_t rank = 0; rank < sends.size(); ++rank) {
      if (!sends[rank]) continue;
      const absl::Span<const LinkId> links =
          request.topology.links_from(Topology::NodeOf(RankId(rank)));
      exits_.insert(exits_.end(), links.begin(), links.end());
    }
  }

  // Returns Ok once all messages have arrived, else the reason why not.
  absl::Status Run() {
    WallPace pace;
    // As in LoneRun, the network goes on in slices so that signals are
    // answered; a slice in which nothing happens doubles the next one.
    TimePs slice = Microseconds(100);
    while (num_arrived_ < messages_.size()) {
      if (pace.IsDue() && request_.on_progress) {
        ASTRA_RETURN_IF_ERROR(request_.on_progress(
            {ShareDone(), network_.now(), network_.work()}));
      }
      SendDue();
      const TimePs end_of_slice = network_.now() + slice;
      if (Advance(std::min({end_of_slice, NextStart(), request_.stop_at}))) {
        continue;
      }
      const TimePs now = network_.now();
      if (now == kMaxCollectiveTime) return Stuck();
      if (now == request_.stop_at) return Stopped();
      if (now == end_of_slice) slice += slice;
    }
    return absl::OkStatus();
  }

  TimePs last_arrival() const { return last_arrival_; }

  // Returns the end of a run in which nothing is left to happen. The clock of
  // the network goes on beyond it.
  TimePs LastEvent() const {
    TimePs last = std::max(
        {last_arrival_, messages_.back().start, network_.last_give_up()});
    const RunEvents& events = request_.events;
    if (events.links.empty()) return last;
    return std::max(last, events.links.back().time + events.reroute_delay);
  }

  std::vector<TimePs> TakeFinish() { return std::move(finish_); }

 private:
  // Equal messages may all arrive at the very end, so what has left the senders
  // tells more. Only packets are counted as they leave; other networks count a
  // message when it is sent.
  double ShareDone() const {
    if (!NetworkOf(request_.fidelity)->records_packets) {
      return static_cast<double>(num_arrived_) /
             static_cast<double>(messages_.size());
    }
    const absl::Span<const double> carried = network_.link_bytes();
    double left = 0;
    for (const LinkId link : exits_) left += carried[link.index()];
    return std::min(1.0, left / total_bytes_);
  }

  TimePs NextStart() const {
    return num_sent_ == messages_.size() ? kForever
                                         : messages_[num_sent_].start;
  }

  // Sends the messages whose time has come.
  void SendDue() {
    while (NextStart() <= network_.now()) {
      const TrafficMessage& message = messages_[num_sent_];
      network_.Send({.id = MessageId(static_cast<uint32_t>(num_sent_)),
                     .source = Topology::NodeOf(message.source),
                     .target = Topology::NodeOf(message.target),
                     .bytes = message.bytes,
                     .channel = channels_[num_sent_]});
      ++num_sent_;
    }
  }

  // Takes the next arrivals until `limit`; returns whether there are any.
  bool Advance(TimePs limit) {
    arrived_.clear();
    network_.AdvanceTo(limit, &arrived_);
    if (arrived_.empty()) return false;
    last_arrival_ = network_.now();
    num_arrived_ += arrived_.size();
    for (const MessageId id : arrived_) finish_[id.index()] = last_arrival_;
    if (request_.message_log != nullptr) {
      request_.message_log->Settle(last_arrival_);
    }
    return true;
  }

  absl::Status Stopped() const {
    return absl::AbortedError(fmt::format(
        "stopped at {:.3f} us of simulated time: {} of {} messages had arrived",
        ToMicroseconds(request_.stop_at), num_arrived_, messages_.size()));
  }

  absl::Status Stuck() const {
    const std::string why = network_.WhyStuck();
    return absl::InternalError(fmt::format(
        "nothing is left to happen after {:.3f} us, but {} of {} messages have "
        "not arrived{}{}",
        ToMicroseconds(LastEvent()), messages_.size() - num_arrived_,
        messages_.size(), why.empty() ? "" : "; the network says: ", why));
  }

  const TrafficRunRequest& request_;
  const std::vector<TrafficMessage>& messages_;
  const std::vector<uint32_t> channels_;  // By message.
  NetworkBackend& network_;
  std::vector<LinkId> exits_;  // Links that leave senders.
  double total_bytes_ = 0;     // Of all messages.
  size_t num_sent_ = 0;
  size_t num_arrived_ = 0;
  TimePs last_arrival_;
  std::vector<TimePs> finish_;      // By message.
  std::vector<MessageId> arrived_;  // Scratch.
};

// Begins a collective of the log for each pattern.
void BeginLog(const Traffic& traffic, MessageLog& log,
              NetworkBackend& network) {
  log.BeginNetwork();
  for (uint32_t i = 0; i < traffic.patterns.size(); ++i) {
    CollectiveRecord record;
    record.layer = LayerId(i);
    log.BeginCollective(i, record);
  }
  network.LogArrivals([&traffic, &log](const FlowRecord& message,
                                       absl::Span<const LinkId> path) {
    const bool is_background = message.channel == kBackgroundChannel;
    log.Arrive(message, path,
               is_background
                   ? MessageLog::kNone
                   : traffic.messages[message.message.index()].pattern);
  });
}

}  // namespace

absl::StatusOr<TrafficRunResult> RunTraffic(const TrafficRunRequest& request) {
  Routes routes(request.topology);
  ASTRA_ASSIGN_OR_RETURN(std::vector<uint32_t> channels,
                         ChannelsOf(request.traffic, routes));
  const std::unique_ptr<NetworkBackend> network = NetworkFactoryOf(
      request.fidelity, WithEvents(request.network, request.events), routes)();
  MessageLog* log = request.message_log;
  if (log != nullptr) BeginLog(request.traffic, *log, *network);
  TrafficSender sender(request, std::move(channels), *network);
  TrafficRunResult result;
  RunResult& run = result.run;
  run.status = sender.Run();
  if (run.status.ok()) network->Drain();
  if (log != nullptr) log->EndNetwork(network->now());
  const absl::Span<const double> bytes = network->link_bytes();
  run.result.link_bytes.assign(bytes.begin(), bytes.end());
  run.result.stage_time = sender.last_arrival();
  LongestNetwork(run.network, run.network_time).See(*network);
  if (run.network_time == kMaxCollectiveTime) {
    run.network_time = sender.LastEvent();
  }
  result.finish = sender.TakeFinish();
  return result;
}

}  // namespace astra
