#include "astra-core/base/text_reader.h"

#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r";

}  // namespace

bool TextReader::NextLine() {
  tokens_.clear();
  if (rest_.empty()) {
    if (!at_end_) ++line_;
    at_end_ = true;
    return false;
  }
  ++line_;

  const size_t end = rest_.find('\n');
  const std::string_view text = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view()
                                        : rest_.substr(end + 1);
  for (size_t begin = text.find_first_not_of(kWhiteSpace);
       begin != std::string_view::npos;) {
    const size_t stop = text.find_first_of(kWhiteSpace, begin);
    tokens_.push_back({.text = text.substr(begin, stop - begin),
                       .line = line_,
                       .column = static_cast<uint32_t>(begin + 1)});
    begin = stop == std::string_view::npos
                ? stop
                : text.find_first_not_of(kWhiteSpace, stop);
  }
  return true;
}

absl::Status TextReader::Error(const Token& token,
                               std::string_view message) const {
  return absl::InvalidArgumentError(
      fmt::format("{}:{}:{}: {}", file_, token.line, token.column, message));
}

absl::Status TextReader::ErrorAtEnd(std::string_view message) const {
  const size_t column =
      tokens_.empty() ? 1 : tokens_.back().column + tokens_.back().text.size();
  return absl::InvalidArgumentError(
      fmt::format("{}:{}:{}: {}", file_, line_, column, message));
}

}  // namespace astra
