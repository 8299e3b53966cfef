// Any bytes that a stranger or another rank may send are a message, a frame, a
// greeting or a step of a handshake, which are written as they were read, or an
// error of one line. The first byte chooses who reads them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "astra-core/base/check.h"
#include "astra-core/hosts/handshake.h"
#include "astra-core/hosts/secret.h"
#include "astra-core/physical/control_message.h"
#include "astra-core/physical/data_frame.h"
#include "astra-core/physical/rdma_greeting.h"

namespace astra {
namespace {

void CheckError(const absl::Status& status) {
  ASTRA_CHECK(status.message().find('\n') == absl::string_view::npos,
              "a message of several lines");
}

void ReadControlMessage(std::string_view bytes) {
  const auto message = ParseControlMessage(bytes);
  CheckError(message.status());
  if (!message.ok()) return;
  // A port has 16 bits, of which a message has 32.
  const auto again = ParseControlMessage(Encode(*message));
  ASTRA_CHECK(again.ok() && Encode(*again) == Encode(*message),
              "a message is not what was written");
}

void ReadDataFrame(std::string_view bytes) {
  const auto frame = ParseDataFrame(bytes);
  CheckError(frame.status());
  ASTRA_CHECK(!frame.ok() || Encode(*frame) == bytes,
              "a frame is not what was written");
}

void ReadGreeting(std::string_view bytes) {
  const auto greeting = ParseRdmaGreeting(bytes);
  CheckError(greeting.status());
  ASTRA_CHECK(!greeting.ok() ||
                  Encode(*greeting).substr(RdmaGreeting::kLengthBytes) == bytes,
              "a greeting is not what was written");
  CheckError(ParseGreetingLength(bytes.substr(0, RdmaGreeting::kLengthBytes))
                 .status());
}

// Nobody comes in without the secret.
void ShakeHands(std::string_view bytes) {
  static const Secret secret = Secret::Draw();
  Handshake end = Handshake::Accept(secret);
  while (end.wanted() > 0 && !bytes.empty()) {
    const size_t part = std::min(end.wanted(), bytes.size());
    const absl::Status status = end.Take(bytes.substr(0, part));
    CheckError(status);
    if (!status.ok()) return;
    bytes.remove_prefix(part);
  }
  ASTRA_CHECK(!end.is_done(), "somebody without the secret is in");
}

}  // namespace
}  // namespace astra

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1),
                               size - 1);
  switch (data[0] % 4) {
    case 0:
      astra::ReadControlMessage(bytes);
      break;
    case 1:
      astra::ReadDataFrame(bytes);
      break;
    case 2:
      astra::ShakeHands(bytes);
      break;
    default:
      astra::ReadGreeting(bytes);
  }
  return 0;
}
