// How the two ends of a connection prove to one another that they have the same
// secret, without telling it.
//
//   who connects   a magic word with the version, and a nonce
//   who accepts    its own nonce, and a code of both nonces
//   who connects   a code of both nonces and of its claim, and the claim: who
//                  it is and what it wants
//
// A claim cannot be changed on its way, and no message is of use for another
// connection. What follows the handshake is neither encrypted nor checked: it
// is traffic without content.
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

// One end. It holds no socket: whoever has one passes the bytes on.
class Handshake {
 public:
  static constexpr size_t kLongestClaim = 512;

  // `secret` must outlive the object. `claim` has at most kLongestClaim bytes.
  static Handshake Connect(const Secret& secret, std::string claim);
  static Handshake Accept(const Secret& secret);

  // Moves out what has to be sent now.
  std::string TakeOutput() { return std::exchange(output_, {}); }

  // Returns how many bytes the end has to receive before it goes on; 0 if it
  // has all.
  size_t wanted() const { return wanted_ - input_.size(); }

  // Takes received bytes, at most wanted().
  //
  // Errors: InvalidArgument for what no handshake of this version has;
  // PermissionDenied for another secret. The connection has to be closed.
  absl::Status Take(std::string_view bytes);

  // Whether this end has sent and received all, apart from TakeOutput().
  bool is_done() const { return step_ == Step::kDone; }

  // Requires is_done(). Returns the claim of who connects.
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
  std::string nonce_;  // Of this end.
  std::string claim_;
  std::string other_nonce_;
  std::string code_;  // Of who connects, as received.
  Step step_ = Step::kHello;
  size_t wanted_ = 0;
  std::string input_;
  std::string output_;
};

}  // namespace astra

#endif  // ASTRA_CORE_HOSTS_HANDSHAKE_H_
