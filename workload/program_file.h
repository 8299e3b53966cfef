// The file format of programs: YAML.
//
//   simai_program: 1
//   sizes: {gpus: 64, tp: 8, pp: 2, micro_batches: 16}
//   phase: training
//   pipeline_message: 16777216
//   modules:
//     - name: attention_column
//       forward:
//         - {blocking: all-gather, over: TP, bytes: 16777216}
//         - {compute: 812.113us}
//   stages:
//     - count: 2
//       run:
//         - {times: 8, modules: [attention_column]}
//
// docs/formats/programs.md has the grammar.

#ifndef WORKLOAD_PROGRAM_FILE_H_
#define WORKLOAD_PROGRAM_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "workload/program.h"

namespace astra {

// Returns whether `contents` begins, after comments and blank lines, with the
// key that marks a program.
bool IsProgram(std::string_view contents);

// Returns the program that `contents` describes. `file` is its name in
// messages.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ...", and those of Program::Create
// as "FILE: ...".
absl::StatusOr<Program> ParseProgram(std::string_view file,
                                     std::string_view contents);

// Parses the file `path`. Errors: those of ParseProgram and of ReadFile.
absl::StatusOr<Program> ReadProgram(const std::string& path);

// Returns `program` as text, with times in microseconds. ParseProgram reads an
// equal program back. Requires that the names of modules are UTF-8.
std::string FormatProgram(const Program& program);

}  // namespace astra

#endif  // WORKLOAD_PROGRAM_FILE_H_
