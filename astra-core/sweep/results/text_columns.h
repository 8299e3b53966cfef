// Tables for people to read in a terminal.

#ifndef ASTRA_CORE_SWEEP_RESULTS_TEXT_COLUMNS_H_
#define ASTRA_CORE_SWEEP_RESULTS_TEXT_COLUMNS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace astra {

// Rows of cells, each column as wide as its widest.
class TextColumns {
 public:
  enum class Align : bool { kLeft, kRight };

  void AddColumn(std::string_view header, Align align) {
    headers_.emplace_back(header);
    aligns_.push_back(align);
  }

  // A cell for each column.
  void AddRow(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }

  // A line for the headers, where there are any, and one for each row; two
  // spaces before each column, none at the ends.
  std::string Text() const;

 private:
  std::string Line(const std::vector<std::string>& cells,
                   const std::vector<size_t>& widths) const;

  std::vector<std::string> headers_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

// `number` with 6 significant digits, and all those before the point where they
// are more, up to 15.
std::string ShortNumber(double number);

// "x 1.234"; "-" for one that is infinite.
std::string RatioText(double ratio);

// `text`, in quotes where it holds what a terminal would not print.
std::string PlainText(std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_TEXT_COLUMNS_H_
