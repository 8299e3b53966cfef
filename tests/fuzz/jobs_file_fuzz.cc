// Any bytes are a file of jobs, and a rank file, or an error of one line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/jobs/jobs_file.h"

namespace astra {
namespace {

void CheckMessage(const absl::Status& status) {
  ASTRA_CHECK(std::string(status.message()).find('\n') == std::string::npos,
              "a message of several lines");
}

void Check(std::string_view input) {
  const absl::StatusOr<JobsFile> jobs = ParseJobs("f", input);
  CheckMessage(jobs.status());
  if (jobs.ok()) {
    ASTRA_CHECK(!jobs->jobs.empty(), "no job");
    for (const JobSpec& job : jobs->jobs) {
      ASTRA_CHECK(job.iterations >= 1 && job.start >= TimePs(0), "{}",
                  job.name);
      ASTRA_CHECK(
          job.serving.empty() || (job.workload.empty() && job.storage.empty()),
          "work of {}", job.name);
      const StorageUse& storage = job.storage;
      ASTRA_CHECK(
          !storage.checkpoint || (storage.checkpoint->amount.bytes > Bytes(0) &&
                                  storage.checkpoint->every >= 1 &&
                                  storage.checkpoint->pause >= TimePs(0)),
          "checkpoint of {}", job.name);
      ASTRA_CHECK(!storage.restore || storage.restore->amount.bytes > Bytes(0),
                  "restore of {}", job.name);
      ASTRA_CHECK(!storage.data || (storage.data->amount.bytes > Bytes(0) &&
                                    storage.data->ahead >= 0),
                  "data of {}", job.name);
    }
  }
  CheckMessage(ParseRankFile("f", input).status());
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  astra::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
