#include "workload/serving/json_lines.h"

#include <algorithm>
#include <limits>
#include <string>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {

void JsonLines::SkipSpace() {
  for (; next_ < text_.size(); ++next_) {
    const char c = text_[next_];
    if (c == '\n') {
      ++line_;
      line_begin_ = next_ + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

bool JsonLines::Accept(char c) {
  SkipSpace();
  if (next_ == text_.size() || text_[next_] != c) return false;
  ++next_;
  return true;
}

void JsonLines::Fail(const Place& at, std::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      fmt::format("{}:{}:{}: {}", file_, at.line, at.column, message));
}

void JsonLines::FailAtKey(std::string_view message) {
  Fail(key_place_, message);
}

void JsonLines::FailAtObject(std::string_view message) {
  Fail(object_, message);
}

bool JsonLines::NextObject() {
  SkipSpace();
  if (!status_.ok() || next_ == text_.size()) return false;
  object_ = Here();
  if (!Accept('{')) {
    Fail(object_, "expected an object, as in {\"input_length\": 12, ...}");
    return false;
  }
  is_first_key_ = true;
  return true;
}

bool JsonLines::NextKey() {
  if (!status_.ok() || Accept('}')) return false;
  if (!is_first_key_ && !Accept(',')) {
    Fail(Here(), "expected \",\" or \"}\"");
    return false;
  }
  is_first_key_ = false;
  SkipSpace();
  key_place_ = Here();
  if (!ReadString(&key_)) return false;
  if (!Accept(':')) {
    Fail(Here(), fmt::format("expected \":\" behind {}", Quoted(key_)));
    return false;
  }
  SkipSpace();
  return true;
}

bool JsonLines::ReadString(std::string_view* value) {
  const Place begin = Here();
  if (!Accept('"')) {
    Fail(begin, "expected a string in double quotes");
    return false;
  }
  const size_t first = next_;
  for (; next_ < text_.size() && text_[next_] != '\n'; ++next_) {
    if (text_[next_] == '\\') {
      ++next_;
    } else if (text_[next_] == '"') {
      *value = text_.substr(first, next_++ - first);
      return true;
    }
    if (next_ == text_.size() || text_[next_] == '\n') break;
  }
  Fail(begin, "the string has no closing quote");
  return false;
}

std::string_view JsonLines::ReadScalar() {
  SkipSpace();
  const size_t first = next_;
  next_ = std::min(text_.size(), text_.find_first_of(" \t\r\n,:{}[]\"", first));
  return text_.substr(first, next_ - first);
}

int64_t JsonLines::Integer(int64_t min, int64_t max) {
  SkipSpace();
  const Place place = Here();
  const auto value = ParseInteger(key_, ReadScalar(), min, max);
  if (value.ok()) return *value;
  Fail(place, std::string(value.status().message()));
  return min;
}

double JsonLines::Number(double min, double max) {
  SkipSpace();
  const Place place = Here();
  const auto value = ParseNumber(key_, ReadScalar(), min, max);
  if (value.ok()) return *value;
  Fail(place, std::string(value.status().message()));
  return min;
}

void JsonLines::Integers(size_t max_items, std::vector<uint64_t>* values) {
  values->clear();
  const Place place = Here();
  if (!Accept('[')) {
    Fail(place,
         fmt::format("{}: expected a list, as in [1, 2]", Printable(key_)));
    return;
  }
  if (Accept(']')) return;
  do {
    SkipSpace();
    if (values->size() == max_items) {
      Fail(Here(), fmt::format("{}: expected at most {} items", Printable(key_),
                               max_items));
    }
    values->push_back(
        static_cast<uint64_t>(Integer(0, std::numeric_limits<int64_t>::max())));
  } while (status_.ok() && Accept(','));
  if (!Accept(']')) Fail(Here(), "expected \",\" or \"]\"");
}

void JsonLines::Skip() {
  size_t depth = 0;
  do {
    SkipSpace();
    const Place place = Here();
    const char c = next_ < text_.size() ? text_[next_] : '\0';
    std::string_view unused;
    if (c == '{' || c == '[') {
      ++next_;
      ++depth;
    } else if (depth > 0 && (c == '}' || c == ']')) {
      ++next_;
      --depth;
    } else if (depth > 0 && (c == ',' || c == ':')) {
      ++next_;
    } else if (c == '"') {
      ReadString(&unused);
    } else if (ReadScalar().empty()) {
      Fail(place, fmt::format("expected a value of {}", Quoted(key_)));
    }
  } while (depth > 0 && status_.ok());
}

}  // namespace astra
