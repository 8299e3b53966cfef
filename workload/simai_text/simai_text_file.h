// Reads and writes SimAI's text format for workloads, which AICB writes.
//
//   POLICY key: value key: value ...
//   number_of_layers
//   name -1 ns TYPE bytes ns TYPE bytes ns TYPE bytes update_ns
//
// with a time, a collective and its size for each of the three phases: forward,
// input gradient, weight gradient.
//
// docs/formats/workloads.md has the grammar. All policies of SimAI are
// recognised; those that are not executed yet are refused by name.
//
// Source: the reader of SimAI 1.6 and the output of AICB.

#ifndef WORKLOAD_SIMAI_TEXT_SIMAI_TEXT_FILE_H_
#define WORKLOAD_SIMAI_TEXT_SIMAI_TEXT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/program.h"
#include "workload/simai_text/simai_text.h"

namespace astra {

// Reads `contents`; `file` is its name in messages. Words of the file that have
// no effect (unknown keys, sizes beside NONE, collectives of 0 bytes,
// dependencies) are added to `warnings`, one line for each kind with the first
// place.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...", Unimplemented for a policy
// that is not executed yet.
absl::StatusOr<SimaiText> ParseSimaiText(std::string_view file,
                                         std::string_view contents,
                                         Warnings* warnings);

// Returns the program that `contents` describes. Errors: also those of
// ProgramOf, with the place of the key at fault.
absl::StatusOr<Program> ParseSimaiProgram(std::string_view file,
                                          std::string_view contents,
                                          Warnings* warnings);

// Writes the text as AICB does, with one tab between columns and times in whole
// nanoseconds. Requires a text that the format can express, which holds for
// every text that was read: times are whole nanoseconds, and no collective is
// over TP in the weight-gradient phase, over DP in another phase, over PP, or a
// send-recv, a dispatch or a combine.
std::string FormatSimaiText(const SimaiText& simai);

}  // namespace astra

#endif  // WORKLOAD_SIMAI_TEXT_SIMAI_TEXT_FILE_H_
