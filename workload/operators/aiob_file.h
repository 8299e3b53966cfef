// Reads the times that AICB's --aiob_enable measures on a GPU: the longest, the
// shortest and the average run of each part of a layer, in microseconds.
//
//   train_iter:10
//   Emb:
//       time_gpu_max: 857
//       time_gpu_min: 782
//       time_gpu_avg: 799.5
//
// A name at the begin of a line starts a section, and the lines of a section
// are indented. Source: what AICB writes (SimAI 1.6, utils/utils.py).

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
  int64_t train_iter = 0;  // Number of runs of each part.
  // In the order of the file; no name occurs twice.
  std::vector<AiobSection> sections;

  // Returns the section `name`, or nullptr. The pointer is valid as long as the
  // file.
  const AiobSection* Find(std::string_view name) const;

  friend bool operator==(const AiobFile&, const AiobFile&) = default;
};

// Parses an AIOB file. Times are rounded to whole picoseconds.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a first line without
// train_iter, a section or time that occurs twice, a section that lacks a time,
// an unknown time, and a time that is not a number of microseconds from 0 to
// 10^9.
absl::StatusOr<AiobFile> ParseAiob(std::string_view file,
                                   std::string_view contents);

// Parses the file `path`. Errors: those of ParseAiob and of ReadFile.
absl::StatusOr<AiobFile> ReadAiob(const std::string& path);

// Formats the file as AICB writes it.
std::string FormatAiob(const AiobFile& file);

}  // namespace astra

#endif  // WORKLOAD_OPERATORS_AIOB_FILE_H_
