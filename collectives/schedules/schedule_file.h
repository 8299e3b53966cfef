// Reads and writes schedules as YAML files, such as those of inputs/schedules.
//
// clang-format off
//   name: exchange
//   kind: all-reduce         # See CollectiveKind.
//   ranks: 2
//   chunks: 2                # Of the buffer: a multiple of ranks if each rank
//                            # has a part, of ranks^2 in an all-to-all.
//   channels: 1              # Absent: 1.
//   root: 0                  # Absent: 0. For a broadcast, reduce, ...
//   steps:                   # Positions count from 0.
//     - {send: 0, to: 1, chunk: 1, reduce: true}
//     - {send: 1, to: 0, chunk: 0, reduce: true}
//     - {send: 0, to: 1, chunk: 0}
//     - {send: 1, to: 0, chunk: 1, count: 1, channel: 0, after: [0]}
// clang-format on
//
// A step is a message from rank `send` to rank `to`, of `count` chunks (absent:
// 1) from `chunk` on. With `reduce: true` the receiver adds them to its own;
// otherwise they replace its own.
//
// A step begins when all steps that `after` lists have arrived. They must stand
// before it, and leave from or go to its sender. Without `after`, a step waits
// for the earlier steps that bring one of its chunks to its sender, from the
// last that does not reduce on. A step sends what its sender had at the start
// and what the steps for which it waits have brought; so two ranks can swap
// their contributions with `after: []`. FindWrongContents says what else must
// hold.

#ifndef COLLECTIVES_SCHEDULES_SCHEDULE_FILE_H_
#define COLLECTIVES_SCHEDULES_SCHEDULE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/schedules/custom_schedule.h"

namespace astra {

// Reads a schedule.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for text that does not have
// the format above, and for a field that is missing or unknown. If the schedule
// does not carry out its collective, the place is the step at fault or, if the
// final result is wrong, the list of steps.
absl::StatusOr<CustomSchedule> ParseSchedule(std::string_view file,
                                             std::string_view contents);

// Applies ParseSchedule to the file `path`. Errors: also those of ReadFile.
absl::StatusOr<CustomSchedule> ReadSchedule(const std::string& path);

// Returns a file from which ParseSchedule reads the same schedule.
//
// Errors: FailedPrecondition if FindWrongContents finds a fault. An algorithm
// of MSCCL may hold several copies of a chunk on one rank, which this format
// cannot express.
absl::StatusOr<std::string> WriteSchedule(const CustomSchedule& schedule);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_SCHEDULE_FILE_H_
