// Writes numbers and texts as the bytes of a message between hosts, and reads
// them back. Numbers are little-endian.

#ifndef ASTRA_CORE_HOSTS_BYTES_H_
#define ASTRA_CORE_HOSTS_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace astra {

// The length that stands before a text takes four bytes.
inline constexpr size_t kLengthBytes = 4;

class ByteWriter {
 public:
  void Add8(uint8_t value) { AddNumber(value, 1); }
  void Add32(uint32_t value) { AddNumber(value, 4); }
  void Add64(uint64_t value) { AddNumber(value, 8); }
  void AddTime(int64_t value) { Add64(static_cast<uint64_t>(value)); }
  // Appends the length as 32 bits, then the text.
  void AddText(std::string_view text);
  // Appends the text without its length, which the reader has to know.
  void AddRaw(std::string_view text) { bytes_ += text; }

  std::string Take() { return std::move(bytes_); }

 private:
  void AddNumber(uint64_t value, int num_bytes);

  std::string bytes_;
};

// Reads what a ByteWriter wrote. Once bytes are missing, every further read
// returns 0 or an empty text, and status() is an error. It is enough to check
// status() once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  uint8_t Read8() { return static_cast<uint8_t>(ReadNumber(1)); }
  uint32_t Read32() { return static_cast<uint32_t>(ReadNumber(4)); }
  uint64_t Read64() { return ReadNumber(8); }
  int64_t ReadTime() { return static_cast<int64_t>(Read64()); }
  std::string ReadText();
  std::string ReadRaw(size_t num_bytes);
  // Reads the number of elements that follow, each of which has at least
  // `bytes_of_each` bytes. It is an error if the bytes left cannot hold as
  // many.
  uint32_t ReadCount(size_t bytes_of_each);

  // Errors: InvalidArgument if something was missing, or if bytes are left.
  absl::Status status() const;

 private:
  uint64_t ReadNumber(size_t num_bytes);
  std::string_view ReadView(size_t num_bytes);

  std::string_view bytes_;
  bool is_short_ = false;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_BYTES_H_
