// Reads a text file line by line, as tokens that know where they stand.
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

// A run of characters without white space. Points into the reader's text.
struct Token {
  std::string_view text;
  uint32_t line = 0;    // Counted from 1.
  uint32_t column = 0;  // Counted from 1, in bytes.
};

class TextReader {
 public:
  // `file` is the name used in messages. Both arguments must outlive the
  // reader and its tokens.
  TextReader(std::string_view file, std::string_view contents)
      : file_(file), rest_(contents) {}

  // Moves to the next line, which may be empty; false at the end of the file.
  // Lines end with LF or CR LF, the last one perhaps with neither.
  bool NextLine();

  // The line moved to, split at spaces and tabs. Valid until the next move.
  absl::Span<const Token> tokens() const { return tokens_; }

  // The number of the line moved to, from 1; after the last one that did not
  // exist, the number of lines plus one.
  uint32_t line() const { return line_; }

  // InvalidArgument "FILE:LINE:COLUMN: MESSAGE", where `token` stands.
  absl::Status Error(const Token& token, std::string_view message) const;

  // The same, just behind the last token of the present line.
  absl::Status ErrorAtEnd(std::string_view message) const;

 private:
  std::string_view file_;
  std::string_view rest_;  // What follows the present line.
  uint32_t line_ = 0;
  bool at_end_ = false;
  std::vector<Token> tokens_;
};

}  // namespace astra

#endif  // ASTRA_CORE_BASE_TEXT_READER_H_
