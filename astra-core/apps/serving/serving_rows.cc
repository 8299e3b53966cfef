#include "astra-core/apps/serving/serving_rows.h"

#include <utility>

#include "astra-core/base/status_macros.h"
#include "workload/serving/serving_tables.h"

namespace astra {

absl::StatusOr<ServingRows> ServingRows::Begin(const OutputFolder& folder,
                                               const LatencyLimits& limits,
                                               bool writes_steps) {
  ASTRA_ASSIGN_OR_RETURN(TemporaryFile requests, folder.Begin("requests.csv"));
  requests.Append(RequestsHeader());
  ServingRows rows(std::move(requests), limits);
  if (writes_steps) {
    ASTRA_ASSIGN_OR_RETURN(TemporaryFile steps, folder.Begin("steps.csv"));
    steps.Append(StepsHeader());
    rows.steps_.emplace(std::move(steps));
  }
  return rows;
}

void ServingRows::OnRequest(const RequestResult& result) {
  row_.clear();
  AppendRequestRow(result, limits_, &row_);
  requests_.Append(row_);
}

void ServingRows::OnStep(const StepRecord& step) {
  if (!steps_ || step_rows_ == kMostStepRows) return;
  ++step_rows_;
  row_.clear();
  AppendStepRow(step, &row_);
  steps_->Append(row_);
}

std::vector<TemporaryFile> ServingRows::Files() && {
  std::vector<TemporaryFile> files;
  files.push_back(std::move(requests_));
  if (steps_) files.push_back(*std::move(steps_));
  return files;
}

}  // namespace astra
