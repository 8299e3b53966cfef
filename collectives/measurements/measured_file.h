// Reads a file of measured collectives in whichever of four formats it is.
//
// Usage:
//   ASTRA_ASSIGN_OR_RETURN(const MeasuredFile file,
//                          ParseMeasuredFile(name, contents));
//
// clang-format off
//   format                       recognized by
//   NCCL's inspector             the first character, which is "{"
//     (inspector_log.h)
//   table (measured_table.h),    a column "bytes", "time_us" or "gpu", or the
//     also of Vidur and of the   columns of other_tables.h
//     regression estimator
//   log of nccl-tests            anything else
//     (nccl_tests_log.h)
// clang-format on
//
// scripts/profile/profile_collectives.py writes a table. Of a log, the times
// out of place are used. A log must tell its collective, its ranks and their
// hosts, because nothing else says what it measured.
//
// Records of the inspector become rows whose GPU and NICs are not stated, and
// whose launch is Launch::kQueued: the time of a kernel contains no launch.

#ifndef COLLECTIVES_MEASUREMENTS_MEASURED_FILE_H_
#define COLLECTIVES_MEASUREMENTS_MEASURED_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/measurements/measured_table.h"

namespace astra {

enum class MeasuredForm { kInspector, kTable, kNcclTests };

// Returns the format of the file `file` with these contents. A file of none of
// the formats is taken for a log of nccl-tests.
MeasuredForm MeasuredFormOf(std::string_view file, std::string_view contents);

struct MeasuredFile {
  std::vector<MeasuredRow> rows;

  // For a file of the inspector, the name of the call that each row times, by
  // index into `rows`; empty for the other formats. Rows with equal names are
  // one call, as several ranks saw it, also if they are in different files.
  std::vector<std::string> calls;
};

// Reads the file `file` with these contents.
//
// Errors: those of the reader of its format; InvalidArgument "FILE: ..." for a
// file that is of none of the formats, and for a log that does not tell its
// collective or its ranks, or that mixes models of GPUs.
absl::StatusOr<MeasuredFile> ParseMeasuredFile(std::string_view file,
                                               std::string_view contents);

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_FILE_H_
