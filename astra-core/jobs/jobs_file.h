// Reads the file of --jobs: which workloads run on a cluster, where and when.
//
//   simai_jobs: 1
//   placement: spread
//   jobs:
//     - name: llama
//       workload: llama.yaml
//       servers: [0-3, 8]
//     - name: moe
//       workload: moe.yaml
//       start: 5ms
//       iterations: 3
//       checkpoint: {every: 3, bytes: 40GB}
//     - name: chat
//       serving: {model: llama3-8b, gpu-type: H100, requests: 100, ...}
//
// docs/guide/jobs.md has all keys, docs/guide/storage.md those of storage.

#ifndef ASTRA_CORE_JOBS_JOBS_FILE_H_
#define ASTRA_CORE_JOBS_JOBS_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"
#include "astra-core/jobs/placement.h"
#include "astra-core/jobs/storage_use.h"

namespace astra {

// A key of a job that serves: an option of simai_serving.
struct ServingKey {
  std::string name;  // With hyphens, as simai_serving names it.
  std::string text;
  std::string place;  // FILE:LINE:COLUMN, for messages.
};

struct JobSpec {
  std::string place;  // FILE:LINE:COLUMN, for messages.
  std::string name;
  std::string workload;             // File; "" for a job that serves.
  std::vector<ServingKey> serving;  // Of a job that serves; else empty.
  // See PlacementWish.
  std::vector<uint32_t> servers;
  std::vector<uint32_t> gpus_of_server;
  std::optional<std::string> rank_file;
  TimePs start;  // Of the first iteration, or of serving.
  int64_t iterations = 1;
  bool until_served = false;  // Instead of a number of iterations.
  StorageUse storage;
};

struct JobsFile {
  PlacementPolicy placement = PlacementPolicy::kPacked;
  bool runs_alone = true;  // Key `alone`: run each job alone, too.
  std::vector<JobSpec> jobs;

  // Returns whether each job is run alone, too, to compare: a single job is
  // alone anyway.
  bool ComparesAlone() const { return runs_alone && jobs.size() > 1; }
};

constexpr int64_t kMostJobs = 1000;
constexpr int64_t kMostIterations = 1'000'000;

// Parses `contents`. `file` names it in messages; paths in the file are
// relative to its folder.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is missing, unknown
// or wrong; for names that are no file names or that two jobs share; for
// servers or GPUs beside a rank file; for a placement where no job leaves its
// place open; for keys of training in a job that serves; for iterations until
// no job serves in a file without one. What the keys of serving mean is not
// checked.
absl::StatusOr<JobsFile> ParseJobs(std::string_view file,
                                   std::string_view contents);

// Returns `path`, taken from the folder of `file` unless it is absolute.
std::string BesideFile(std::string_view file, const std::string& path);

// Parses a rank file: on line i the number of the GPU of rank i. Lines that are
// empty or begin with "#" do not count.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line that is not one
// number, or a file without any.
absl::StatusOr<std::vector<uint32_t>> ParseRankFile(std::string_view file,
                                                    std::string_view contents);

}  // namespace astra

#endif  // ASTRA_CORE_JOBS_JOBS_FILE_H_
