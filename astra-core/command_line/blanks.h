// Removes blanks around the words of a command line. A command copied from a
// document may contain the ideographic space U+3000, a no-break space or
// another Unicode blank where the shell expects a space. The shell then takes
// the blank for a part of the word.

#ifndef ASTRA_CORE_COMMAND_LINE_BLANKS_H_
#define ASTRA_CORE_COMMAND_LINE_BLANKS_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Returns `text`, in UTF-8, without blanks at its begin and end. Blanks are
// those of ASCII, all characters of Unicode's category Zs, and U+FEFF.
std::string_view WithoutBlanks(std::string_view text);

// Returns the arguments behind the program's name without the blanks around
// them. An argument of only blanks is dropped; an empty argument stays.
std::vector<std::string> WordsOf(int argc, const char* const* argv);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_BLANKS_H_
