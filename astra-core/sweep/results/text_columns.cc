#include "astra-core/sweep/results/text_columns.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the width in characters: counts all bytes that start one in UTF-8.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextColumns::Text() const {
  std::vector<size_t> widths;
  widths.reserve(headers_.size());
  for (const std::string& header : headers_) widths.push_back(WidthOf(header));
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
  }
  const bool has_headers =
      std::any_of(headers_.begin(), headers_.end(),
                  [](const std::string& header) { return !header.empty(); });
  std::string text = has_headers ? Line(headers_, widths) : "";
  for (const std::vector<std::string>& row : rows_) text += Line(row, widths);
  return text;
}

std::string TextColumns::Line(const std::vector<std::string>& cells,
                              const std::vector<size_t>& widths) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - WidthOf(cells[i]), ' ');
    const bool is_left = aligns_[i] == Align::kLeft;
    line += "  ";
    line += is_left ? cells[i] + padding : padding + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string ShortNumber(double number) {
  const double size = std::abs(number);
  return size >= 1e5 && size < 1e15 ? fmt::format("{:.0f}", number)
                                    : fmt::format("{:.6g}", number);
}

std::string RatioText(double ratio) {
  return std::isfinite(ratio) ? fmt::format("x {:.3f}", ratio) : "-";
}

std::string PlainText(std::string_view text) {
  return IsPlain(text) ? std::string(text) : Quoted(text);
}

}  // namespace astra
