// Handles names that users type, and builds messages about unknown names that
// offer the nearest known name.

#ifndef ASTRA_CORE_BASE_NAMES_H_
#define ASTRA_CORE_BASE_NAMES_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace astra {

// Returns `text` in double quotes for a one-line message. Characters that
// cannot be printed are escaped, and long text is cut.
std::string Quoted(std::string_view text);

// Returns `text` with control characters escaped, except those in `kept`. Use
// it for terminals, where names from files could otherwise move the cursor or
// change colours.
std::string Printable(std::string_view text, std::string_view kept = "");

// Returns whether `text` contains no control characters.
bool IsPlain(std::string_view text);

// Returns whether `text` can name a file or folder within another: it is not
// empty, not a path, not "." or "..", and has no control characters.
bool IsFileName(std::string_view text);

// Returns `text` with ASCII capitals replaced by small letters.
std::string LowerCase(std::string_view text);

// Returns whether a user's `text` means `name` or one of `aliases`. Case does
// not matter, and '_' and ' ' equal '-'.
bool IsNamed(std::string_view text, std::string_view name,
             absl::Span<const std::string> aliases);

// Returns the name that `text` most likely stands for; empty if no name is
// near.
//
// Case does not matter, and '_' and ' ' equal '-'. A name is near, in this
// order, if
//
//   1. one of the two has just one letter more at its end;
//   2. `text` is one of the name's words ("h100" of "dgx-h100");
//   3. at most a third of the letters are edits (insert, delete, replace, swap
//      neighbours);
//   4. one of the two begins with the other.
//
// Among names that are near for the same reason, fewer edits win, then the
// longer common beginning, then the first name.
std::string_view NearestName(std::string_view text,
                             absl::Span<const std::string_view> names);

// Returns: ; did you mean "NEAREST"? The result is empty if no name is near.
std::string DidYouMean(std::string_view text,
                       absl::Span<const std::string_view> names);

// Returns one of
//
//   unknown WHAT "TEXT"; did you mean "NEAREST"? (known: A, B, C)
//   unknown WHAT "TEXT" (known: A, B, C)        where no name is near
//   unknown WHAT "TEXT": none is expected       where `names` is empty
//
// NEAREST may also be one of `aliases`, which are not listed as known.
std::string UnknownName(std::string_view what, std::string_view text,
                        absl::Span<const std::string_view> names,
                        absl::Span<const std::string_view> aliases = {});

}  // namespace astra

#endif  // ASTRA_CORE_BASE_NAMES_H_
