#include "astra-core/hosts/secret.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <cstdint>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/sha256.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Sha256() returns digits; authentication codes are made of the bytes.
std::string Sha256Bytes(std::string_view text) {
  const std::string digits = Sha256(text);
  const auto value = [](char digit) {
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
  };
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  }
  return bytes;
}

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

absl::StatusOr<Secret> Secret::Create(std::string_view source,
                                      std::string_view text) {
  text = WithoutBlanks(text);
  if (text.size() < kShortestSecret) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a secret of {} characters is too short: expected at "
                    "least {}, as `openssl rand -hex 32` prints",
                    source, text.size(), kShortestSecret));
  }
  return Secret(std::string(text));
}

absl::StatusOr<Secret> Secret::ReadFrom(const std::string& file) {
  ASTRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  struct stat status {};
  if (stat(file.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: others may read this secret: run chmod 600 {}", file,
                    Quoted(file)));
  }
  return Create(file, text);
}

Secret Secret::Draw() { return Secret(Sha256(RandomBytes(kHmacBytes))); }

std::string Secret::Hmac(std::string_view text) const {
  return HmacSha256(text_, text);
}

std::string HmacSha256(std::string_view key, std::string_view text) {
  constexpr size_t kBlockBytes = 64;
  std::string block =
      key.size() > kBlockBytes ? Sha256Bytes(key) : std::string(key);
  block.resize(kBlockBytes);
  std::string inner = block;
  std::string outer = block;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
    outer[i] = static_cast<char>(outer[i] ^ 0x5c);
  }
  inner += text;
  return Sha256Bytes(outer + Sha256Bytes(inner));
}

std::string RandomBytes(size_t num_bytes) {
  std::string bytes(num_bytes, '\0');
  size_t done = 0;
  while (done < num_bytes) {
    const ssize_t got = getrandom(bytes.data() + done, num_bytes - done, 0);
    ASTRA_CHECK(got > 0, "no random bytes from the kernel");
    done += static_cast<size_t>(got);
  }
  return bytes;
}

bool AreSame(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<uint8_t>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace astra
