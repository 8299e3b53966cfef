// Builds the command lines of one point of a sweep, and the key that tells
// whether running them again would give the same results.

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

// Computes SHA-256 hashes of files and reads each file only once.
class FileHashes {
 public:
  // Returns the hash of the file `path`. Errors: those of ReadFile.
  absl::StatusOr<std::string> Of(const std::string& path);

  // Like Of(), for a path that need not name a regular file: then returns none.
  absl::StatusOr<std::optional<std::string>> OfAny(const std::string& path);

 private:
  // Hash of each path; none where there is no such file.
  std::map<std::string, std::optional<std::string>> hashes_;
};

// A file that an option of the point names, and that the point depends on.
struct PointInput {
  std::string path;  // Path as the sweep file spells it.
  std::string sha256;
};

// A program with its arguments, without those that name its output or the files
// that other steps wrote.
struct PointStep {
  const SweptProgram* program;
  std::vector<std::string> arguments;  // "--gpu", "128", ...
  // Hash of everything that may change what the step writes: its arguments, the
  // contents of the files they name, the executable, and the steps it reads
  // from.
  std::string key;
};

struct PreparedPoint {
  SweepPoint point;
  // The run is last; the steps that make its inputs come first.
  std::vector<PointStep> steps;
  std::vector<PointInput> inputs;  // In the order of the arguments, each once.

  // Returns the key of the last step, which is the key of the point.
  const std::string& key() const { return steps.back().key; }
};

// Returns the steps that run `point` of `sweep`, with the executables in
// `program_folder`.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." where the value of an option
// cannot be evaluated, or the value of a flag is not true or false; the errors
// of ReadFile for an executable or an input.
absl::StatusOr<PreparedPoint> PreparePoint(const Sweep& sweep,
                                           const SweepPoint& point,
                                           const std::string& program_folder,
                                           FileHashes& hashes);

// Prepares all points. Points that differ in no option, but only in variables
// that metrics are computed from, have the same key and are run once.
absl::StatusOr<std::vector<PreparedPoint>> PreparePoints(
    const Sweep& sweep, const SweepPoints& points,
    const std::string& program_folder, FileHashes& hashes);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_POINT_COMMANDS_H_
