#include "astra-core/results/message_sums.h"

#include <algorithm>
#include <utility>

namespace astra {
namespace {

// Stands where a collective has its layer.
constexpr std::string_view kBackground = "(background)";

struct Row {
  const SummedMessages& messages;
  const PairSum& sum;
};

double Mean(double total, uint64_t number) {
  return total / static_cast<double>(number);
}

double MeanSlowdown(const PairSum& sum) {
  constexpr double kMillion = 1e6;
  return Mean(static_cast<double>(sum.total_slowdown_ppm) / kMillion,
              sum.messages);
}

// Returns time / ideal in millionths, rounded to the nearest.
absl::uint128 SlowdownPpm(TimePs time, TimePs ideal) {
  const auto parts = static_cast<absl::uint128>(ideal.count());
  return (static_cast<absl::uint128>(time.count()) * 1'000'000 + parts / 2) /
         parts;
}

constexpr Column<Row> kColumns[] = {
    {"layer", "",
     "layer or module of the collective, or \"(background)\" for traffic of no "
     "collective",
     [](const Row& row, std::string* text) {
       AppendField(
           row.messages.record != nullptr ? row.messages.layer : kBackground,
           text);
     }},
    {"phase", "", "of the collective, as in collectives.csv",
     [](const Row& row, std::string* text) {
       if (row.messages.record == nullptr) return;
       *text += Name(row.messages.record->phase);
     }},
    {"collective", "", "its kind, as in collectives.csv",
     [](const Row& row, std::string* text) {
       if (row.messages.record == nullptr) return;
       *text += Name(row.messages.record->communication.kind);
     }},
    {"group", "", "its dimension, as in collectives.csv",
     [](const Row& row, std::string* text) {
       if (row.messages.record == nullptr) return;
       *text += Name(row.messages.record->communication.dimension);
     }},
    {"first_rank", "", "lowest rank of its group, as in collectives.csv",
     [](const Row& row, std::string* text) {
       if (row.messages.record == nullptr) return;
       AppendInteger(row.messages.record->lowest_rank.index(), text);
     }},
    {"start_us", "us",
     "when its first rank joined, in the micro-batches that were run",
     [](const Row& row, std::string* text) {
       AppendUs(row.messages.origin, text);
     }},
    {"source", "", "node that sends",
     [](const Row& row, std::string* text) {
       AppendInteger(row.sum.source.index(), text);
     }},
    {"target", "", "node that receives",
     [](const Row& row, std::string* text) {
       AppendInteger(row.sum.target.index(), text);
     }},
    {"messages", "", "number of messages from source to target",
     [](const Row& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.sum.messages), text);
     }},
    {"bytes", "B", "of all of them",
     [](const Row& row, std::string* text) {
       AppendInteger(row.sum.bytes.count(), text);
     }},
    {"first_start_us", "us", "when the first message was sent",
     [](const Row& row, std::string* text) {
       AppendUs(row.messages.origin + row.sum.first_start, text);
     }},
    {"last_finish_us", "us", "when the last message had arrived",
     [](const Row& row, std::string* text) {
       AppendUs(row.messages.origin + row.sum.last_finish, text);
     }},
    {"mean_fct_us", "us", "time of a message from start to finish, mean",
     [](const Row& row, std::string* text) {
       AppendNumber(Mean(ToMicroseconds(row.sum.total_time), row.sum.messages),
                    6, text);
     }},
    {"max_fct_us", "us", "the same, longest",
     [](const Row& row, std::string* text) {
       AppendUs(row.sum.longest_time, text);
     }},
    {"mean_slowdown", "", "that time / the time alone on the path, mean",
     [](const Row& row, std::string* text) {
       AppendNumber(MeanSlowdown(row.sum), 4, text);
     }},
    {"max_slowdown", "", "the same, largest",
     [](const Row& row, std::string* text) {
       AppendNumber(row.sum.largest_slowdown, 4, text);
     }},
    {"retransmissions", "", "packets that were sent again",
     [](const Row& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.sum.retransmissions), text);
     }},
};

}  // namespace

void MessageSums::Add(const FlowRecord& message, TimePs origin, uint64_t count,
                      TimePs later) {
  const uint64_t ends =
      uint64_t{message.source.index()} << 32 | message.target.index();
  const auto [place, is_new] =
      index_.try_emplace(ends, static_cast<uint32_t>(sums_.size()));
  if (is_new) {
    PairSum& first = sums_.emplace_back();
    first.source = message.source;
    first.target = message.target;
    first.first_start = message.start - origin;
  }
  PairSum& sum = sums_[place->second];
  const TimePs time = message.finish - message.start;
  const double slowdown = static_cast<double>(time.count()) /
                          static_cast<double>(message.ideal.count());
  const auto times = static_cast<int64_t>(count);
  sum.messages += count;
  sum.retransmissions += count * message.retransmissions;
  sum.bytes += times * message.bytes;
  sum.first_start = std::min(sum.first_start, message.start - origin);
  sum.last_finish = std::max(sum.last_finish, message.finish - origin + later);
  sum.total_time += times * time;
  sum.longest_time = std::max(sum.longest_time, time);
  sum.total_slowdown_ppm += count * SlowdownPpm(time, message.ideal);
  sum.largest_slowdown = std::max(sum.largest_slowdown, slowdown);
}

void MessageSums::Sort() {
  index_ = {};
  std::sort(sums_.begin(), sums_.end(), [](const PairSum& a, const PairSum& b) {
    return std::pair(a.source, a.target) < std::pair(b.source, b.target);
  });
}

std::string MessageSumsHeader() { return HeaderOf<Row>(kColumns); }

void AppendMessageSum(const PairSum& sum, const SummedMessages& messages,
                      std::string* text) {
  AppendRow<Row>(kColumns, {messages, sum}, text);
}

void AppendMessageSumsColumns(std::vector<ColumnText>* texts) {
  AppendTexts<Row>("flows.csv (sums)", kColumns, texts);
}

}  // namespace astra
