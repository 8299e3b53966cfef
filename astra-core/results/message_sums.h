// Sums over the messages of a collective, by source and target, and flows.csv
// as a table of such sums.
//
//   MessageSums sums;
//   sums.Add(message, start);   // Each message.
//   sums.Sort();
//   for (const PairSum& sum : sums.all()) {
//     AppendMessageSum(sum, {layer, &record, start}, &text);
//   }
//
// Times in the sums are counted from the start of the collective. A collective
// that repeats another one to the picosecond thus has the same sums, and only
// its lines differ.
//
// Memory: about 110 B for each pair of nodes that exchange messages, 80 B once
// the sums are sorted.

#ifndef ASTRA_CORE_RESULTS_MESSAGE_SUMS_H_
#define ASTRA_CORE_RESULTS_MESSAGE_SUMS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/result.h"
#include "astra-core/results/table.h"
#include "network-frontends/network_statistics.h"

namespace astra {

// Sums over the messages from one node to another.
struct PairSum {
  NodeId source;
  NodeId target;
  uint64_t messages = 0;
  uint64_t retransmissions = 0;  // Packets that were sent again.
  Bytes bytes;
  TimePs first_start;  // When the first message was sent.
  TimePs last_finish;  // When the last message had arrived.
  // Over messages: the time from start to arrival.
  TimePs total_time;
  TimePs longest_time;
  // Over messages: that time, divided by the time alone on the path. The total
  // is in millionths, so that adding it up rounds nothing.
  absl::uint128 total_slowdown_ppm = 0;
  double largest_slowdown = 0;
};

class MessageSums {
 public:
  // Counts the times of `message` from `origin`. There are `count` of them, the
  // last of which comes `later` than the first. The sums do not depend on the
  // order in which messages are added. Not allowed after Sort().
  void Add(const FlowRecord& message, TimePs origin, uint64_t count = 1,
           TimePs later = {});

  // Orders the sums by source and then target.
  void Sort();

  absl::Span<const PairSum> all() const { return sums_; }

 private:
  // Index into sums_ by source and target; for look-up only.
  absl::flat_hash_map<uint64_t, uint32_t> index_;
  std::vector<PairSum> sums_;
};

// Returns the first line of flows.csv with sums.
std::string MessageSumsHeader();

// The messages whose sums are written: those of a collective of `layer`, or
// those of background traffic if `record` is null.
struct SummedMessages {
  std::string_view layer;
  const CollectiveRecord* record = nullptr;
  TimePs origin;  // From which the times of the sums are counted.
};

// Appends the line of `sum`, which is one of those of `messages`.
void AppendMessageSum(const PairSum& sum, const SummedMessages& messages,
                      std::string* text);

void AppendMessageSumsColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_MESSAGE_SUMS_H_
