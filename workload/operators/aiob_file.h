// The times that AICB's --aiob_enable measures on a GPU: for each part of a
// layer, the longest, shortest and average run, in microseconds.
//
//   train_iter:10
//   Emb:
//       time_gpu_max: 857
//       time_gpu_min: 782
//       time_gpu_avg: 799.5
//
// A name at the begin of a line begins a section; the lines of a section are
// indented. Source: what AICB writes (SimAI 1.6, utils/utils.py).

#ifndef WORKLOAD_OPERATORS_AIOB_FILE_H_
#define WORKLOAD_OPERATORS_AIOB_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/units.h"

namespace astra {

struct AiobSection {
  std::string name;
  TimePs max;
  TimePs min;
  TimePs average;

  friend bool operator==(const AiobSection&, const AiobSection&) = default;
};

struct AiobFile {
  int64_t train_iter = 0;             // How often each part was run.
  std::vector<AiobSection> sections;  // As in the file; no name twice.

  // The section `name`, or nullptr. It lives in this file.
  const AiobSection* Find(std::string_view name) const;

  friend bool operator==(const AiobFile&, const AiobFile&) = default;
};

// Times are rounded to whole picoseconds.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a first line without
// train_iter, a section or time that is there twice, a section without one of
// its times, a time that is unknown or not a number of microseconds from 0 to
// 10^9.
absl::StatusOr<AiobFile> ParseAiob(std::string_view file,
                                   std::string_view contents);

// ParseAiob of the file `path`. Errors: also those of ReadFile.
absl::StatusOr<AiobFile> ReadAiob(const std::string& path);

// The same format, as AICB writes it.
std::string FormatAiob(const AiobFile& file);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_AIOB_FILE_H_
