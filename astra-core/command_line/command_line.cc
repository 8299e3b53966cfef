#include "astra-core/command_line/command_line.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/command_line/blanks.h"
#include "boost/program_options.hpp"
#include "fmt/core.h"

namespace astra {
namespace {

namespace po = boost::program_options;

constexpr OptionSpec kCommonOptions[] = {
    {"help", "h", "", "Common", "print this text and stop"},
    {"version", "", "", "Common", "print the version and stop"},
};

std::vector<std::string_view> Split(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    parts.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return parts;
}

// Maps every spelling of every option, with hyphens, to the option's long name.
using Spellings = std::map<std::string, std::string_view>;

// Returns an option's name without dashes, with hyphens: "g-p-s" for
// "--g_p_s=8".
std::string NameOf(std::string_view argument) {
  argument = argument.substr(0, argument.find('='));
  argument.remove_prefix(
      std::min(argument.find_first_not_of('-'), argument.size()));
  std::string name(argument);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Spellings AllSpellings(absl::Span<const OptionSpec> options) {
  Spellings spellings;
  for (const OptionSpec& option : options) {
    spellings.emplace(std::string(option.name), option.name);
    for (const std::string_view alias : Split(option.aliases)) {
      spellings.emplace(NameOf(alias), option.name);
    }
  }
  return spellings;
}

// Returns false for values such as "-5" and "-0.5", true for "-g" and "--gpu".
bool LooksLikeOption(std::string_view argument) {
  return argument.size() > 1 && argument[0] == '-' && argument[1] != '.' &&
         std::isdigit(static_cast<unsigned char>(argument[1])) == 0;
}

// Takes the option at the front of `arguments`, if there is one, under its long
// name. Boost then reads its value, unless the option is one of `lacking`,
// which may have none. An unknown name is left unchanged.
std::vector<po::option> TakeOption(
    const Spellings& spellings,
    const std::set<std::string, std::less<>>& lacking,
    std::vector<std::string>& arguments) {
  const std::string argument = arguments.front();
  if (!LooksLikeOption(argument)) return {};
  const auto known = spellings.find(NameOf(argument));
  if (known == spellings.end()) throw po::unknown_option(argument);

  po::option option;
  option.string_key = std::string(known->second);
  option.original_tokens.push_back(argument);
  if (const size_t equals = argument.find('='); equals != std::string::npos) {
    option.value.push_back(argument.substr(equals + 1));
  }
  arguments.erase(arguments.begin());
  if (option.value.empty() && lacking.count(option.string_key) > 0 &&
      !arguments.empty() && !LooksLikeOption(arguments.front())) {
    option.value.push_back(arguments.front());
    arguments.erase(arguments.begin());
  }
  return {option};
}

// Returns the message for an unknown option. It names the value of the nearest
// option: --gpu may take a name where the user expected a number.
std::string UnknownOption(const std::string& argument,
                          const Spellings& spellings,
                          absl::Span<const OptionSpec> options) {
  std::vector<std::string_view> names;
  for (const auto& [spelling, _] : spellings) names.push_back(spelling);
  const std::string name = NameOf(argument);
  if (spellings.count(name) > 0) {  // Boost took the value for an option.
    return fmt::format(
        "--{} needs a value; one that begins with a dash is "
        "given as --{}=VALUE",
        name, name);
  }
  for (const OptionSpec& option : options) {
    for (const std::string_view replaced : Split(option.replaces)) {
      if (NameOf(replaced) != name) continue;
      return fmt::format(
          "--{} is gone: --{}{}{} takes its place (--help has it)", name,
          option.name, option.value.empty() ? "" : " ", option.value);
    }
  }
  const std::string_view nearest = NearestName(name, names);
  if (nearest.empty()) {
    return fmt::format("unknown option {} (--help lists all)",
                       Quoted(argument));
  }
  const auto option =
      std::find_if(options.begin(), options.end(), [&](const OptionSpec& spec) {
        return spec.name == spellings.find(std::string(nearest))->second;
      });
  return fmt::format(
      "unknown option {}; did you mean {}{}{}{}? (--help lists all)",
      Quoted(argument), nearest.size() == 1 ? "-" : "--", nearest,
      option->value.empty() ? "" : " ", option->value);
}

// Describes `options` to Boost. Sets `lacking` to the names of the options
// whose value is optional.
void Describe(absl::Span<const OptionSpec> options,
              po::options_description& description,
              std::set<std::string, std::less<>>& lacking) {
  for (const OptionSpec& option : options) {
    const std::string name(option.name);
    if (option.value.empty()) {
      description.add_options()(name.c_str(), "");
    } else if (option.value.front() == '[') {
      lacking.insert(name);
      description.add_options()(
          name.c_str(), po::value<std::string>()->implicit_value("1"), "");
    } else {
      description.add_options()(name.c_str(), po::value<std::string>(), "");
    }
  }
}

// Returns whether the word that Boost took for the value of `option` is itself
// an option.
bool TookAnOption(const po::option& option, const std::string& value,
                  const Spellings& spellings) {
  const bool is_next_word =
      option.original_tokens.front().find('=') == std::string::npos;
  return is_next_word && LooksLikeOption(value) &&
         spellings.count(NameOf(value)) > 0;
}

absl::Status UnexpectedArgument(const std::string& operand,
                                size_t max_operands) {
  return absl::InvalidArgumentError(
      fmt::format("unexpected argument {}{}", Quoted(operand),
                  max_operands > 0 ? "" : ": every value follows an option"));
}

}  // namespace

std::vector<OptionSpec> WithCommonOptions(
    absl::Span<const OptionSpec> options) {
  std::vector<OptionSpec> all(options.begin(), options.end());
  all.insert(all.end(), std::begin(kCommonOptions), std::end(kCommonOptions));
  return all;
}

absl::StatusOr<CommandLine> CommandLine::Parse(
    absl::Span<const OptionSpec> options, int argc, const char* const* argv,
    size_t max_operands) {
  const std::vector<OptionSpec> all = WithCommonOptions(options);
  const Spellings spellings = AllSpellings(all);
  std::set<std::string, std::less<>> lacking;
  po::options_description description;
  Describe(all, description, lacking);

  CommandLine command_line;
  try {
    const po::parsed_options parsed =
        po::command_line_parser(WordsOf(argc, argv))
            .options(description)
            .style(po::command_line_style::allow_long |
                   po::command_line_style::long_allow_next)
            .extra_style_parser([&](std::vector<std::string>& arguments) {
              return TakeOption(spellings, lacking, arguments);
            })
            .run();
    for (const po::option& option : parsed.options) {
      if (option.position_key != -1) {
        const std::string& operand = option.value.front();
        if (command_line.operands_.size() >= max_operands) {
          return UnexpectedArgument(operand, max_operands);
        }
        command_line.operands_.push_back(operand);
        continue;
      }
      std::string value = lacking.count(option.string_key) > 0 ? "1" : "";
      if (!option.value.empty()) value = option.value.front();
      if (TookAnOption(option, value, spellings)) {
        return absl::InvalidArgumentError(
            fmt::format("the required argument for option '--{}' is missing",
                        option.string_key));
      }
      if (!command_line.values_.emplace(option.string_key, value).second) {
        return absl::InvalidArgumentError(
            fmt::format("--{} is given twice", option.string_key));
      }
    }
  } catch (const po::unknown_option& error) {
    return absl::InvalidArgumentError(
        UnknownOption(error.get_option_name(), spellings, all));
  } catch (const po::error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return command_line;
}

std::optional<std::string> CommandLine::value(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<int64_t> CommandLine::integer(std::string_view name,
                                             int64_t otherwise, int64_t min,
                                             int64_t max) const {
  const std::optional<std::string> text = value(name);
  if (!text) return otherwise;
  return ParseInteger(fmt::format("--{}", name), *text, min, max);
}

absl::StatusOr<double> CommandLine::number(std::string_view name,
                                           double otherwise, double max) const {
  const std::optional<std::string> text = value(name);
  if (!text) return otherwise;
  return ParseNumber(fmt::format("--{}", name), *text, 0, max);
}

std::string HelpText(std::string_view usage,
                     absl::Span<const OptionSpec> options) {
  std::string text(usage);
  const std::vector<OptionSpec> all = WithCommonOptions(options);
  std::string_view group;
  for (const OptionSpec& option : all) {
    if (option.group != group) {
      group = option.group;
      AppendFormat(&text, "\n{}:\n", group);
    }
    std::string names = fmt::format("--{}", option.name);
    for (const std::string_view alias : Split(option.aliases)) {
      names += fmt::format(", -{}", alias);
    }
    if (!option.value.empty()) names += fmt::format(" {}", option.value);
    AppendFormat(&text, "  {:<38} {}\n", names, option.help);
  }
  return text;
}

std::string ExamplesText(absl::Span<const CommandExample> examples) {
  std::string text = "\nExamples:\n";
  for (const CommandExample& example : examples) {
    AppendFormat(&text, "  {}\n    ", example.purpose);
    for (const char character : example.command) {
      text += character;
      if (character == '\n') text += "    ";
    }
    text += '\n';
  }
  return text;
}

}  // namespace astra
