// Formats command lines as a person would type them into a shell.

#ifndef ASTRA_CORE_BASE_SHELL_WORD_H_
#define ASTRA_CORE_BASE_SHELL_WORD_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Returns `text` as one shell word: unchanged if no character is special to a
// shell, otherwise in single quotes.
std::string ShellWord(std::string_view text);

// Returns the words of a command, each as a ShellWord(), with spaces between
// them.
std::string ShellCommand(const std::vector<std::string>& words);

}  // namespace astra

#endif  // ASTRA_CORE_BASE_SHELL_WORD_H_
