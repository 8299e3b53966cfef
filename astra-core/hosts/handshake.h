// Proves to both ends of a connection that the other end has the same secret.
// The secret itself is not sent.
//
// clang-format off
//   connecting end   a magic word with the version, and a nonce
//   accepting end    its own nonce, and a code of both nonces
//   connecting end   a code of both nonces and of its claim, and the claim: a
//                    text that says who it is and what it wants
// clang-format on
//
// Nobody on the way can change the claim, or use what it has heard for another
// connection. Bytes that follow the handshake are neither encrypted nor
// checked.
//
// Source: challenge and response with message authentication codes, as in
// ISO/IEC 9798-4, mutual authentication.

#ifndef ASTRA_CORE_HOSTS_HANDSHAKE_H_
#define ASTRA_CORE_HOSTS_HANDSHAKE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/hosts/secret.h"

namespace astra {

// One end of a handshake. It has no socket: its owner passes the bytes on.
class Handshake {
 public:
  static constexpr size_t kLongestClaim = 512;

  // `secret` must outlive the object. `claim` has at most kLongestClaim bytes.
  static Handshake Connect(const Secret& secret, std::string claim);
  static Handshake Accept(const Secret& secret);

  // Moves out what has to be sent now.
  std::string TakeOutput() { return std::exchange(output_, {}); }

  // Returns how many bytes this end has to receive before its next step; 0 if
  // it has received all.
  size_t wanted() const { return wanted_ - input_.size(); }

  // Takes received bytes, at most wanted().
  //
  // Errors: InvalidArgument for bytes that are no handshake of this version;
  // PermissionDenied if the other end has another secret. The owner has to
  // close the connection.
  absl::Status Take(std::string_view bytes);

  // Returns true once this end has received all, and has nothing to send apart
  // from TakeOutput().
  bool is_done() const { return step_ == Step::kDone; }

  // Returns the claim of the connecting end. Requires is_done().
  const std::string& claim() const { return claim_; }

 private:
  enum class Step : uint8_t { kHello, kChallenge, kAnswer, kClaim, kDone };

  explicit Handshake(const Secret& secret);
  absl::Status TakeHello();
  absl::Status TakeChallenge();
  void TakeAnswer();
  absl::Status TakeClaim();
  std::string CodeOfAcceptor() const;
  std::string CodeOfConnector() const;
  void Await(Step step, size_t num_bytes);

  const Secret* secret_;
  std::string nonce_;  // Nonce of this end.
  std::string claim_;
  std::string other_nonce_;
  std::string code_;  // Code that the connecting end has sent.
  Step step_ = Step::kHello;
  size_t wanted_ = 0;
  std::string input_;
  std::string output_;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_HANDSHAKE_H_
