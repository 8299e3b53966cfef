#include "astra-core/hosts/bytes.h"

namespace astra {

void ByteWriter::AddNumber(uint64_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) {
    bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
}

void ByteWriter::AddText(std::string_view text) {
  Add32(static_cast<uint32_t>(text.size()));
  bytes_ += text;
}

std::string_view ByteReader::ReadView(size_t num_bytes) {
  if (is_short_ || num_bytes > bytes_.size()) {
    is_short_ = true;
    return {};
  }
  const std::string_view read = bytes_.substr(0, num_bytes);
  bytes_.remove_prefix(num_bytes);
  return read;
}

uint64_t ByteReader::ReadNumber(size_t num_bytes) {
  uint64_t value = 0;
  int shift = 0;
  for (const char byte : ReadView(num_bytes)) {
    value |= uint64_t{static_cast<unsigned char>(byte)} << shift;
    shift += 8;
  }
  return value;
}

std::string ByteReader::ReadText() {
  const size_t size = Read32();
  return std::string(ReadView(size));
}

std::string ByteReader::ReadRaw(size_t num_bytes) {
  return std::string(ReadView(num_bytes));
}

uint32_t ByteReader::ReadCount(size_t bytes_of_each) {
  const uint32_t count = Read32();
  if (count > bytes_.size() / bytes_of_each) is_short_ = true;
  return is_short_ ? 0 : count;
}

absl::Status ByteReader::status() const {
  if (is_short_) {
    return absl::InvalidArgumentError("a message is shorter than it says");
  }
  if (!bytes_.empty()) {
    return absl::InvalidArgumentError("a message is longer than it says");
  }
  return absl::OkStatus();
}

}  // namespace astra
