// The command lines of one point of a sweep, and the key that tells whether
// they would give again what they gave before.

#ifndef ASTRA_CORE_SWEEP_POINT_COMMANDS_H_
#define ASTRA_CORE_SWEEP_POINT_COMMANDS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/sweep/sweep_points.h"

namespace astra {

// SHA-256 of files, each read once.
class FileHashes {
 public:
  // Errors: those of ReadFile.
  absl::StatusOr<std::string> Of(const std::string& path);

  // The same of a path that need not name a regular file: then none.
  absl::StatusOr<std::optional<std::string>> OfAny(const std::string& path);

 private:
  // By path; none where there is no such file.
  std::map<std::string, std::optional<std::string>> hashes_;
};

// A file that a point depends on: one that its options name.
struct PointInput {
  std::string path;  // As the sweep file spells it.
  std::string sha256;
};

// A program with its arguments, but for those that name its output and what
// other steps wrote.
struct PointStep {
  const SweptProgram* program;
  std::vector<std::string> arguments;  // "--gpu", "128", ...
  // Tells apart whatever may change what the step writes: its arguments, the
  // contents of the files they name, the executable, the steps it reads from.
  std::string key;
};

struct PreparedPoint {
  SweepPoint point;
  std::vector<PointStep> steps;    // The last is the run, the others first.
  std::vector<PointInput> inputs;  // In the order of the arguments, each once.

  // Of the last step, and so of the point.
  const std::string& key() const { return steps.back().key; }
};

// What `sweep` runs for `point`, with the executables in `program_folder`.
//
// Errors: InvalidArgument where an option's value cannot be evaluated, or is
// not true or false though it is a flag's ("FILE:LINE:COLUMN: ..."); those of
// ReadFile for an executable or an input.
absl::StatusOr<PreparedPoint> PreparePoint(const Sweep& sweep,
                                           const SweepPoint& point,
                                           const std::string& program_folder,
                                           FileHashes& hashes);

// The same of all points. Those that differ in no option, only in what metrics
// are computed from, have the same key and are run once.
absl::StatusOr<std::vector<PreparedPoint>> PreparePoints(
    const Sweep& sweep, const SweepPoints& points,
    const std::string& program_folder, FileHashes& hashes);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_POINT_COMMANDS_H_
