// A secret that the processes of one run share, so that nobody else can join
// it.

#ifndef ASTRA_CORE_HOSTS_SECRET_H_
#define ASTRA_CORE_HOSTS_SECRET_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace astra {

// Smallest number of characters of a secret.
inline constexpr size_t kShortestSecret = 16;
inline constexpr size_t kHmacBytes = 32;

class Secret {
 public:
  // Makes a secret of `text` without the blanks and line ends around it.
  // `source` names the text in error messages, which never repeat it.
  //
  // Errors: InvalidArgument for fewer than kShortestSecret characters.
  static absl::StatusOr<Secret> Create(std::string_view source,
                                       std::string_view text);

  // Reads a file that only its owner can read. Errors: those of ReadFile() and
  // Create(); InvalidArgument if others may read it.
  static absl::StatusOr<Secret> ReadFrom(const std::string& file);

  // Returns 64 random hexadecimal digits.
  static Secret Draw();

  // Returns the message authentication code of `text`, kHmacBytes bytes.
  std::string Hmac(std::string_view text) const;

  // Returns the text, to be passed to the standard input of a rank.
  const std::string& text() const { return text_; }

 private:
  explicit Secret(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

// Returns the HMAC of `text` with SHA-256.
//
// Source: H. Krawczyk, M. Bellare, R. Canetti, RFC 2104, 1997.
std::string HmacSha256(std::string_view key, std::string_view text);

// Returns bytes from the kernel's generator.
std::string RandomBytes(size_t num_bytes);

// Returns whether two texts are equal. The time that this takes depends only on
// their lengths, so that it does not tell where they differ.
bool AreSame(std::string_view a, std::string_view b);

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_SECRET_H_
