// Reads a file of flat JSON objects, one after the other, with
// "FILE:LINE:COLUMN: ..." errors.
//
//   JsonLines json("trace.jsonl", contents);
//   while (json.NextObject()) {
//     while (json.NextKey()) {
//       if (json.key() == "tokens") tokens = json.Integer(0, 1000);
//       else json.Skip();
//     }
//   }
//   ASTRA_RETURN_IF_ERROR(json.status());  // The first error, if any.
//
// The first error is kept: after it NextObject() and NextKey() return false,
// and numbers read as the smallest value allowed. Keys are compared as they are
// written, so that one with escapes is an unknown key.

#ifndef WORKLOAD_SERVING_JSON_LINES_H_
#define WORKLOAD_SERVING_JSON_LINES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace astra {

class JsonLines {
 public:
  // Both arguments must outlive the reader.
  JsonLines(std::string_view file, std::string_view contents)
      : file_(file), text_(contents) {}

  // Moves into the next object. Returns false at the end of the file and after
  // an error.
  bool NextObject();

  // Moves to the next key of the object. Returns false at the end of the
  // object. The value must be read, or skipped, before the next call.
  bool NextKey();
  std::string_view key() const { return key_; }

  // Return the number behind the key, or `min` on an error.
  int64_t Integer(int64_t min, int64_t max);
  double Number(double min, double max);

  // Reads a list of integers of 0 or more, at most `max_items`.
  void Integers(size_t max_items, std::vector<uint64_t>* values);

  // Passes a value of any kind.
  void Skip();

  // Records an error at the key, or at the object, that was read last, unless
  // an earlier error is recorded.
  void FailAtKey(std::string_view message);
  void FailAtObject(std::string_view message);

  const absl::Status& status() const { return status_; }
  uint32_t line() const { return object_.line; }  // Of the object.

 private:
  struct Place {
    uint32_t line = 1;
    size_t column = 1;
  };

  void SkipSpace();
  bool Accept(char c);
  Place Here() const { return {line_, next_ - line_begin_ + 1}; }
  void Fail(const Place& at, std::string_view message);
  bool ReadString(std::string_view* value);
  std::string_view ReadScalar();

  std::string_view file_;
  std::string_view text_;
  size_t next_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_ = 1;
  bool is_first_key_ = false;
  Place object_;
  Place key_place_;
  std::string_view key_;
  absl::Status status_;
};

}  // namespace astra

#endif  // WORKLOAD_SERVING_JSON_LINES_H_
