// Reads command lines in the style that users of SimAI type: options with one
// dash or two, values behind a space or "=", hyphens or underscores, long names
// or SimAI's short ones.
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

// One option that a program accepts; each program has a table of these.
struct OptionSpec {
  std::string_view name;     // Long name, with hyphens: "nics-per-asw".
  std::string_view aliases;  // Other names, as shown in --help: "g_p_s n_p_s".
  // Name of the value in --help; empty for a flag. A value in brackets, such as
  // "[0|1]", is optional; without it the value is "1".
  std::string_view value;
  std::string_view group;  // Heading in --help; neighbours share it.
  std::string_view help;   // Help text of one line.
  // Names of options that this one has replaced: "lowering backend". They are
  // errors that name this option.
  std::string_view replaces = {};
};

// A command that works as it is written, for --help and the manual.
struct CommandExample {
  // May span lines, each but the last with a backslash at its end.
  std::string_view command;
  std::string_view purpose;  // Ends with a colon; the command follows it.
};

// Returns `options` together with the options that all programs have.
std::vector<OptionSpec> WithCommonOptions(absl::Span<const OptionSpec> options);

class CommandLine {
 public:
  // Reads the arguments behind the program's name, without Unicode blanks
  // around them. Accepts every name in `options`, and "help", "h" and
  // "version".
  //
  // Errors: InvalidArgument for an unknown option (with the nearest name), a
  // missing or unexpected value, an option given twice, and an argument that is
  // not an option, after the first `max_operands` of these.
  static absl::StatusOr<CommandLine> Parse(absl::Span<const OptionSpec> options,
                                           int argc, const char* const* argv,
                                           size_t max_operands = 0);

  // Returns the arguments that are neither options nor their values.
  const std::vector<std::string>& operands() const { return operands_; }

  bool has(std::string_view name) const { return values_.count(name) != 0; }

  // Returns the value of option `name`: empty for a flag, none if it was not
  // given.
  std::optional<std::string> value(std::string_view name) const;

  // Returns the value of option `name` as a whole number, or `otherwise` if the
  // option was not given.
  //
  // Errors: InvalidArgument "--NAME is ...: expected ...".
  absl::StatusOr<int64_t> integer(std::string_view name, int64_t otherwise,
                                  int64_t min, int64_t max) const;

  // Like integer(), for a number with decimals that is at least 0.
  absl::StatusOr<double> number(std::string_view name, double otherwise,
                                double max) const;

 private:
  CommandLine() = default;

  // Values of the options that were given, by long name of the option.
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> operands_;
};

// Returns the text of --help: `usage`, then the options under their headings.
std::string HelpText(std::string_view usage,
                     absl::Span<const OptionSpec> options);

// Returns the last section of --help: each purpose with its command below it.
std::string ExamplesText(absl::Span<const CommandExample> examples);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_COMMAND_LINE_H_
