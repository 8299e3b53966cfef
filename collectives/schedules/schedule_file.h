// Schedules as YAML files, such as those of inputs/schedules.
//
//   name: exchange
//   kind: all-reduce         # See CollectiveKind.
//   ranks: 2
//   chunks: 2                # Of the buffer; a multiple of ranks where each
//   has
//                            # a part, of its square in an all-to-all.
//   channels: 1              # May be absent, then 1.
//   root: 0                  # The same, 0. Of a broadcast, reduce, ...
//   steps:                   # Positions count from 0.
//     - {send: 0, to: 1, chunk: 1, reduce: true}
//     - {send: 1, to: 0, chunk: 0, reduce: true}
//     - {send: 0, to: 1, chunk: 0}
//     - {send: 1, to: 0, chunk: 1, count: 1, channel: 0, after: [0]}
//
// A step is a message from rank `send` to rank `to`, of `count` chunks (absent:
// 1) from `chunk` on. The receiver adds them to its own with `reduce: true`,
// else takes them in place of its own.
//
// A step begins when all steps that `after` lists have arrived. They must stand
// before it, and leave from or go to its sender. Without `after`, a step waits
// for what its sender has of the chunks: for the steps before it that bring one
// of them there, those since the last that does not reduce. A step sends what
// the steps it waits for have brought, and what its sender had at the start; so
// two ranks can swap their contributions with `after: []`. See
// FindWrongContents for what else must hold.

#ifndef COLLECTIVES_SCHEDULES_SCHEDULE_FILE_H_
#define COLLECTIVES_SCHEDULES_SCHEDULE_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collectives/schedules/custom_schedule.h"

namespace astra {

// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for what is not as above, a
// field that is missing, one that is not known; and for a schedule that does
// not carry out its collective, where the step at fault stands or, where it is
// the result, where the steps do.
absl::StatusOr<CustomSchedule> ParseSchedule(std::string_view file,
                                             std::string_view contents);

// ParseSchedule of the file `path`. Errors: also those of ReadFile.
absl::StatusOr<CustomSchedule> ReadSchedule(const std::string& path);

// The file of `schedule`; ParseSchedule makes the same of it.
//
// Errors: FailedPrecondition if FindWrongContents finds something: an algorithm
// of MSCCL may hold several copies of a chunk on one rank, which a file like
// this cannot say.
absl::StatusOr<std::string> WriteSchedule(const CustomSchedule& schedule);

}  // namespace astra

#endif  // COLLECTIVES_SCHEDULES_SCHEDULE_FILE_H_
