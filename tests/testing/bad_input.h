// Tables of inputs that a reader must refuse.

#ifndef TESTS_TESTING_BAD_INPUT_H_
#define TESTS_TESTING_BAD_INPUT_H_

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/core.h"

namespace astra::testing {

struct BadInput {
  std::string name;      // Of the test: what is wrong, as one word.
  std::string contents;  // Of the file.
  std::string message;   // All of it.
};

inline void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

inline std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n') + 1;  // 0 where there is none.
    lines.push_back(text.substr(0, end == 0 ? text.size() : end));
    text.remove_prefix(lines.back().size());
  }
  return lines;
}

// `text` with another line in the place of line `number`, counted from 1.
inline std::string WithLine(std::string_view text, size_t number,
                            std::string_view line) {
  std::string changed;
  size_t i = 0;
  for (const std::string_view old : SplitLines(text)) {
    changed += ++i == number ? fmt::format("{}\n", line) : std::string(old);
  }
  return changed;
}

}  // namespace astra::testing

#endif  // TESTS_TESTING_BAD_INPUT_H_
