#include "astra-core/hosts/handshake.h"

#include <utility>

#include "astra-core/base/check.h"
#include "astra-core/hosts/bytes.h"

namespace astra {
namespace {

// The last character is the version.
constexpr std::string_view kMagic = "simai-physical:2";
constexpr size_t kNonceBytes = 32;

absl::Status OtherSecret() {
  return absl::PermissionDeniedError("the other end has another secret");
}

}  // namespace

Handshake::Handshake(const Secret& secret)
    : secret_(&secret), nonce_(RandomBytes(kNonceBytes)) {}

Handshake Handshake::Connect(const Secret& secret, std::string claim) {
  ASTRA_CHECK(claim.size() <= kLongestClaim, "a claim of {} bytes",
              claim.size());
  Handshake end(secret);
  end.claim_ = std::move(claim);
  end.output_ = std::string(kMagic) + end.nonce_;
  end.Await(Step::kChallenge, kNonceBytes + kHmacBytes);
  return end;
}

Handshake Handshake::Accept(const Secret& secret) {
  Handshake end(secret);
  end.Await(Step::kHello, kMagic.size() + kNonceBytes);
  return end;
}

void Handshake::Await(Step step, size_t num_bytes) {
  step_ = step;
  wanted_ = num_bytes;
  input_.clear();
}

absl::Status Handshake::Take(std::string_view bytes) {
  ASTRA_CHECK(bytes.size() <= wanted(), "more than a handshake wants");
  input_ += bytes;
  // A first wrong byte is enough to refuse the other end.
  if (step_ == Step::kHello &&
      std::string_view(input_).substr(0, kMagic.size()) !=
          kMagic.substr(0, input_.size())) {
    return absl::InvalidArgumentError(
        "the other end is no simai_physical of this version");
  }
  if (wanted() > 0) return absl::OkStatus();
  switch (step_) {
    case Step::kHello:
      return TakeHello();
    case Step::kChallenge:
      return TakeChallenge();
    case Step::kAnswer:
      TakeAnswer();
      return wanted() == 0 ? TakeClaim() : absl::OkStatus();
    case Step::kClaim:
      return TakeClaim();
    case Step::kDone:
      break;
  }
  return absl::OkStatus();
}

absl::Status Handshake::TakeHello() {
  other_nonce_ = input_.substr(kMagic.size());
  output_ = nonce_ + CodeOfAcceptor();
  Await(Step::kAnswer, kHmacBytes + kLengthBytes);
  return absl::OkStatus();
}

absl::Status Handshake::TakeChallenge() {
  other_nonce_ = input_.substr(0, kNonceBytes);
  if (!AreSame(input_.substr(kNonceBytes), CodeOfAcceptor())) {
    return OtherSecret();
  }
  ByteWriter writer;
  writer.AddRaw(CodeOfConnector());
  writer.AddText(claim_);
  output_ = writer.Take();
  Await(Step::kDone, 0);
  return absl::OkStatus();
}

void Handshake::TakeAnswer() {
  code_ = input_.substr(0, kHmacBytes);
  ByteReader reader(std::string_view(input_).substr(kHmacBytes));
  const size_t length = reader.Read32();
  // A claim that is too long counts as empty, so that its code is wrong.
  Await(Step::kClaim, length <= kLongestClaim ? length : 0);
}

absl::Status Handshake::TakeClaim() {
  claim_ = input_;
  if (!AreSame(code_, CodeOfConnector())) return OtherSecret();
  Await(Step::kDone, 0);
  return absl::OkStatus();
}

// Both ends put the nonce of the accepting end first.
std::string Handshake::CodeOfAcceptor() const {
  const bool accepts = step_ == Step::kHello;
  return secret_->Hmac("accepts" + (accepts ? nonce_ : other_nonce_) +
                       (accepts ? other_nonce_ : nonce_));
}

std::string Handshake::CodeOfConnector() const {
  const bool accepts = step_ == Step::kClaim;
  return secret_->Hmac("connects" + (accepts ? nonce_ : other_nonce_) +
                       (accepts ? other_nonce_ : nonce_) + claim_);
}

}  // namespace astra
