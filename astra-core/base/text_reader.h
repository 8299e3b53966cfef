// Splits a text file into lines and tokens that know their places.
//
//   TextReader reader(path, contents);
//   while (reader.NextLine()) {
//     for (const Token& token : reader.tokens()) ...
//       return reader.Error(token, "expected a rate");  // topo:7:12: expected…
//   }

#ifndef ASTRA_CORE_BASE_TEXT_READER_H_
#define ASTRA_CORE_BASE_TEXT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace astra {

// A run of characters without white space. The view points into the reader's
// text.
struct Token {
  std::string_view text;
  uint32_t line = 0;    // Counted from 1.
  uint32_t column = 0;  // Counted from 1, in bytes.
};

class TextReader {
 public:
  // `file` is the file's name in messages. Both arguments must outlive the
  // reader and its tokens.
  TextReader(std::string_view file, std::string_view contents)
      : file_(file), rest_(contents) {}

  // Moves to the next line, which may be empty. Returns false at the end of the
  // file. A line ends with LF or CR LF; the last line may have no end.
  bool NextLine();

  // Returns the current line, split at spaces and tabs. The span stays valid
  // until the next NextLine().
  absl::Span<const Token> tokens() const { return tokens_; }

  // Returns the number of the current line, counted from 1. After the end of
  // the file it is the number of lines plus one.
  uint32_t line() const { return line_; }

  // Returns InvalidArgument "FILE:LINE:COLUMN: MESSAGE" at the place of
  // `token`.
  absl::Status Error(const Token& token, std::string_view message) const;

  // Returns an error placed just behind the last token of the current line.
  absl::Status ErrorAtEnd(std::string_view message) const;

 private:
  std::string_view file_;
  std::string_view rest_;  // Text behind the current line.
  uint32_t line_ = 0;
  bool at_end_ = false;
  std::vector<Token> tokens_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_TEXT_READER_H_
