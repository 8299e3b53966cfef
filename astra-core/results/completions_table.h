// completions.csv: how long the messages of each pattern of traffic took.

#ifndef ASTRA_CORE_RESULTS_COMPLETIONS_TABLE_H_
#define ASTRA_CORE_RESULTS_COMPLETIONS_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/results/table.h"
#include "network-frontends/traffic/traffic.h"

namespace astra {

// Messages of one pattern, or of all. The completion time of a message is from
// its start to its arrival. The times are those of messages that have arrived;
// if none has, they are 0 and mean nothing.
struct CompletionRow {
  std::string pattern;
  uint64_t messages = 0;
  uint64_t arrived = 0;
  Bytes bytes;  // Of the messages that have arrived.
  double mean_us = 0;
  TimePs median;
  TimePs p99;
  TimePs longest;
  TimePs first_start;
  TimePs last_finish;

  // Returns whether the row has times.
  bool has_times() const { return arrived > 0; }

  // Bytes of messages that have arrived, over the time from the first start to
  // the last arrival; 0 if no time passed.
  double gigabytes_per_s() const {
    return GigabytesPerSecond(bytes, last_finish - first_start);
  }
};

// Returns a row for each pattern and, if there are several, a row "all". A
// percentile is the smallest completion time that so many percent of the
// messages do not exceed. `finish` has the arrival of each message, negative if
// it has not arrived.
std::vector<CompletionRow> CompletionsOf(const Traffic& traffic,
                                         absl::Span<const TimePs> finish);

std::string CompletionsCsv(absl::Span<const CompletionRow> rows);

void AppendCompletionsColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_COMPLETIONS_TABLE_H_
