// Reads comma-separated values in the form of RFC 4180 row by row, with
// "FILE:LINE:COLUMN: ..." errors.
//
//   CsvReader csv("times.csv", contents);
//   const size_t m = csv.Column("m");
//   while (csv.NextRow()) Use(csv.Integer(m, 1, 1000));
//   ASTRA_RETURN_IF_ERROR(csv.status());  // The first error, if any.
//
// The first line that is not empty names the columns. The first error is kept:
// after it NextRow() returns false, and numbers read as the smallest value
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
  std::string text;     // Text without the quotes around it.
  uint32_t line = 0;    // Counted from 1.
  uint32_t column = 0;  // Column of the line in bytes, counted from 1.
};

class CsvReader {
 public:
  // Reads the names of the columns. `file` is the file's name in messages. Both
  // arguments must outlive the reader.
  //
  // Errors: InvalidArgument for a file without a line, a column name that
  // occurs twice, and more than 4096 columns; the errors of NextRow().
  CsvReader(std::string_view file, std::string_view contents);

  absl::Span<const CsvCell> header() const { return header_; }

  // Returns the position of the column `name`, or none if there is no such
  // column.
  std::optional<size_t> Find(std::string_view name) const;

  // Returns the position of a required column. A missing column is recorded as
  // an error, and the result is 0.
  size_t Column(std::string_view name);

  // Records an error, with the nearest known name, if a column is not in
  // `known`.
  void RefuseOthers(absl::Span<const std::string_view> known);

  // Adds a warning about the first column that is not in `known`, if any.
  void WarnOfOthers(absl::Span<const std::string_view> known,
                    Warnings* warnings) const;

  // Moves to the next line that is not empty. Returns false at the end of the
  // file and after an error.
  //
  // Errors: InvalidArgument for a quote that is not closed or is misplaced, and
  // for more or fewer cells than columns.
  bool NextRow();

  // Returns a cell of the current row. Requires that NextRow() returned true.
  const CsvCell& cell(size_t column) const { return row_[column]; }

  // Return the number in a cell of the current row, or `min` on an error.
  int64_t Integer(size_t column, int64_t min, int64_t max);
  double Number(size_t column, double min, double max);

  // Records an error about the cell `at`, unless an earlier error is recorded.
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
  size_t next_ = 0;        // Position of the next character to read.
  size_t line_begin_ = 0;  // Position at which line line_ begins.
  uint32_t line_ = 1;
  std::vector<CsvCell> header_;
  std::vector<CsvCell> row_;
  absl::Status status_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_CSV_READER_H_
