// Numbers and texts as bytes, for messages between hosts. Numbers are
// little-endian.

#ifndef ASTRA_CORE_HOSTS_BYTES_H_
#define ASTRA_CORE_HOSTS_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace astra {

class ByteWriter {
 public:
  void Add8(uint8_t value) { AddNumber(value, 1); }
  void Add32(uint32_t value) { AddNumber(value, 4); }
  void Add64(uint64_t value) { AddNumber(value, 8); }
  void AddTime(int64_t value) { Add64(static_cast<uint64_t>(value)); }
  // Appends the length as 32 bits, then the text.
  void AddText(std::string_view text);
  // Appends the text alone, whose length the reader knows.
  void AddRaw(std::string_view text) { bytes_ += text; }

  std::string Take() { return std::move(bytes_); }

 private:
  void AddNumber(uint64_t value, int num_bytes);

  std::string bytes_;
};

// Reads what a ByteWriter wrote. Once something is missing, all that is read is
// 0 or empty, and status() is an error; so check once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  uint8_t Read8() { return static_cast<uint8_t>(ReadNumber(1)); }
  uint32_t Read32() { return static_cast<uint32_t>(ReadNumber(4)); }
  uint64_t Read64() { return ReadNumber(8); }
  int64_t ReadTime() { return static_cast<int64_t>(Read64()); }
  std::string ReadText();
  std::string ReadRaw(size_t num_bytes);
  // Returns a number of elements that follow, each of at least
  // `bytes_of_each`. A number that the bytes left cannot hold is an error.
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
