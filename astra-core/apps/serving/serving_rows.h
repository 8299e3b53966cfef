// Writes requests.csv and steps.csv row by row while requests are served, so
// that memory does not grow with what has ended.
//
//   ASTRA_ASSIGN_OR_RETURN(ServingRows rows,
//                          ServingRows::Begin(folder, limits, writes_steps));
//   RunServing(job, times, {.source = ..., .watchers = {&rows}});
//   folder.Write(other_files, {}, std::move(rows).Files());

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_ROWS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/files.h"
#include "astra-core/base/temporary_file.h"
#include "workload/serving/metrics.h"
#include "workload/serving/simulation.h"

namespace astra {

// Most rows of steps.csv. A run of more steps has only the first ones there.
inline constexpr int64_t kMostStepRows = 1'000'000;

class ServingRows : public ServingObserver {
 public:
  // Begins the files in `folder`. Requests are held to `limits`. Errors: those
  // of OutputFolder::Begin.
  static absl::StatusOr<ServingRows> Begin(const OutputFolder& folder,
                                           const LatencyLimits& limits,
                                           bool writes_steps);

  void OnRequest(const RequestResult& result) override;
  void OnStep(const StepRecord& step) override;
  void OnTokens(TimePs, int64_t) override {}

  // Returns the files, for OutputFolder::Write.
  std::vector<TemporaryFile> Files() &&;

 private:
  ServingRows(TemporaryFile requests, const LatencyLimits& limits)
      : limits_(limits), requests_(std::move(requests)) {}

  LatencyLimits limits_;
  TemporaryFile requests_;
  std::optional<TemporaryFile> steps_;
  int64_t step_rows_ = 0;
  std::string row_;  // Kept for its memory.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_ROWS_H_
