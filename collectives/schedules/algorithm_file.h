// Reads an algorithm that a user wrote down, in either of the formats.

#ifndef COLLECTIVES_SCHEDULES_ALGORITHM_FILE_H_
#define COLLECTIVES_SCHEDULES_ALGORITHM_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "collectives/schedules/custom_schedule.h"

namespace astra {

// Reads the file `path`: MSCCL's XML if its name ends with ".xml", else YAML.
//
// Errors: those of ReadMsccl and ReadSchedule.
absl::StatusOr<CustomSchedule> ReadAlgorithm(const std::string& path,
                                             Warnings* warnings);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_ALGORITHM_FILE_H_
