// Blanks around the words of a command line. Commands that are copied from a
// document may have the ideographic space U+3000, a no-break space or another
// blank of Unicode where the shell expects a space, which it then takes for a
// part of the word.

#ifndef ASTRA_CORE_COMMAND_LINE_BLANKS_H_
#define ASTRA_CORE_COMMAND_LINE_BLANKS_H_

#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Returns `text`, in UTF-8, without the blanks at its begin and its end. Blanks
// are those of ASCII, all of Unicode's category Zs, and U+FEFF.
std::string_view WithoutBlanks(std::string_view text);

// Returns the arguments behind the program's name without the blanks around
// them. An argument of blanks only is left out; an empty one stays.
std::vector<std::string> WordsOf(int argc, const char* const* argv);

}  // namespace astra

#endif  // ASTRA_CORE_COMMAND_LINE_BLANKS_H_
