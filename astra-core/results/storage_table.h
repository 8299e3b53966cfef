// storage.csv: what the jobs on one network wrote to storage and read from it.

#ifndef ASTRA_CORE_RESULTS_STORAGE_TABLE_H_
#define ASTRA_CORE_RESULTS_STORAGE_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"
#include "astra-core/results/table.h"

namespace astra {

// Returns the rate of `bytes` in `time`, in 10^9 bytes a second; 0 if it took
// no time.
double StorageGBps(Bytes bytes, TimePs time);

// A checkpoint that was written or read, or the data of one iteration.
struct StorageRow {
  std::string job;
  std::string_view kind;  // "checkpoint", "restore" or "data".
  int64_t iteration = 0;  // The one that it was written before, or read for.
  TimePs begin;
  TimePs end;
  Bytes bytes;
  TimePs waited;  // How long the iteration waited for it.

  double GBps() const { return StorageGBps(bytes, end - begin); }
};

std::string StorageCsv(absl::Span<const StorageRow> rows);

void AppendStorageColumns(std::vector<ColumnText>* texts);

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_STORAGE_TABLE_H_
