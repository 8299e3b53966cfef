// Reads the keys of a job that serves. Each is an option of simai_serving
// without its dashes:
//
//   serving: {model: llama3-8b, gpu-type: H100, tp: 16, requests: 100, ...}
//
// Options that say where requests are served, on which network, and what else
// simai_serving could do are no keys: --jobs says it.

#ifndef ASTRA_CORE_APPS_SIMULATOR_SERVING_KEYS_H_
#define ASTRA_CORE_APPS_SIMULATOR_SERVING_KEYS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "astra-core/apps/run_options.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/jobs/jobs_file.h"

namespace astra {

// Returns the options that simai_serving would have for the deployment of
// `spec`, with the requests of its trace. `options` are those of the program
// that runs the jobs.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a key that is unknown, or
// as AtKey() says it those of ReadSimaiServingOptions() and ReadTrace(), and
// for a list of loads.
absl::StatusOr<SimaiServingOptions> ReadServingKeys(const JobSpec& spec,
                                                    const RunOptions& options);

// Returns an error about options of simai_serving as one about keys: without
// their dashes, with the name of the job, and at the place of the key that it
// names first, or whose text it quotes.
absl::Status AtKey(const JobSpec& spec, const absl::Status& status);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SIMULATOR_SERVING_KEYS_H_
