// Gathers what a run of one load leaves behind: its result files.
//
//   ASTRA_ASSIGN_OR_RETURN(const auto record,
//                          ServingRecord::Begin(options, folder));
//   const ServingRun run = ...;   // With the watchers of the record.
//   WriteServingFiles(folder, options.output, record->Files(run, setup));

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_RECORD_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_RECORD_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/serving/load_series.h"
#include "astra-core/apps/serving/serving_rows.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/apps/serving/serving_setup.h"
#include "astra-core/apps/serving/serving_timeline.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "workload/serving/simulation.h"

namespace astra {

class ServingRecord {
 public:
  // Begins the files of one run in `folder`. `options` must outlive the object.
  // Errors: those of ServingRows::Begin.
  static absl::StatusOr<std::unique_ptr<ServingRecord>> Begin(
      const SimaiServingOptions& options, const OutputFolder& folder);

  ServingRecord(const ServingRecord&) = delete;
  ServingRecord& operator=(const ServingRecord&) = delete;

  // Returns what the run has to tell its results.
  std::vector<ServingObserver*> Watchers();

  // Returns the files of the run, first those that were written while it went
  // on. May be called once.
  std::vector<NamedFile> Files(const ServingRun& run,
                               const ServingSetup& setup);

  // Returns what the files leave out.
  Warnings LeftOut(const ServingRun& run) const;

 private:
  ServingRecord(const SimaiServingOptions& options, ServingRows rows)
      : options_(options), rows_(std::move(rows)) {}

  const SimaiServingOptions& options_;
  ServingRows rows_;
  LoadSeries series_;
  ServingTimeline timeline_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_RECORD_H_
