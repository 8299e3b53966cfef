// Command lines as a person types them into a shell.

#ifndef ASTRA_CORE_SWEEP_EXECUTION_SHELL_WORD_H_
#define ASTRA_CORE_SWEEP_EXECUTION_SHELL_WORD_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra {

// `text` as one word: as it is where no character of it means something to a
// shell, else in single quotes.
std::string ShellWord(std::string_view text);

// The words of a command with blanks between them.
std::string ShellCommand(const std::vector<std::string>& words);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_EXECUTION_SHELL_WORD_H_
