#include "astra-core/hosts/message_link.h"

#include <chrono>

#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/bytes.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Moves the whole messages at the front of `received` to `messages`.
absl::Status TakeMessages(std::string& received,
                          std::vector<std::string>* messages) {
  size_t begin = 0;
  absl::Status status;
  while (received.size() - begin >= kLengthBytes) {
    const std::string_view left = std::string_view(received).substr(begin);
    const size_t length = ByteReader(left.substr(0, kLengthBytes)).Read32();
    if (length > MessageLink::kLongestMessage) {
      status = absl::InvalidArgumentError(
          fmt::format("a message of {} bytes is too long", length));
      break;
    }
    if (left.size() < kLengthBytes + length) break;
    messages->emplace_back(left.substr(kLengthBytes, length));
    begin += kLengthBytes + length;
  }
  received.erase(0, begin);
  return status;
}

}  // namespace

MessageLink::MessageLink(Socket socket, Poller& poller, uint64_t token)
    : socket_(std::move(socket)), poller_(poller), token_(token) {
  constexpr std::chrono::seconds kLongestSilence(60);
  LimitSilence(socket_, kLongestSilence);
  poller_.Change(socket_, token_, {.reads = true});
}

void MessageLink::Send(std::string_view message) {
  ByteWriter writer;
  writer.AddText(message);
  unsent_ += writer.Take();
  WriteSome();
}

void MessageLink::WriteSome() {
  while (!unsent_.empty()) {
    const absl::StatusOr<size_t> sent = Write(socket_, unsent_);
    if (!sent.ok()) {
      unsent_.clear();  // Reading tells why.
      break;
    }
    if (*sent == 0) break;
    unsent_.erase(0, *sent);
  }
  const bool awaits = !unsent_.empty();
  if (awaits == awaits_writing_) return;
  awaits_writing_ = awaits;
  poller_.Change(socket_, token_, {.reads = true, .writes = awaits});
}

absl::Status MessageLink::OnReady(const Ready& ready,
                                  std::vector<std::string>* messages) {
  constexpr size_t kAtOnce = size_t{1} << 18;
  if (ready.can_write) WriteSome();
  if (!ready.can_read) return absl::OkStatus();
  while (true) {
    const absl::StatusOr<size_t> got = ReadInto(socket_, kAtOnce, &received_);
    ASTRA_RETURN_IF_ERROR(TakeMessages(received_, messages));
    if (!got.ok()) return got.status();
    if (*got < kAtOnce) return absl::OkStatus();
  }
}

}  // namespace astra
