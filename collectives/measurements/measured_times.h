// Collects measured times of collectives, to be used in front of a model.
//
// Usage:
//   ASTRA_ASSIGN_OR_RETURN(const MeasuredTimes times,
//                          MeasuredTimes::Read(paths, {.gpu = "H100"}));
//   for (const std::string& line : times.notes()) warnings->Add(line);
//   nccl_options.measured =
//       std::make_shared<const MeasuredCurves>(times.curves());
//
// Files are in any of the formats of measured_file.h. The rows of all files
// that are alike in collective, servers and GPUs of each server make one curve.
// Where a size was measured several times, the median counts; of an even
// number, the lower of the two in the middle. Ranks that saw the same call of a
// collective count once, with the shortest of their times: the kernels of ranks
// that come earlier also wait for the last one.
//
// Rows that are left out are counted, and notes() says why: rows that make no
// sense (MeasuredRow::problem), that time the kernels of an inference engine,
// that are graded X, that were measured on another GPU, with another launch or
// with other buffers than asked, and rows for which NCCL was told the algorithm
// or the protocol (NCCL_ALGO, NCCL_PROTO), because NCCL would have chosen
// another.
//
// Limits: NICs, versions and other settings of NCCL are not compared with those
// of the system that is simulated. A note tells where a curve joins rows that
// differ in NICs (between servers), in settings or in launches.

#ifndef COLLECTIVES_MEASUREMENTS_MEASURED_TIMES_H_
#define COLLECTIVES_MEASUREMENTS_MEASURED_TIMES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/files.h"
#include "collectives/launch.h"
#include "collectives/measured_curve.h"

namespace astra {

// Says which rows are used.
struct MeasuredFilter {
  // Name of the GPU; only its model counts, see GpuModelOf(). If empty, rows of
  // any GPU are used, but not of two models in one curve. Rows that state no
  // GPU, as those of NCCL's inspector, are always used; a note says so.
  std::string gpu;

  // Launch of the collectives. A row that states none was launched by the host.
  // Nullopt: rows of any launch are used.
  std::optional<Launch> launch;

  bool symmetric = false;  // Buffers are in symmetric memory.
};

class MeasuredTimes {
 public:
  // Reads the files `paths`.
  //
  // Errors: those of ReadFile and ParseMeasuredFile; InvalidArgument for no
  // path, a path that is given twice, a file of which no row can be used, and,
  // if the filter names no GPU, rows of two models of GPU in one curve.
  static absl::StatusOr<MeasuredTimes> Read(absl::Span<const std::string> paths,
                                            const MeasuredFilter& filter);

  // Reads files that are in memory. Errors: as for Read(), without ReadFile's.
  static absl::StatusOr<MeasuredTimes> Parse(absl::Span<const NamedFile> files,
                                             const MeasuredFilter& filter);

  const MeasuredCurves& curves() const { return curves_; }

  // Returns one line for each fact that a user should know, such as
  //   FILE: 3 of 10 rows are left out: measured on A100, not on H100 (3)
  // first of the files in their order, then of the curves in theirs.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  friend class MeasuredTimesBuilder;

  MeasuredTimes(MeasuredCurves curves, std::vector<std::string> notes)
      : curves_(std::move(curves)), notes_(std::move(notes)) {}

  MeasuredCurves curves_;
  std::vector<std::string> notes_;
};

}  // namespace astra

#endif  // COLLECTIVES_MEASUREMENTS_MEASURED_TIMES_H_
