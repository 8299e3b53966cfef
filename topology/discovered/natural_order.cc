#include "topology/discovered/natural_order.h"

#include <algorithm>
#include <cstddef>

namespace astra {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes the next run off `text`: digits without zeros before them, or one other
// character.
std::string_view TakeRun(std::string_view& text) {
  size_t length = 1;
  if (IsDigit(text.front())) {
    while (length < text.size() && IsDigit(text[length])) ++length;
  }
  std::string_view run = text.substr(0, length);
  text.remove_prefix(length);
  while (run.size() > 1 && run.front() == '0') run.remove_prefix(1);
  return run;
}

}  // namespace

bool IsNaturallyLess(std::string_view a, std::string_view b) {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    const bool are_numbers = IsDigit(rest_a.front()) && IsDigit(rest_b.front());
    const std::string_view run_a = TakeRun(rest_a);
    const std::string_view run_b = TakeRun(rest_b);
    if (run_a == run_b) continue;
    if (are_numbers && run_a.size() != run_b.size()) {
      return run_a.size() < run_b.size();
    }
    return run_a < run_b;
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;
}

}  // namespace astra
