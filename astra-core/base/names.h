// Names as users type them, and messages for one that is not known: they offer
// the nearest one that is.

#ifndef ASTRA_CORE_BASE_NAMES_H_
#define ASTRA_CORE_BASE_NAMES_H_

#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace astra {

// `text` in double quotes, with what cannot be printed escaped, and cut short
// where it is long: safe to put into a one-line message.
std::string Quoted(std::string_view text);

// `text` with control characters escaped, but those in `kept`: what may be
// shown on a terminal, on which names from files could else move the cursor or
// change colours.
std::string Printable(std::string_view text, std::string_view kept = "");

// Whether `text` is without control characters.
bool IsPlain(std::string_view text);

// Whether `text` can name a file or folder within another: it is not empty, no
// path, not "." or "..", and without control characters.
bool IsFileName(std::string_view text);

// `text` with small letters for the capital ones of ASCII.
std::string LowerCase(std::string_view text);

// Whether `text` is `name` or one of `aliases`, as users type them: letters
// compared without case, '_' and '-' as one.
bool IsNamed(std::string_view text, std::string_view name,
             absl::Span<const std::string> aliases);

// The name that `text` most likely stands for; empty where none is near.
//
// Letters are compared without case, '_' and '-' as one. A name is near, in
// this order: if one of both has just one letter more at its end; if `text` is
// one of the name's words ("h100" of "dgx-h100"); if at most a third of the
// letters are edits (insert, delete, replace, swap neighbours); if one of both
// begins with the other. Among names that are near for the same reason, fewer
// edits win, then the longer common beginning, then the first.
std::string_view NearestName(std::string_view text,
                             absl::Span<const std::string_view> names);

// Returns: ; did you mean "NEAREST"?
// or nothing where no name is near.
std::string DidYouMean(std::string_view text,
                       absl::Span<const std::string_view> names);

// Returns: unknown WHAT "TEXT"; did you mean "NEAREST"? (known: A, B, C)
// without the question where no name is near; or, where `names` is empty:
// unknown WHAT "TEXT": none is expected
// The nearest may also be one of `aliases`, which are not listed.
std::string UnknownName(std::string_view what, std::string_view text,
                        absl::Span<const std::string_view> names,
                        absl::Span<const std::string_view> aliases = {});

}  // namespace astra

#endif  // ASTRA_CORE_BASE_NAMES_H_
