// Reads what a run of simai_analytical or simai_simulator left in its folder:
// run.json, collectives.csv and, of programs and traces, breakdown.csv.

#ifndef ASTRA_CORE_APPS_COMPARE_FINISHED_RUN_H_
#define ASTRA_CORE_APPS_COMPARE_FINISHED_RUN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/engine/breakdown.h"

namespace astra {

// A number of run.json that runs are compared by.
struct FigureSpec {
  std::string_view name;     // With the unit.
  std::string_view section;  // Mapping at the root of run.json.
  std::string_view group;    // Mapping within it; empty: none.
  std::string_view key;
  double scale = 1;  // What the value is multiplied with.
  int decimals = 0;  // Digits that are shown behind the point.
  // Names what the rank did in this time, if the figure is a part of the
  // iteration.
  std::optional<TimeCategory> category = std::nullopt;
  std::optional<ParallelDimension> dimension = std::nullopt;
  // Whether runs that have the section may lack the figure, as those of traces
  // lack tokens.
  bool is_optional = false;
};

// Returns the figures in the order in which they are shown. The first is the
// iteration in milliseconds.
absl::Span<const FigureSpec> RunFigures();

struct RunSummary {
  std::string name;
  // Every key of run.json that tells what was run, such as "model.fidelity",
  // and its value, in the order of the file.
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<std::optional<double>> figures;  // By RunFigures().
  bool has_breakdown = false;  // The run was of a program or a trace.
};

// The time of one stage, of its rank that works longest.
struct StageBreakdown {
  uint32_t stage = 0;
  uint32_t rank = 0;
  std::vector<double> parts_ms;  // By kTimeParts.
};

struct CollectiveTotal {
  int64_t count = 0;
  double ms = 0;  // From the last rank's start to the last result, summed.
};

// By the group and the kind of collective, such as "TP" and "all-reduce".
using CollectiveTotals =
    std::map<std::pair<std::string, std::string>, CollectiveTotal>;

struct FinishedRun {
  std::string label;  // The folder, as the user names it.
  RunSummary summary;
  std::vector<StageBreakdown> stages;  // Empty without a breakdown.
  CollectiveTotals collectives;
};

// Parse one file of a folder. `file` is its name in messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is missing or is not
// as these programs write it, and for a run of another program or one that has
// not finished.
absl::StatusOr<RunSummary> ParseRunSummary(std::string_view file,
                                           std::string_view contents);
absl::StatusOr<std::vector<StageBreakdown>> ParseBreakdown(
    std::string_view file, std::string_view contents);
absl::StatusOr<CollectiveTotals> ParseCollectives(std::string_view file,
                                                  std::string_view contents);

// Reads the files of `folder`.
//
// Errors: those of ReadFile and of the functions above.
absl::StatusOr<FinishedRun> ReadFinishedRun(const std::string& folder);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_COMPARE_FINISHED_RUN_H_
