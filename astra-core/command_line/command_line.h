// Command lines in the style that users of SimAI type: options with one dash or
// two, values behind a space or "=", hyphens or underscores, long names or
// SimAI's short ones.
//
//   gen_topo -topo Spectrum-X --gpu=128 -nsps 1 --asw_switch_num 16

#ifndef ASTRA_CORE_COMMAND_LINE_COMMAND_LINE_H_
#define ASTRA_CORE_COMMAND_LINE_COMMAND_LINE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace astra {

// What a program accepts; a program has a table of them.
struct OptionSpec {
  std::string_view name;     // Our long name, with hyphens: "nics-per-asw".
  std::string_view aliases;  // Other names, as in --help: "g_p_s n_p_s".
  // Name of the value in --help; empty for a flag. A value in brackets,
  // "[0|1]", may be left out, and is then "1".
  std::string_view value;
  std::string_view group;  // The heading in --help, the same for neighbours.
  std::string_view help;   // One line.
};

// A command that works as it is written, for --help and the manual.
struct CommandExample {
  // May span lines, each but the last with a backslash at its end.
  std::string_view command;
  std::string_view purpose;  // Ends with a colon; the command follows it.
};

// The options of a program and those that all programs have.
std::vector<OptionSpec> WithCommonOptions(absl::Span<const OptionSpec> options);

class CommandLine {
 public:
  // Reads the arguments behind the program's name, without the blanks of any
  // script around them. Every name of `options`, and
  // "help", "h" and "version", is accepted.
  //
  // Errors: InvalidArgument for an unknown option (with the nearest name), a
  // missing or unexpected value, an option given twice, or an argument that is
  // no option, beyond the first `max_operands`.
  static absl::StatusOr<CommandLine> Parse(absl::Span<const OptionSpec> options,
                                           int argc, const char* const* argv,
                                           size_t max_operands = 0);

  // The arguments that are neither options nor their values.
  const std::vector<std::string>& operands() const { return operands_; }

  bool has(std::string_view name) const { return values_.count(name) != 0; }

  // The text of option `name`, empty for a flag; none if it was not given.
  std::optional<std::string> value(std::string_view name) const;

  // The whole number that option `name` holds, or `otherwise` if not given.
  //
  // Errors: InvalidArgument "--NAME is ...: expected ...".
  absl::StatusOr<int64_t> integer(std::string_view name, int64_t otherwise,
                                  int64_t min, int64_t max) const;

  // The same for a number with decimals, at least 0.
  absl::StatusOr<double> number(std::string_view name, double otherwise,
                                double max) const;

 private:
  CommandLine() = default;

  std::map<std::string, std::string, std::less<>> values_;  // By long name.
  std::vector<std::string> operands_;
};

// The text of --help: `usage`, then the options under their headings.
std::string HelpText(std::string_view usage,
                     absl::Span<const OptionSpec> options);

// Returns the last section of --help: each purpose with its command below it.
std::string ExamplesText(absl::Span<const CommandExample> examples);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_COMMAND_LINE_H_
