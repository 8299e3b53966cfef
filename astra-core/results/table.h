// A result file as one array of columns: its header line, its rows and its part
// of --columns all come from that array, so that they cannot disagree.
//
//   constexpr Column<Person> kColumns[] = {
//       {"name", "", "full name", AppendName},
//       {"height_m", "m", "height", AppendHeight},
//   };
//   std::string text = HeaderOf<Person>(kColumns);
//   for (const Person& person : people) AppendRow<Person>(kColumns, person,
//   &text);
//
// To add a column, add a line to the array.

#ifndef ASTRA_CORE_RESULTS_TABLE_H_
#define ASTRA_CORE_RESULTS_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/units.h"

namespace astra {

template <class Row>
struct Column {
  std::string_view name;
  std::string_view unit;  // Empty if there is none.
  std::string_view meaning;
  void (*append)(const Row& row, std::string* text);
};

// A column as --columns shows it.
struct ColumnText {
  std::string_view file;
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
};

// Returns the header line of a file.
template <class Row>
std::string HeaderOf(absl::Span<const Column<Row>> columns,
                     std::string_view separator = ",") {
  std::string text;
  for (const Column<Row>& column : columns) {
    if (!text.empty()) text += separator;
    text += column.name;
  }
  return text + '\n';
}

// Appends the line of `row`.
template <class Row>
void AppendRow(absl::Span<const Column<Row>> columns, const Row& row,
               std::string* text, std::string_view separator = ",") {
  bool is_first = true;
  for (const Column<Row>& column : columns) {
    if (!is_first) *text += separator;
    is_first = false;
    column.append(row, text);
  }
  *text += '\n';
}

// Appends what --columns shows of `file`.
template <class Row>
void AppendTexts(std::string_view file, absl::Span<const Column<Row>> columns,
                 std::vector<ColumnText>* texts) {
  for (const Column<Row>& column : columns) {
    texts->push_back({file, column.name, column.unit, column.meaning});
  }
}

// Append a value in the form of result files. A value that is negative or not a
// number fails a check.
void AppendUs(TimePs time, std::string* text);  // Microseconds, 6 decimals.
void AppendNumber(double value, int decimals, std::string* text);
void AppendInteger(int64_t value, std::string* text);
void AppendField(std::string_view value, std::string* text);  // See csv.h.

}  // namespace astra

#endif  // ASTRA_CORE_RESULTS_TABLE_H_
