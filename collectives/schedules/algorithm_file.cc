#include "collectives/schedules/algorithm_file.h"

#include "collectives/schedules/msccl_file.h"
#include "collectives/schedules/schedule_file.h"

namespace astra {

absl::StatusOr<CustomSchedule> ReadAlgorithm(const std::string& path,
                                             Warnings* warnings) {
  return path.ends_with(".xml") ? ReadMsccl(path, warnings)
                                : ReadSchedule(path);
}

}  // namespace astra
