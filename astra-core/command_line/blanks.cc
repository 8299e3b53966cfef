#include "astra-core/command_line/blanks.h"

namespace astra {
namespace {

// The blanks in UTF-8: those of ASCII, U+00A0, U+1680, U+2000 to U+200A,
// U+202F, U+205F, U+3000 and U+FEFF.
constexpr std::string_view kBlanks[] = {" ",
                                        "\t",
                                        "\n",
                                        "\v",
                                        "\f",
                                        "\r",
                                        "\xc2\xa0",
                                        "\xe1\x9a\x80",
                                        "\xe2\x80\x80",
                                        "\xe2\x80\x81",
                                        "\xe2\x80\x82",
                                        "\xe2\x80\x83",
                                        "\xe2\x80\x84",
                                        "\xe2\x80\x85",
                                        "\xe2\x80\x86",
                                        "\xe2\x80\x87",
                                        "\xe2\x80\x88",
                                        "\xe2\x80\x89",
                                        "\xe2\x80\x8a",
                                        "\xe2\x80\xaf",
                                        "\xe2\x81\x9f",
                                        "\xe3\x80\x80",
                                        "\xef\xbb\xbf"};

// Removes a blank from the begin or the end of `text`. Returns whether one was
// there.
bool TakeBlank(std::string_view& text) {
  for (const std::string_view blank : kBlanks) {
    if (text.starts_with(blank)) {
      text.remove_prefix(blank.size());
      return true;
    }
    if (text.ends_with(blank)) {
      text.remove_suffix(blank.size());
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view WithoutBlanks(std::string_view text) {
  while (TakeBlank(text)) {
  }
  return text;
}

std::vector<std::string> WordsOf(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view whole = argv[i];
    const std::string_view word = WithoutBlanks(whole);
    if (word.empty() && !whole.empty()) continue;
    words.emplace_back(word);
  }
  return words;
}

}  // namespace astra
