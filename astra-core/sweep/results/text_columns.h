// Formats tables for people who read them in a terminal.

#ifndef ASTRA_CORE_SWEEP_RESULTS_TEXT_COLUMNS_H_
#define ASTRA_CORE_SWEEP_RESULTS_TEXT_COLUMNS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace astra {

// Rows of cells. Each column is as wide as its widest cell.
class TextColumns {
 public:
  enum class Align : bool { kLeft, kRight };

  void AddColumn(std::string_view header, Align align) {
    headers_.emplace_back(header);
    aligns_.push_back(align);
  }

  // Adds a row with one cell for each column.
  void AddRow(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }

  // Returns a line with the headers, unless all are empty, and a line for each
  // row. Each column begins with two spaces; no line ends with spaces.
  std::string Text() const;

 private:
  std::string Line(const std::vector<std::string>& cells,
                   const std::vector<size_t>& widths) const;

  std::vector<std::string> headers_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns `number` with 6 significant digits, or with all digits before the
// point where those are more, up to 15.
std::string ShortNumber(double number);

// Returns a ratio such as "x 1.234"; "-" for infinity.
std::string RatioText(double ratio);

// Returns `text`, in quotes if it holds characters that a terminal does not
// print.
std::string PlainText(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_TEXT_COLUMNS_H_
