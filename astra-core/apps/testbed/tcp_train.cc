#include "astra-core/apps/testbed/tcp_train.h"

#include <algorithm>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Offsets in the virtio header; its numbers are in the order of the machine,
// which is little-endian on all that Linux's TUN supports here.
constexpr size_t kGsoType = 1;
constexpr size_t kHeaderLength = 2;
constexpr size_t kGsoSize = 4;
constexpr uint8_t kGsoNone = 0;
constexpr uint8_t kGsoTcp4 = 1;
constexpr uint8_t kGsoEcn = 0x80;  // Flag beside the type.

constexpr uint8_t kTcp = 6;  // Protocol number of IPv4.
constexpr uint8_t kFin = 0x01;
constexpr uint8_t kPush = 0x08;
constexpr uint8_t kCongestionWindowReduced = 0x80;

uint16_t Little16(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] | at[1] << 8);
}
void PutLittle16(size_t value, uint8_t* at) {
  at[0] = static_cast<uint8_t>(value);
  at[1] = static_cast<uint8_t>(value >> 8);
}
uint16_t Big16(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] << 8 | at[1]);
}
uint32_t Big32(const uint8_t* at) {
  return uint32_t{Big16(at)} << 16 | Big16(at + 2);
}
void PutBig16(size_t value, uint8_t* at) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}
void PutBig32(uint32_t value, uint8_t* at) {
  PutBig16(value >> 16, at);
  PutBig16(value & 0xffff, at + 2);
}

// Returns the ones' complement sum of RFC 1071 over an even number of bytes.
uint16_t SumOf(absl::Span<const uint8_t> bytes, uint32_t sum = 0) {
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += Big16(&bytes[i]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

absl::Status Malformed(std::string_view what, size_t value) {
  return absl::InvalidArgumentError(fmt::format("{} is {}", what, value));
}

}  // namespace

absl::StatusOr<TcpTrain> TcpTrain::Parse(absl::Span<const uint8_t> piece) {
  constexpr size_t kIpHeader = 20;
  constexpr size_t kTcpHeader = 20;
  if (piece.size() < kPrefix + kIpHeader) {
    return Malformed("size of the piece", piece.size());
  }
  const absl::Span<const uint8_t> ip = piece.subspan(kPrefix);
  if (ip[0] >> 4 != 4) return Malformed("IP version", ip[0] >> 4);
  TcpTrain train;
  train.ip_header_ = size_t{ip[0]} % 16 * 4;
  if (train.ip_header_ < kIpHeader || train.ip_header_ > ip.size()) {
    return Malformed("size of the IP header", train.ip_header_);
  }
  if (Big16(&ip[2]) != ip.size()) {
    return Malformed("length in the IP header", Big16(&ip[2]));
  }
  train.target_ = Big32(&ip[16]);
  train.headers_ = train.ip_header_;
  train.payload_ = train.segment_ = ip.size() - train.headers_;
  const uint8_t gso = piece[kGsoType] & static_cast<uint8_t>(~kGsoEcn);
  if (gso == kGsoNone) return train;
  if (gso != kGsoTcp4 || ip[9] != kTcp) {
    return Malformed("kind of large packet", gso);
  }
  if (ip.size() < train.ip_header_ + kTcpHeader) {
    return Malformed("length in the IP header", ip.size());
  }
  const size_t tcp_header = size_t{ip[train.ip_header_ + 12]} / 16 * 4;
  train.headers_ += tcp_header;
  if (tcp_header < kTcpHeader || train.headers_ > ip.size()) {
    return Malformed("size of the TCP header", tcp_header);
  }
  train.segment_ = Little16(&piece[kGsoSize]);
  if (train.segment_ == 0) return Malformed("size of a segment", 0);
  train.payload_ = ip.size() - train.headers_;
  train.num_packets_ = std::max<uint32_t>(
      1, static_cast<uint32_t>((train.payload_ + train.segment_ - 1) /
                               train.segment_));
  return train;
}

TcpTrain::Run TcpTrain::Cut(absl::Span<const uint8_t> piece, uint32_t first,
                            uint32_t count) const {
  ASTRA_CHECK(count > 0 && first + count <= num_packets_, "{} from {} of {}",
              count, first, num_packets_);
  Run run;
  run.headers_size = kPrefix + headers_;
  run.payload_begin = run.headers_size + size_t{first} * segment_;
  run.payload_size = (count - 1) * segment_ + PayloadOf(first + count - 1);
  std::copy_n(piece.begin(), run.headers_size, run.headers.begin());
  if (count == num_packets_) return run;
  const size_t length = headers_ + run.payload_size;
  uint8_t* virtio = run.headers.data();
  if (count == 1) {
    virtio[kGsoType] = kGsoNone;
    PutLittle16(0, virtio + kGsoSize);
  }
  PutLittle16(headers_, virtio + kHeaderLength);

  uint8_t* ip = virtio + kPrefix;
  PutBig16(length, ip + 2);
  PutBig16((Big16(ip + 4) + first) & 0xffff, ip + 4);
  PutBig16(0, ip + 10);
  PutBig16(static_cast<uint16_t>(~SumOf({ip, ip_header_})), ip + 10);

  uint8_t* tcp = ip + ip_header_;
  PutBig32(Big32(tcp + 4) + static_cast<uint32_t>(first * segment_), tcp + 4);
  if (first > 0) tcp[13] &= static_cast<uint8_t>(~kCongestionWindowReduced);
  if (first + count < num_packets_) {
    tcp[13] &= static_cast<uint8_t>(~(kFin | kPush));
  }
  // The kernel completes the checksum where it is needed; what it expects in
  // the field is the sum over the pseudo header.
  const size_t tcp_length = length - ip_header_;
  PutBig16(SumOf({ip + 12, 8}, static_cast<uint32_t>(kTcp + tcp_length)),
           tcp + 16);
  return run;
}

}  // namespace astra
