// The commands of simai_sweep and what their command lines say.

#ifndef ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_OPTIONS_H_
#define ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/sweep/execution/scheduler.h"

namespace astra {

struct SweepCommand {
  std::string_view name;
  std::string_view operands;  // "SWEEP|FOLDER".
  std::string_view help;      // One line.
  absl::Span<const OptionSpec> options;
  size_t min_operands;
  size_t max_operands;
};

// In the order in which people use them.
absl::Span<const SweepCommand> SweepCommands();

// The text of simai_sweep --help, and that of a command's --help.
std::string SimaiSweepHelp();
std::string SweepCommandHelp(const SweepCommand& command);

// The examples that simai_sweep --help ends with.
absl::Span<const CommandExample> SimaiSweepExamples();

// Errors: InvalidArgument for an unknown command, with the nearest.
absl::StatusOr<const SweepCommand*> FindSweepCommand(std::string_view name);

// How much a command says.
enum class SweepOutput : uint8_t { kText, kQuiet, kJsonLines };

// Errors: InvalidArgument for --quiet with --json.
absl::StatusOr<SweepOutput> ReadSweepOutput(const CommandLine& flags);

// What `run`, `resume` and `retry` are told.
struct SweepRunOptions {
  std::optional<std::string> folder;       // --output
  std::optional<std::string> relative_to;  // Paths in the sweep file are.
  std::string program_folder;
  bool programs_given = false;  // Else resume takes those of before.
  bool keep_given = false;
  std::string scheduler = "local";
  SchedulerOptions options;
  std::optional<std::string> name;  // Of the sweep.
  int64_t keep_bytes = int64_t{1} << 20;
  std::vector<uint32_t> points;  // --point; empty: all.
  bool dry_run = false;
  bool count = false;
  SweepOutput output = SweepOutput::kText;
};

// Errors: InvalidArgument for values that are none, and for options that have
// no effect with the others.
absl::StatusOr<SweepRunOptions> ReadSweepRunOptions(const CommandLine& flags);

// The numbers that "3,5-9" lists, in ascending order.
//
// Errors: InvalidArgument for what is no such list, a number below 1 or above
// kMaxPoints, and a number that is there twice.
absl::StatusOr<std::vector<uint32_t>> ParsePointList(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_OPTIONS_H_
