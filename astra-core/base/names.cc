#include "astra-core/base/names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

constexpr size_t kMaxQuotedLength = 60;

// Shortest part of a name that counts: no user means a name by a single letter.
constexpr size_t kShortestPart = 2;

char Lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Returns `c` with case and '_' normalised, as users mix both.
char Canonical(char c) { return c == '_' || c == ' ' ? '-' : Lower(c); }

// Returns the optimal string alignment distance, by dynamic programming.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1,
                                        std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Canonical(a[i - 1]) == Canonical(b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 &&
                           Canonical(a[i - 1]) == Canonical(b[j - 2]) &&
                           Canonical(a[i - 2]) == Canonical(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t length = 0;
  while (length < std::min(a.size(), b.size()) &&
         Canonical(a[length]) == Canonical(b[length])) {
    ++length;
  }
  return length;
}

// Returns whether `text` is one or several whole words of `name`: "h100" of
// "dgx-h100".
bool IsWordsOf(std::string_view text, std::string_view name) {
  const auto is_letter = [&](size_t i) {
    return i < name.size() &&
           std::isalnum(static_cast<unsigned char>(name[i])) != 0;
  };
  if (text.size() < kShortestPart) return false;
  for (size_t i = 0; i + text.size() <= name.size(); ++i) {
    const bool is_here = CommonPrefix(text, name.substr(i)) == text.size();
    const bool is_inside =
        (i > 0 && is_letter(i - 1)) || is_letter(i + text.size());
    if (is_here && !is_inside) return true;
  }
  return false;
}

// How `text` resembles a name, from the nearest kind to the farthest.
enum Resemblance { kOneLetterMore, kWords, kFewEdits, kBeginning, kFar };

struct Nearness {
  Resemblance resemblance;
  size_t edits = 0;
  size_t prefix = 0;  // Number of letters that both begin with.

  friend bool operator<(const Nearness& a, const Nearness& b) {
    return std::tie(a.resemblance, a.edits, b.prefix) <
           std::tie(b.resemblance, b.edits, a.prefix);
  }
};

Nearness NearnessOf(std::string_view text, std::string_view name) {
  const size_t edits = EditDistance(text, name);
  const size_t prefix = CommonPrefix(text, name);
  const size_t shorter = std::min(text.size(), name.size());
  const size_t longer = std::max(text.size(), name.size());
  Resemblance resemblance = kFar;
  if (edits == 0 || (edits == 1 && prefix == shorter)) {
    resemblance = kOneLetterMore;
  } else if (IsWordsOf(text, name)) {
    resemblance = kWords;
  } else if (edits <= (longer + 1) / 3) {
    resemblance = kFewEdits;
  } else if (prefix == shorter && shorter >= kShortestPart) {
    resemblance = kBeginning;
  }
  return {resemblance, edits, prefix};
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxQuotedLength)) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (std::isprint(static_cast<unsigned char>(c)) != 0) {
      quoted += c;
    } else {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  quoted += text.size() > kMaxQuotedLength ? "...\"" : "\"";
  return quoted;
}

std::string Printable(std::string_view text, std::string_view kept) {
  std::string printable;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next =
        static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    // U+0080 to U+009F in UTF-8, which are control characters too.
    const bool is_two = byte == 0xc2 && 0x80 <= next && next <= 0x9f;
    if (is_two || (std::iscntrl(byte) != 0 &&
                   kept.find(text[i]) == std::string_view::npos)) {
      printable += fmt::format("\\x{:02x}", byte);
      if (is_two) printable += fmt::format("\\x{:02x}", next);
      i += is_two ? 1 : 0;
    } else {
      printable += text[i];
    }
  }
  return printable;
}

bool IsPlain(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return std::iscntrl(c) != 0; });
}

bool IsFileName(std::string_view text) {
  return !text.empty() && text.find('/') == text.npos && text != "." &&
         text != ".." && IsPlain(text);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

std::string_view NearestName(std::string_view text,
                             absl::Span<const std::string_view> names) {
  text = text.substr(0, kMaxQuotedLength);
  std::string_view nearest;
  Nearness best{kFar};
  for (const std::string_view name : names) {
    const Nearness nearness = NearnessOf(text, name);
    if (!(nearness < best)) continue;
    best = nearness;
    nearest = name;
  }
  return nearest;
}

bool IsNamed(std::string_view text, std::string_view name,
             absl::Span<const std::string> aliases) {
  const auto is_text = [&](std::string_view other) {
    return std::equal(
        text.begin(), text.end(), other.begin(), other.end(),
        [&](char a, char b) { return Canonical(a) == Canonical(b); });
  };
  return is_text(name) || std::any_of(aliases.begin(), aliases.end(), is_text);
}

std::string DidYouMean(std::string_view text,
                       absl::Span<const std::string_view> names) {
  const std::string_view nearest = NearestName(text, names);
  return nearest.empty() ? ""
                         : fmt::format("; did you mean {}?", Quoted(nearest));
}

std::string UnknownName(std::string_view what, std::string_view text,
                        absl::Span<const std::string_view> names,
                        absl::Span<const std::string_view> aliases) {
  if (names.empty()) {
    return fmt::format("unknown {} {}: none is expected", what, Quoted(text));
  }
  std::vector<std::string_view> all(names.begin(), names.end());
  all.insert(all.end(), aliases.begin(), aliases.end());
  std::vector<std::string> known;
  known.reserve(names.size());
  for (const std::string_view name : names) {
    // Quotes names that are not plain, because names may come from a file.
    known.push_back(IsPlain(name) ? std::string(name) : Quoted(name));
  }
  return fmt::format("unknown {} {}{} (known: {})", what, Quoted(text),
                     DidYouMean(text, all), fmt::join(known, ", "));
}

}  // namespace astra
