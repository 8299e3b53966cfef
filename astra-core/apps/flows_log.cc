#include "astra-core/apps/flows_log.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "astra-core/results/network_tables.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Times count from the begin of the sequence.
FlowRecord RecordOf(const MessageSequence::Item& item,
                    absl::Span<const Connection> connections) {
  const Connection& connection = connections[item.connection];
  FlowRecord record;
  record.source = connection.source;
  record.target = connection.target;
  record.channel = connection.channel;
  record.bytes = item.bytes;
  record.start = item.start;
  record.finish = item.finish;
  record.ideal = item.ideal;
  return record;
}

}  // namespace

FlowsLog::FlowsLog(FlowsFile form, std::string path,
                   std::vector<std::string> layers, const Topology& topology,
                   uint64_t most_messages)
    : form_(form),
      path_(std::move(path)),
      layers_(std::move(layers)),
      topology_(topology),
      most_messages_(most_messages) {}

void FlowsLog::BeginNetwork() {
  files_ = {};
  collectives_.clear();
  pending_.clear();
  background_ = {};
  ++num_networks_;
  if (form_ != FlowsFile::kSummary) {
    files_.each = std::make_shared<TemporaryFile>(
        path_, fmt::format("each{}", num_networks_));
    // Close() returns the error, if there is one.
    files_.each->Open().IgnoreError();
    files_.each->Append(FlowsHeader());
  }
  if (form_ != FlowsFile::kEach) {
    files_.sums = std::make_shared<TemporaryFile>(
        path_, fmt::format("sums{}", num_networks_));
    files_.sums->Open().IgnoreError();
    files_.sums->Append(MessageSumsHeader());
  }
}

void FlowsLog::EndNetwork(TimePs now) {
  Settle(kNever);
  if (files_.sums != nullptr) {
    std::vector<uint32_t> left;
    for (const auto& [number, _] : collectives_) left.push_back(number);
    std::sort(left.begin(), left.end());
    for (const uint32_t number : left) EndCollective(number);
    background_.Sort();
    WriteSums(background_.all(), {});
  }
  files_.end = now;
  const bool is_first = file() == nullptr;
  if (is_first || now >= longest_.end) longest_ = std::move(files_);
  files_ = {};
}

void FlowsLog::BeginCollective(uint32_t collective,
                               const CollectiveRecord& record) {
  collectives_[collective].record = record;
}

void FlowsLog::EndCollective(uint32_t collective) {
  const auto ended = collectives_.find(collective);
  if (files_.sums != nullptr) {
    auto& [record, sums, repeated] = ended->second;
    sums.Sort();
    WriteSums(repeated.empty() ? sums.all() : repeated,
              {layers_[record.layer.index()], &record, record.first_start});
  }
  collectives_.erase(ended);
}

void FlowsLog::Arrive(const FlowRecord& message, absl::Span<const LinkId> path,
                      uint32_t collective) {
  Count(1);
  if (keeps_times_) files_.times.Add(message);
  if (files_.each != nullptr) WriteEach(message, path, collective);
  if (files_.sums == nullptr) return;
  if (collective == kNone) {
    background_.Add(message, TimePs());
  } else {
    Collective& owner = collectives_.at(collective);
    owner.sums.Add(message, owner.record.first_start);
  }
}

void FlowsLog::Count(uint64_t num_messages) {
  files_.num_messages += num_messages;
  if (form_ != FlowsFile::kAuto || files_.num_messages <= most_messages_) {
    return;
  }
  files_.each = nullptr;
  pending_ = {};
}

void FlowsLog::Repeat(const RepeatedMessages& messages, uint32_t collective) {
  Count(messages.sequence->num_messages);
  if (files_.each != nullptr) WriteEach(messages, collective);
  if (keeps_times_) files_.times.Add(SumsOf(messages).times);
  if (files_.sums == nullptr) return;
  const SequenceSums& known = SumsOf(messages);
  auto& [record, _, sums] = collectives_.at(collective);
  sums = known.sums;
  const TimePs shift = messages.begin - record.first_start;
  for (size_t i = 0; i < sums.size(); ++i) {
    const Connection& ends = messages.connections[known.connections[i]];
    sums[i].source = ends.source;
    sums[i].target = ends.target;
    sums[i].first_start += shift;
    sums[i].last_finish += shift;
  }
  std::sort(sums.begin(), sums.end(), [](const PairSum& a, const PairSum& b) {
    return std::pair(a.source, a.target) < std::pair(b.source, b.target);
  });
}

const FlowsLog::SequenceSums& FlowsLog::SumsOf(
    const RepeatedMessages& messages) {
  const auto [found, is_new] = sums_of_.try_emplace(messages.sequence);
  SequenceSums& made = found->second;
  if (!is_new) return made;
  const MessageSequence& sequence = *messages.sequence;
  MessageSums sums;
  for (size_t i = 0; i < sequence.items.size(); ++i) {
    const auto [count, last] = sequence.OccurrencesOf(i);
    const FlowRecord message =
        RecordOf(sequence.items[i], messages.connections);
    sums.Add(message, TimePs(), count, last);
    if (keeps_times_) made.times.Add(message, count);
  }
  sums.Sort();
  made.sums.assign(sums.all().begin(), sums.all().end());
  std::map<std::pair<NodeId, NodeId>, uint32_t> connection_of;
  for (uint32_t i = 0; i < messages.connections.size(); ++i) {
    const auto& [source, target, channel] = messages.connections[i];
    connection_of.try_emplace({source, target}, i);
  }
  for (const PairSum& sum : made.sums) {
    made.connections.push_back(connection_of.at({sum.source, sum.target}));
  }
  return made;
}

void FlowsLog::WriteEach(const RepeatedMessages& messages,
                         uint32_t collective) {
  std::vector<std::vector<LinkId>> paths(messages.connections.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    messages.append_path(messages.connections[i], &paths[i]);
  }
  const std::vector<MessageSequence::Item>& items = messages.sequence->items;
  for (size_t i = 0; i < items.size(); ++i) {
    const FlowRecord first = RecordOf(items[i], messages.connections);
    for (const TimePs later : messages.sequence->DelaysOf(i)) {
      FlowRecord message = first;
      message.start += messages.begin + later;
      message.finish += messages.begin + later;
      WriteEach(message, paths[items[i].connection], collective);
    }
  }
}

// Lines are written once no message can come before them any more.
void FlowsLog::WriteEach(const FlowRecord& message,
                         absl::Span<const LinkId> path, uint32_t collective) {
  PendingLine line = {message.finish,
                      {message.source, message.target, message.channel,
                       message.start, message.bytes},
                      num_told_++,
                      {}};
  std::string_view layer;
  if (collective != kNone) {
    layer = layers_[collectives_.at(collective).record.layer.index()];
  }
  AppendFlow(message, path, layer, topology_, &line.text);
  pending_.push_back(std::move(line));
  std::push_heap(pending_.begin(), pending_.end(), std::greater<>());
}

void FlowsLog::Settle(TimePs until) {
  while (!pending_.empty() && pending_.front().finish < until) {
    files_.each->Append(pending_.front().text);
    std::pop_heap(pending_.begin(), pending_.end(), std::greater<>());
    pending_.pop_back();
  }
}

void FlowsLog::WriteSums(absl::Span<const PairSum> sums,
                         const SummedMessages& messages) {
  for (const PairSum& sum : sums) {
    text_.clear();
    AppendMessageSum(sum, messages, &text_);
    files_.sums->Append(text_);
  }
}

}  // namespace astra
