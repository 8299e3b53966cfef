#include "astra-core/planner/simumax/simumax_files.h"

#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"

namespace astra {

absl::StatusOr<SimumaxFiles> ReadSimumaxFiles(const SimumaxPaths& paths,
                                              Warnings* warnings) {
  SimumaxFiles files;
  ASTRA_ASSIGN_OR_RETURN(const std::string model, ReadFile(paths.model));
  ASTRA_ASSIGN_OR_RETURN(files.model,
                         ParseSimumaxModel(paths.model, model, warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::string strategy, ReadFile(paths.strategy));
  ASTRA_ASSIGN_OR_RETURN(
      files.strategy, ParseSimumaxStrategy(paths.strategy, strategy, warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::string system, ReadFile(paths.system));
  ASTRA_ASSIGN_OR_RETURN(files.system,
                         ParseSimumaxSystem(paths.system, system, warnings));
  return files;
}

}  // namespace astra
