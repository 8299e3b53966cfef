#include "astra-core/command_line/shell_files.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {

std::string_view CompletionFunctions();  // Contents of completion.bash.

namespace {

std::string Replaced(std::string_view text, std::string_view what,
                     std::string_view with) {
  std::string result;
  for (size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what)) {
    result.append(text.substr(0, at)).append(with);
    text.remove_prefix(at + what.size());
  }
  return result.append(text);
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Splits `text` at each separator and leaves out empty parts.
std::vector<std::string> Split(std::string_view text,
                               std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

// Returns `text` as one word of bash.
std::string BashWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/";
  if (!text.empty() &&
      text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  return fmt::format("'{}'", Replaced(text, "'", "'\\''"));
}

absl::Span<const ShellTerm> ValuesOf(const ShellProgram& program,
                                     std::string_view option) {
  for (const ShellValues& values : program.values) {
    if (values.option == option) return values.values;
  }
  return {};
}

bool HasOption(absl::Span<const OptionSpec> options, std::string_view name) {
  return std::any_of(
      options.begin(), options.end(),
      [name](const OptionSpec& option) { return option.name == name; });
}

void CheckValues(const ShellProgram& program) {
  for (const ShellValues& values : program.values) {
    const bool is_known =
        HasOption(program.options, values.option) ||
        std::any_of(program.commands.begin(), program.commands.end(),
                    [&values](const ShellCommand& command) {
                      return HasOption(command.options, values.option);
                    });
    ASTRA_CHECK(is_known, "{} has no --{}", program.name, values.option);
    for (const ShellTerm& value : values.values) {
      ASTRA_CHECK(!value.name.empty() && !Contains(value.name, " "),
                  "--{} of {} has the value {}", values.option, program.name,
                  Quoted(value.name));
    }
  }
}

// Returns the kind of an option's value, for the completion.
std::string_view KindOf(std::string_view value) {
  if (Contains(value, "FILE,...")) return "files";
  if (Contains(value, "FILE") || value == "LOG") return "file";
  return Contains(value, "DIR") ? "folder" : "word";
}

std::string Join(absl::Span<const std::string> words,
                 std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

// Returns NAME=(WORD ...), broken into lines of 80 columns.
std::string BashArray(std::string_view indent, std::string_view name,
                      const std::vector<std::string>& words) {
  std::string text = fmt::format("{}{}=(", indent, name);
  size_t column = text.size();
  for (const std::string& word : words) {
    const std::string quoted = BashWord(word);
    if (column + quoted.size() > 78) {
      text += fmt::format("\n{}  ", indent);
      column = indent.size() + 2;
    } else if (text.back() != '(') {
      text += ' ';
    }
    text += quoted;
    column += quoted.size() + 1;
  }
  return text + ")\n";
}

// Returns all spellings of an option, such as "--name -alias -alias".
std::string SpellingsOf(const OptionSpec& option) {
  std::string names = fmt::format("--{}", option.name);
  for (const std::string& alias : Split(option.aliases, " ")) {
    names += fmt::format(" -{}", alias);
  }
  return names;
}

std::vector<std::string> Names(absl::Span<const ShellTerm> terms) {
  std::vector<std::string> names;
  names.reserve(terms.size());
  for (const ShellTerm& term : terms) names.push_back(term.name);
  return names;
}

// Returns the names of `options`, and a case for each option.
std::string BashOptions(const ShellProgram& program,
                        absl::Span<const OptionSpec> options,
                        std::string_view indent) {
  const std::vector<OptionSpec> all = WithCommonOptions(options);
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const OptionSpec& option : all) names.push_back(SpellingsOf(option));
  std::string text = BashArray(indent, "names", names);
  text += fmt::format("{}case $name in\n", indent);
  for (const OptionSpec& option : all) {
    std::vector<std::string> spellings = {std::string(option.name)};
    for (const std::string& alias : Split(option.aliases, " ")) {
      spellings.push_back(Replaced(alias, "_", "-"));
    }
    text += fmt::format("{}  {}) option={}", indent, Join(spellings, " | "),
                        option.name);
    if (!option.value.empty()) {
      text += fmt::format(" takes={}", KindOf(option.value));
    }
    const absl::Span<const ShellTerm> values = ValuesOf(program, option.name);
    if (values.empty()) {
      text += " ;;\n";
      continue;
    }
    text += "\n";
    text += BashArray(fmt::format("{}    ", indent), "words", Names(values));
    text += fmt::format("{}    ;;\n", indent);
  }
  return text + fmt::format("{}esac\n", indent);
}

// Returns the kind of an operand, for the completion.
std::string_view OperandKind(std::string_view operand) {
  if (Contains(operand, "COMMAND")) return "word";
  return Contains(operand, "FOLDER") ? "folder" : "yaml";
}

// Returns the line that sets the kinds of operands.
std::string BashOperands(std::string_view operands, std::string_view indent) {
  std::vector<std::string> kinds;
  for (const std::string& operand : Split(operands, " ")) {
    kinds.emplace_back(OperandKind(operand));
  }
  return BashArray(indent, "operands", kinds);
}

// Returns a case for each command, and one for no command.
std::string BashCommands(const ShellProgram& program) {
  constexpr std::string_view kIndent = "      ";
  std::vector<std::string> commands;
  commands.reserve(program.commands.size());
  for (const ShellCommand& command : program.commands) {
    commands.emplace_back(command.name);
  }
  std::string text = fmt::format(
      "  case $1 in\n    '')\n{0}operands=(word)\n{1}{2}{0};;\n", kIndent,
      BashArray(kIndent, "words", commands), BashOptions(program, {}, kIndent));
  for (const ShellCommand& command : program.commands) {
    if (!command.program.empty()) {
      text += fmt::format("    {}) delegate={} ;;\n", command.name,
                          command.program);
      continue;
    }
    text += fmt::format("    {})\n{}", command.name,
                        BashOperands(command.operands, kIndent));
    if (Contains(command.operands, "COMMAND")) {
      text += BashArray(kIndent, "words", commands);
    }
    text += fmt::format("{1}{0};;\n", kIndent,
                        BashOptions(program, command.options, kIndent));
  }
  return text + "  esac\n";
}

// Returns commands that load the completions which commands are delegated to.
// These completions lie beside that of `program`.
std::string BashDelegates(const ShellProgram& program) {
  std::string text;
  for (const ShellCommand& command : program.commands) {
    if (command.program.empty()) continue;
    text += fmt::format("source \"${{BASH_SOURCE[0]%{}}}{}\"\n", program.name,
                        command.program);
  }
  return text;
}

// Escapes characters that roff would interpret or print as other characters.
std::string Roff(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '"':
        result += "\\(dq";
        break;
      default:
        result += character;
    }
  }
  return result;
}

