#include "astra-core/base/csv_reader.h"

#include <algorithm>
#include <set>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr size_t kMaxColumns = 4096;

bool IsIn(absl::Span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

CsvReader::CsvReader(std::string_view file, std::string_view contents)
    : file_(file), text_(contents) {
  if (!ReadRow(&header_)) {
    Fail({.text = "", .line = line_, .column = 1},
         "no line: expected the names of the columns");
  }
  std::set<std::string_view> names;
  for (const CsvCell& cell : header_) {
    if (!names.insert(cell.text).second) {
      Fail(cell, fmt::format("column {} is there twice", Quoted(cell.text)));
    }
  }
}

std::optional<size_t> CsvReader::Find(std::string_view name) const {
  for (size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].text == name) return i;
  }
  return std::nullopt;
}

size_t CsvReader::Column(std::string_view name) {
  const std::optional<size_t> found = Find(name);
  if (found) return *found;
  if (!header_.empty()) {
    Fail(header_[0], fmt::format("no column {}", Quoted(name)));
  }
  return 0;
}

void CsvReader::RefuseOthers(absl::Span<const std::string_view> known) {
  for (const CsvCell& cell : header_) {
    if (IsIn(known, cell.text)) continue;
    Fail(cell, UnknownName("column", cell.text, known));
    return;
  }
}

void CsvReader::WarnOfOthers(absl::Span<const std::string_view> known,
                             Warnings* warnings) const {
  for (const CsvCell& cell : header_) {
    if (IsIn(known, cell.text)) continue;
    warnings->push_back(fmt::format("{}:{}:{}: column {} is not used", file_,
                                    cell.line, cell.column, Quoted(cell.text)));
    return;
  }
}

bool CsvReader::NextRow() {
  if (!status_.ok() || !ReadRow(&row_)) return false;
  if (row_.size() != header_.size()) {
    const CsvCell& at = row_[std::min(row_.size() - 1, header_.size())];
    Fail(at, fmt::format("{} cells: expected {}, as in the first line",
                         row_.size(), header_.size()));
    return false;
  }
  return true;
}

int64_t CsvReader::Integer(size_t column, int64_t min, int64_t max) {
  if (!status_.ok()) return min;
  const absl::StatusOr<int64_t> value =
      ParseInteger(header_[column].text, cell(column).text, min, max);
  if (value.ok()) return *value;
  Fail(cell(column), std::string(value.status().message()));
  return min;
}

double CsvReader::Number(size_t column, double min, double max) {
  if (!status_.ok()) return min;
  const absl::StatusOr<double> value =
      ParseNumber(header_[column].text, cell(column).text, min, max);
  if (value.ok()) return *value;
  Fail(cell(column), std::string(value.status().message()));
  return min;
}

void CsvReader::Fail(const CsvCell& at, std::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      fmt::format("{}:{}:{}: {}", file_, at.line, at.column, message));
}

bool CsvReader::ReadRow(std::vector<CsvCell>* row) {
  row->clear();
  if (!SkipEmptyLines()) return false;
  while (true) {
    CsvCell cell = {.text = "",
                    .line = line_,
                    .column = static_cast<uint32_t>(next_ - line_begin_ + 1)};
    if (row->size() == kMaxColumns) {
      Fail(cell, fmt::format("more than {} columns", kMaxColumns));
    }
    if (!status_.ok() || !ReadCell(&cell)) return false;
    row->push_back(std::move(cell));
    if (EndsLine()) break;
    ++next_;  // Skips the comma.
  }
  PassLineEnd();
  return true;
}

// Reads a cell, up to a comma or the end of the line.
bool CsvReader::ReadCell(CsvCell* cell) {
  if (next_ < text_.size() && text_[next_] == '"') return ReadQuoted(cell);
  const size_t begin = next_;
  while (!EndsLine() && text_[next_] != ',' && text_[next_] != '"') ++next_;
  if (!EndsLine() && text_[next_] == '"') {
    Fail(*cell, "a quote inside a cell that does not begin with one");
    return false;
  }
  cell->text = text_.substr(begin, next_ - begin);
  return true;
}

bool CsvReader::ReadQuoted(CsvCell* cell) {
  for (++next_; next_ < text_.size(); ++next_) {
    const char c = text_[next_];
    if (c == '"') {
      ++next_;
      const bool doubled = next_ < text_.size() && text_[next_] == '"';
      if (doubled) {
        cell->text += '"';
        continue;
      }
      if (EndsLine() || text_[next_] == ',') return true;
      Fail(*cell, "something follows the closing quote of this cell");
      return false;
    }
    cell->text += c;
    if (c == '\n') {
      ++line_;
      line_begin_ = next_ + 1;
    }
  }
  Fail(*cell, "the quote is not closed");
  return false;
}

bool CsvReader::SkipEmptyLines() {
  while (next_ < text_.size() && EndsLine()) PassLineEnd();
  return next_ < text_.size();
}

// Returns whether a line end (LF or CR LF) or the end of the file comes next.
bool CsvReader::EndsLine() const {
  const std::string_view rest = text_.substr(next_, 2);
  return rest.empty() || rest[0] == '\n' || rest == "\r\n";
}

void CsvReader::PassLineEnd() {
  if (next_ == text_.size()) return;
  next_ += text_[next_] == '\r' ? 2 : 1;
  line_begin_ = next_;
  ++line_;
}

}  // namespace astra
