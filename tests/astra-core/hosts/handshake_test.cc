#include "astra-core/hosts/handshake.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/hosts/secret.h"
#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

Secret SecretOf(std::string_view text) {
  return ValueOrDie(Secret::Create("test", text));
}

// Source: RFC 4231, test cases 1, 2 and 6.
TEST(SecretTest, CodesAreThoseOfTheRfc) {
  const auto digits = [](const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) {
      text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
  };
  EXPECT_EQ(digits(HmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(digits(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(digits(HmacSha256(
                std::string(131, '\xaa'),
                "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(SecretTest, IsNotShort) {
  EXPECT_EQ(Secret::Create("SIMAI_SECRET", " short \n").status().message(),
            "SIMAI_SECRET: a secret of 5 characters is too short: expected at "
            "least 16, as `openssl rand -hex 32` prints");
}

// Passes bytes between two ends, a few at a time, until both are done or one
// has an error.
absl::Status Talk(Handshake& a, Handshake& b, size_t at_once) {
  std::string to_b;
  std::string to_a;
  for (int round = 0; round < 1000; ++round) {
    to_b += a.TakeOutput();
    to_a += b.TakeOutput();
    if (a.is_done() && b.is_done()) return absl::OkStatus();
    for (const auto& [end, bytes] : {std::pair(&b, &to_b), {&a, &to_a}}) {
      const size_t part = std::min({at_once, end->wanted(), bytes->size()});
      const absl::Status status = end->Take(bytes->substr(0, part));
      if (!status.ok()) return status;
      bytes->erase(0, part);
    }
  }
  return absl::DeadlineExceededError("they talk without end");
}

TEST(HandshakeTest, TellsTheClaimOfWhoConnects) {
  const Secret secret = SecretOf("0123456789abcdef");
  for (const size_t at_once : {size_t{1}, size_t{7}, size_t{1000}}) {
    Handshake a = Handshake::Connect(secret, "rank 3");
    Handshake b = Handshake::Accept(secret);
    ASSERT_EQ(Talk(a, b, at_once), absl::OkStatus());
    EXPECT_EQ(b.claim(), "rank 3");
  }
}

TEST(HandshakeTest, AClaimMayBeEmpty) {
  const Secret secret = SecretOf("0123456789abcdef");
  Handshake a = Handshake::Connect(secret, "");
  Handshake b = Handshake::Accept(secret);
  EXPECT_EQ(Talk(a, b, 1000), absl::OkStatus());
}

TEST(HandshakeTest, WhoConnectsNoticesAnotherSecretFirst) {
  const Secret secret = SecretOf("0123456789abcdef");
  const Secret other = SecretOf("0123456789abcdeg");
  Handshake a = Handshake::Connect(secret, "rank 3");
  Handshake b = Handshake::Accept(other);
  EXPECT_EQ(Talk(a, b, 1000),
            absl::PermissionDeniedError("the other end has another secret"));
  EXPECT_FALSE(b.is_done());
}

// Somebody in the middle cannot change who a rank says it is, nor use what it
// has heard for another connection.
TEST(HandshakeTest, WhoAcceptsTakesNoChangedAndNoOldAnswer) {
  const Secret secret = SecretOf("0123456789abcdef");
  Handshake a = Handshake::Connect(secret, "rank 3");
  const std::string hello = a.TakeOutput();
  Handshake b = Handshake::Accept(secret);
  ASSERT_EQ(b.Take(hello), absl::OkStatus());
  ASSERT_EQ(a.Take(b.TakeOutput()), absl::OkStatus());
  const std::string answer = a.TakeOutput();
  const auto take = [](Handshake& end, std::string_view bytes) {
    absl::Status status;
    while (status.ok() && !end.is_done() && !bytes.empty()) {
      const size_t part = std::min(end.wanted(), bytes.size());
      status = end.Take(bytes.substr(0, part));
      bytes.remove_prefix(part);
    }
    return status;
  };
  std::string changed = answer;
  changed.back() = '4';
  EXPECT_TRUE(absl::IsPermissionDenied(take(b, changed)));

  Handshake later = Handshake::Accept(secret);
  ASSERT_EQ(later.Take(hello), absl::OkStatus());
  EXPECT_TRUE(absl::IsPermissionDenied(take(later, answer)));
}

TEST(HandshakeTest, GarbageIsRefusedAtItsFirstByte) {
  const Secret secret = SecretOf("0123456789abcdef");
  Handshake end = Handshake::Accept(secret);
  EXPECT_EQ(end.Take("G").message(),
            "the other end is no simai_physical of this version");
}

}  // namespace
}  // namespace astra::testing
