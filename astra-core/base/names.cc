#include "astra-core/base/names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

constexpr size_t kMaxQuotedLength = 60;

char Lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Optimal string alignment distance, by dynamic programming over prefixes.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1,
                                        std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 &&
                           Lower(a[i - 1]) == Lower(b[j - 2]) &&
                           Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
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
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const std::string_view name : names) {
    const size_t edits = EditDistance(text, name);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = name;
  }
  return nearest;
}

bool IsNamed(std::string_view text, std::string_view name,
             absl::Span<const std::string> aliases) {
  const auto canonical = [](char c) { return c == '_' ? '-' : Lower(c); };
  const auto is_text = [&](std::string_view other) {
    return std::equal(
        text.begin(), text.end(), other.begin(), other.end(),
        [&](char a, char b) { return canonical(a) == canonical(b); });
  };
  return is_text(name) || std::any_of(aliases.begin(), aliases.end(), is_text);
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
    // Names may come from a file.
    known.push_back(IsPlain(name) ? std::string(name) : Quoted(name));
  }
  return fmt::format("unknown {} {}; did you mean {}? (known: {})", what,
                     Quoted(text), Quoted(NearestName(text, all)),
                     fmt::join(known, ", "));
}

}  // namespace astra
