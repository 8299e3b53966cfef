// Options of the commands of simai_sweep.

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
  std::string_view operands;  // Operands in --help: "SWEEP|FOLDER".
  std::string_view help;      // Description in one line.
  absl::Span<const OptionSpec> options;
  size_t min_operands;
  size_t max_operands;
};

// Returns the commands in the order in which people use them.
absl::Span<const SweepCommand> SweepCommands();

// Return the text of simai_sweep --help, and the text of a command's --help.
std::string SimaiSweepHelp();
std::string SweepCommandHelp(const SweepCommand& command);

// Returns the examples that simai_sweep --help ends with.
absl::Span<const CommandExample> SimaiSweepExamples();

// Returns the command `name`. Errors: InvalidArgument for an unknown command,
// with the nearest name.
absl::StatusOr<const SweepCommand*> FindSweepCommand(std::string_view name);

// How much a command prints, and in which form.
enum class SweepOutput : uint8_t { kText, kQuiet, kJsonLines };

// Reads --quiet and --json. Errors: InvalidArgument if both are given.
absl::StatusOr<SweepOutput> ReadSweepOutput(const CommandLine& flags);

// Options of `run`, `resume` and `retry`.
struct SweepRunOptions {
  std::optional<std::string> folder;  // Value of --output.
  // Folder of the paths in the sweep file.
  std::optional<std::string> relative_to;
  std::string program_folder;
  bool programs_given = false;  // If not, resume uses the earlier folder.
  bool keep_given = false;
  std::string scheduler = "local";
  SchedulerOptions options;
  std::optional<std::string> name;  // Name of the sweep.
  int64_t keep_bytes = int64_t{1} << 20;
  std::vector<uint32_t> points;  // Value of --point; empty: all.
  bool dry_run = false;
  bool count = false;
  SweepOutput output = SweepOutput::kText;
};

// Reads the options of a run. Errors: InvalidArgument for a value that an
// option cannot have, and for an option that has no effect with the others.
absl::StatusOr<SweepRunOptions> ReadSweepRunOptions(const CommandLine& flags);

// Returns the numbers that "3,5-9" lists, in ascending order.
//
// Errors: InvalidArgument for a text that is no such list, a number below 1 or
// above kMaxPoints, and a number that occurs twice.
absl::StatusOr<std::vector<uint32_t>> ParsePointList(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SWEEP_SIMAI_SWEEP_OPTIONS_H_
