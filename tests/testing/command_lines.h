// Command lines as text.

#ifndef TESTS_TESTING_COMMAND_LINES_H_
#define TESTS_TESTING_COMMAND_LINES_H_

#include <sstream>
#include <string>
#include <vector>

#include "astra-core/command_line/command_line.h"

namespace astra::testing {

// CommandLine::Parse of a program's arguments, one each.
inline absl::StatusOr<CommandLine> ParseWords(
    absl::Span<const OptionSpec> options, const std::vector<std::string>& words,
    size_t max_operands = 0) {
  std::vector<const char*> argv = {"program"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return CommandLine::Parse(options, static_cast<int>(argv.size()), argv.data(),
                            max_operands);
}

// The same of arguments separated by spaces.
inline absl::StatusOr<CommandLine> ParseArguments(
    absl::Span<const OptionSpec> options, const std::string& arguments,
    size_t max_operands = 0) {
  std::istringstream stream(arguments);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return ParseWords(options, words, max_operands);
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_COMMAND_LINES_H_