// Returns a line of text that roff does not take for a request.
std::string RoffLine(std::string_view text) {
  const bool is_request = !text.empty() && text.front() == '.';
  return fmt::format("{}{}\n", is_request ? "\\&" : "", Roff(text));
}

// Returns text that `man` fills, broken into short lines.
std::string RoffText(std::string_view text) {
  constexpr size_t kColumns = 72;
  std::string lines;
  std::string line;
  for (const std::string& word : Split(Replaced(text, "\n", " "), " ")) {
    if (!line.empty() && line.size() + word.size() >= kColumns) {
      lines += RoffLine(line);
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line.empty() ? lines : lines + RoffLine(line);
}

std::string Bold(std::string_view text) {
  return fmt::format("\\fB{}\\fP", Roff(text));
}

// Returns terms, each with its explanation.
std::string RoffTerms(absl::Span<const ShellTerm> terms) {
  std::string text;
  for (const ShellTerm& term : terms) {
    text += fmt::format(".TP\n{}\n{}", Bold(term.name), RoffText(term.help));
  }
  return text;
}

std::string RoffSection(std::string_view heading,
                        absl::Span<const ShellTerm> terms) {
  if (terms.empty()) return "";
  return fmt::format(".SH {}\n{}", heading, RoffTerms(terms));
}

// Returns the values that the help text does not mention yet.
std::string RoffValues(absl::Span<const ShellTerm> values,
                       std::string_view help) {
  const bool has_help =
      std::any_of(values.begin(), values.end(),
                  [](const ShellTerm& value) { return !value.help.empty(); });
  if (has_help) return fmt::format(".RS\n{}.RE\n", RoffTerms(values));
  const bool is_new = std::any_of(
      values.begin(), values.end(),
      [help](const ShellTerm& value) { return !Contains(help, value.name); });
  if (!is_new) return "";
  const std::string names = Join(Names(values), ", ");
  return fmt::format(".br\n{}", RoffText(fmt::format("Known: {}.", names)));
}

std::string RoffOptions(const ShellProgram& program,
                        absl::Span<const OptionSpec> options,
                        std::string_view heading) {
  std::string text;
  std::string_view group;
  for (const OptionSpec& option : options) {
    if (option.group != group) {
      group = option.group;
      text += fmt::format("{} \"{}\"\n", heading, Roff(group));
    }
    std::vector<std::string> names;
    for (const std::string& name : Split(SpellingsOf(option), " ")) {
      names.push_back(Bold(name));
    }
    text += fmt::format(".TP\n{}", Join(names, ", "));
    if (!option.value.empty()) {
      text += fmt::format(" \\fI{}\\fP", Roff(option.value));
    }
    text += fmt::format("\n{}", RoffText(option.help));
    text += RoffValues(ValuesOf(program, option.name), option.help);
  }
  return text;
}

std::string RoffCommands(const ShellProgram& program) {
  if (program.commands.empty()) return "";
  std::string text = ".SH COMMANDS\n";
  for (const ShellCommand& command : program.commands) {
    text += fmt::format(".SS \"{} {}\"\n{}", command.name,
                        Roff(command.operands), RoffText(command.help));
    text += RoffOptions(program, command.options, ".PP\n.I");
  }
  return text;
}

// Returns the lines of the usage unchanged, with the program's name in bold.
std::string RoffUsage(const ShellProgram& program, std::string_view usage) {
  constexpr std::string_view kBegin = "usage: ";
  std::string text = ".SH SYNOPSIS\n.nf\n";
  for (std::string_view line : Split(usage, "\n")) {
    line.remove_prefix(std::min(kBegin.size(), line.size()));
    const bool is_named = line.substr(0, program.name.size()) == program.name;
    if (is_named) line.remove_prefix(program.name.size());
    text +=
        fmt::format("{}{}\n", is_named ? Bold(program.name) : "", Roff(line));
  }
  return text + ".fi\n";
}

// Returns the first sentence in the form of page lists: "writes the topology
// file".
std::string Summary(std::string_view description) {
  std::string summary = Replaced(description, "\n", " ");
  summary.resize(std::min(summary.find(". "), summary.size()));
  if (summary.back() == '.') summary.pop_back();
  return LowerCase(summary.substr(0, 1)) + summary.substr(1);
}

std::string RoffExamples(absl::Span<const CommandExample> examples) {
  std::string text;
  for (const CommandExample& example : examples) {
    text += text.empty() ? ".SH EXAMPLES\n" : ".PP\n";
    text += fmt::format("{}.PP\n.RS 4\n.nf\n", RoffText(example.purpose));
    for (const std::string& line : Split(example.command, "\n")) {
      text += RoffLine(line);
    }
    text += ".fi\n.RE\n";
  }
  return text;
}

constexpr std::string_view kSpelling =
    "An option may have one dash or two, hyphens or underscores, and its value "
    "behind a space or \"=\".";

}  // namespace

std::string BashCompletion(const ShellProgram& program) {
  CheckValues(program);
  std::string text = fmt::format(
      "# Completion of {0} in bash, made of the options that it reads.\n\n"
      "# Sets `names` to the options there are behind the command $1, "
      "`operands` to\n# the kinds of its operands and, for the option $2, "
      "`option` to its long name,\n# `takes` to the kind of its value, and "
      "`words` to values that are known.\n"
      "_{0}_table() {{\n"
      "  local name=${{2%%=*}}\n"
      "  name=${{name#-}}\n"
      "  name=${{name#-}}\n"
      "  name=${{name//_/-}}\n"
      "  names=() operands=() option='' takes='' words=()\n",
      program.name);
  if (!program.operands.empty()) text += BashOperands(program.operands, "  ");
  text += program.commands.empty() ? BashOptions(program, program.options, "  ")
                                   : BashCommands(program);
  text += "}\n";
  text += Replaced(CompletionFunctions(), "PROGRAM", program.name);
  return text + BashDelegates(program);
}

std::string ManPage(const ShellProgram& program, std::string_view version) {
  CheckValues(program);
  const std::vector<std::string> paragraphs = Split(program.help, "\n\n");
  ASTRA_CHECK(paragraphs.size() >= 2, "the help of {} says too little",
              program.name);
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"simai\\-cpp {}\" \"simai\\-cpp\"\n.ad l\n"
      ".SH NAME\n{} \\- {}\n",
      program.name, Roff(version), program.name, Roff(Summary(paragraphs[1])));
  text += RoffUsage(program, paragraphs[0]);
  text += fmt::format(".SH DESCRIPTION\n{}", RoffText(paragraphs[1]));
  text += RoffCommands(program);
  text += fmt::format(".SH OPTIONS\n{}", RoffText(kSpelling));
  text += RoffOptions(program, WithCommonOptions(program.options), ".SS");
  text += RoffSection("EXIT STATUS", program.exit_codes);
  text += RoffSection("FILES", program.files);
  text += RoffExamples(program.examples);
  if (!program.related.empty()) {
    std::vector<std::string> pages;
    pages.reserve(program.related.size());
    for (const std::string_view name : program.related) {
      pages.push_back(fmt::format(".BR {} (1)", name));
    }
    text += fmt::format(".SH SEE ALSO\n{}\n", Join(pages, ",\n"));
  }
  return text;
}

}  // namespace astra
