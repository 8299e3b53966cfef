#include "astra-core/engine/message_recorder.h"

#include <utility>

namespace astra {

MessageRecorder::MessageRecorder(absl::Span<const LoneCollective> collectives,
                                 absl::Span<const Connection> connections,
                                 const FlowCarrier& carrier, TimePs begin)
    : collectives_(collectives),
      carrier_(carrier),
      begin_(begin),
      sequences_(collectives.size()) {
  for (uint32_t i = 0; i < connections.size(); ++i) {
    place_.try_emplace(connections[i], i);
  }
}

void MessageRecorder::Add(const FlowRecord& message) {
  const CarriedFlow& flow = carrier_.FlowOf(message.message);
  const size_t of = PositionOf(flow, collectives_);
  sequences_[of].items.push_back(
      {.connection =
           place_.at({message.source, message.target, message.channel}),
       .bytes = message.bytes,
       .start = message.start - begin_,
       .finish = message.finish - begin_,
       .ideal = message.ideal});
}

// A count of messages is a place among the items. Those after skipped rounds
// were noted too early.
void MessageRecorder::AddSkipped(size_t position,
                                 absl::Span<const SkippedRounds> skipped) {
  MessageSequence& sequence = sequences_[position];
  for (const auto& [first, end, times, period] : skipped) {
    sequence.repetitions.push_back({first, end, times, period});
    for (size_t i = end; i < sequence.items.size(); ++i) {
      sequence.items[i].start += times * period;
      sequence.items[i].finish += times * period;
    }
  }
}

std::vector<std::shared_ptr<const MessageSequence>> MessageRecorder::Take() {
  std::vector<std::shared_ptr<const MessageSequence>> taken;
  for (MessageSequence& sequence : sequences_) {
    for (size_t i = 0; i < sequence.items.size(); ++i) {
      sequence.num_messages += sequence.OccurrencesOf(i).count;
    }
    taken.push_back(
        std::make_shared<const MessageSequence>(std::move(sequence)));
  }
  return taken;
}

}  // namespace astra
