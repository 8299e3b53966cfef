// Reads comma-separated values, as RFC 4180 has them, row by row, with
// "FILE:LINE:COLUMN: ..." errors.
//
//   CsvReader csv("times.csv", contents);
//   const size_t m = csv.Column("m");
//   while (csv.NextRow()) Use(csv.Integer(m, 1, 1000));
//   ASTRA_RETURN_IF_ERROR(csv.status());  // The first error, if any.
//
// The first line that is not empty names the columns. The first error sticks:
// after it there are no more rows, and what is read are the least values
// allowed.

#ifndef ASTRA_CORE_BASE_CSV_READER_H_
#define ASTRA_CORE_BASE_CSV_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/log.h"

namespace astra {

struct CsvCell {
  std::string text;     // Without the quotes around it.
  uint32_t line = 0;    // Counted from 1.
  uint32_t column = 0;  // Of the line, counted from 1, in bytes.
};

class CsvReader {
 public:
  // Reads the names of the columns. `file` is the name used in messages. Both
  // arguments must outlive the reader.
  //
  // Errors: InvalidArgument for a file without a line, a column that is there
  // twice, more than 4096 columns; also those of NextRow().
  CsvReader(std::string_view file, std::string_view contents);

  absl::Span<const CsvCell> header() const { return header_; }

  // The position of the column `name`; none if there is no such column.
  std::optional<size_t> Find(std::string_view name) const;

  // The same of a column that must be there; 0 on an error.
  size_t Column(std::string_view name);

  // Makes a column that is not in `known` an error that names the nearest.
  void RefuseOthers(absl::Span<const std::string_view> known);

  // Adds a warning with the first column that is not in `known`, if any.
  void WarnOfOthers(absl::Span<const std::string_view> known,
                    Warnings* warnings) const;

  // Moves to the next line that is not empty; false at the end of the file and
  // on an error.
  //
  // Errors: InvalidArgument for a quote that is not closed or stands where it
  // may not, and for more or fewer cells than columns.
  bool NextRow();

  // A cell of the row moved to. Requires such a row.
  const CsvCell& cell(size_t column) const { return row_[column]; }

  // The number in a cell; `min` on an error.
  int64_t Integer(size_t column, int64_t min, int64_t max);
  double Number(size_t column, double min, double max);

  // Records that what stands in `at` is wrong, unless an error is recorded.
  void Fail(const CsvCell& at, std::string_view message);

  const absl::Status& status() const { return status_; }

 private:
  bool ReadRow(std::vector<CsvCell>* row);
  bool ReadCell(CsvCell* cell);
  bool ReadQuoted(CsvCell* cell);
  bool SkipEmptyLines();
  bool EndsLine() const;
  void PassLineEnd();

  std::string_view file_;
  std::string_view text_;
  size_t next_ = 0;        // What was read ends here.
  size_t line_begin_ = 0;  // Of the line in which next_ is.
  uint32_t line_ = 1;
  std::vector<CsvCell> header_;
  std::vector<CsvCell> row_;
  absl::Status status_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_CSV_READER_H_
