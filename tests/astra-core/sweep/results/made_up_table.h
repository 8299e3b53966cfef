// Tables of results for tests.

#ifndef TESTS_ASTRA_CORE_SWEEP_RESULTS_MADE_UP_TABLE_H_
#define TESTS_ASTRA_CORE_SWEEP_RESULTS_MADE_UP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/sweep/results/sweep_table.h"
#include "fmt/core.h"

namespace astra::testing {

// A finished row; the caller numbers it.
inline SweepRow FinishedRow(std::vector<std::string> values,
                            std::vector<std::optional<double>> metrics) {
  SweepRow row;
  row.state = PointState::kFinished;
  row.values = std::move(values);
  row.metrics = std::move(metrics);
  return row;
}

inline SweepRow FailedRow(std::vector<std::string> values, std::string reason,
                          size_t num_metrics) {
  SweepRow row;
  row.state = PointState::kFailed;
  row.values = std::move(values);
  row.reason = std::move(reason);
  row.metrics.resize(num_metrics);
  return row;
}

inline SweepRow PendingRow(std::vector<std::string> values,
                           size_t num_metrics) {
  SweepRow row;
  row.values = std::move(values);
  row.metrics.resize(num_metrics);
  return row;
}

// Numbers the rows from 1 and names their keys after that: "k1".
inline std::vector<SweepRow> Numbered(std::vector<SweepRow> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].number = static_cast<uint32_t>(i + 1);
    rows[i].key = fmt::format("k{}", i + 1);
  }
  return rows;
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_SWEEP_RESULTS_MADE_UP_TABLE_H_
