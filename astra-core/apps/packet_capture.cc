#include "astra-core/apps/packet_capture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace astra {
namespace {

using Kind = CapturedPacket::Kind;

constexpr uint64_t kPsPerNs = 1'000;
constexpr size_t kEthernet = 14;
constexpr size_t kIp = 20;
constexpr size_t kUdp = 8;

// Appends the lowest `num_bytes` bytes of `value`, the highest byte first.
void AppendBig(uint64_t value, size_t num_bytes, std::string& out) {
  for (size_t i = num_bytes; i-- > 0;) {
    out += static_cast<char>(value >> (8 * i) & 0xff);
  }
}

// Like AppendBig, the lowest byte first, as the blocks of the file have it.
void AppendLittle(uint64_t value, size_t num_bytes, std::string& out) {
  for (size_t i = 0; i < num_bytes; ++i) {
    out += static_cast<char>(value >> (8 * i) & 0xff);
  }
}

// Appends a block around `body`, whose length is a multiple of 4.
void AppendBlock(uint32_t type, const std::string& body, std::string& out) {
  const uint64_t length = body.size() + 12;
  AppendLittle(type, 4, out);
  AppendLittle(length, 4, out);
  out += body;
  AppendLittle(length, 4, out);
}

void AppendMac(NodeId node, std::string& out) {
  AppendBig(0x0200, 2, out);
  AppendBig(node.index(), 4, out);
}

uint32_t AddressOf(NodeId node) {
  return 0x0a000000 | (node.index() & 0xffffff);
}

// Returns the checksum of an IPv4 header whose checksum field is zero.
uint16_t IpChecksum(const std::string& header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < header.size(); i += 2) {
    sum += static_cast<uint32_t>(static_cast<unsigned char>(header[i])) << 8 |
           static_cast<unsigned char>(header[i + 1]);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

std::string IpHeader(const CapturedPacket& packet, uint64_t length) {
  constexpr uint64_t kVersionAndLength = 0x45;
  constexpr uint64_t kCapable = 2;  // ECN codepoint ECT(0).
  constexpr uint64_t kCongested = 3;
  constexpr uint64_t kDontFragment = 0x4000;
  constexpr uint64_t kTimeToLive = 64;
  constexpr uint64_t kUdpProtocol = 17;
  std::string header;
  AppendBig(kVersionAndLength, 1, header);
  AppendBig(packet.is_marked ? kCongested : kCapable, 1, header);
  AppendBig(std::min<uint64_t>(length, 0xffff), 2, header);
  AppendBig(0, 2, header);  // Identification.
  AppendBig(kDontFragment, 2, header);
  AppendBig(kTimeToLive, 1, header);
  AppendBig(kUdpProtocol, 1, header);
  AppendBig(0, 2, header);
  AppendBig(AddressOf(packet.source), 4, header);
  AppendBig(AddressOf(packet.target), 4, header);
  std::string checksum;
  AppendBig(IpChecksum(header), 2, checksum);
  return header.replace(10, 2, checksum);
}

void AppendTransport(const CapturedPacket& packet, std::string& out) {
  // RDMA write middle of a reliable connection.
  constexpr uint64_t kWriteMiddle = 0x07;
  constexpr uint64_t kAcknowledge = 0x11;
  constexpr uint64_t kDefaultPartition = 0xffff;
  constexpr uint64_t kSequenceError = 0x60;
  const bool is_data = packet.kind == Kind::kData;
  AppendBig(is_data ? kWriteMiddle : kAcknowledge, 1, out);
  AppendBig(0, 1, out);
  AppendBig(kDefaultPartition, 2, out);
  AppendBig(packet.channel & 0xffffff, 4, out);
  AppendBig(packet.sequence & 0xffffff, 4, out);
  if (is_data) return;
  AppendBig(packet.kind == Kind::kNack ? kSequenceError : 0, 1, out);
  AppendBig(packet.sequence & 0xffffff, 3, out);
}

std::string RoceFrame(const CapturedPacket& packet) {
  constexpr uint64_t kIpv4 = 0x0800;
  constexpr uint64_t kRocePort = 4791;
  constexpr uint64_t kFirstPort = 0xc000;  // First of the ephemeral ports.
  const auto length = static_cast<uint64_t>(packet.wire_bytes.count());
  const uint64_t below_ethernet =
      std::max<uint64_t>(length, kEthernet + kIp + kUdp) - kEthernet;
  std::string frame;
  AppendMac(packet.target, frame);
  AppendMac(packet.source, frame);
  AppendBig(kIpv4, 2, frame);
  frame += IpHeader(packet, below_ethernet);
  AppendBig(kFirstPort | (packet.channel & 0x3fff), 2, frame);
  AppendBig(kRocePort, 2, frame);
  AppendBig(std::min<uint64_t>(below_ethernet - kIp, 0xffff), 2, frame);
  AppendBig(0, 2, frame);  // No UDP checksum.
  AppendTransport(packet, frame);
  return frame;
}

std::string PfcFrame(const CapturedPacket& packet) {
  // This address reaches only the neighbour.
  constexpr uint64_t kGroup = 0x0180c2000001;
  constexpr uint64_t kMacControl = 0x8808;
  constexpr uint64_t kClassBased = 0x0101;
  constexpr int kDataClass = 3;
  constexpr int kNumClasses = 8;
  std::string frame;
  AppendBig(kGroup, 6, frame);
  AppendMac(packet.source, frame);
  AppendBig(kMacControl, 2, frame);
  AppendBig(kClassBased, 2, frame);
  AppendBig(1 << kDataClass, 2, frame);
  for (int i = 0; i < kNumClasses; ++i) {
    const bool is_paused = i == kDataClass && packet.kind == Kind::kPause;
    AppendBig(is_paused ? 0xffff : 0, 2, frame);
  }
  return frame;
}

void AppendPacket(const CapturedPacket& packet, std::string& out) {
  const bool is_pfc =
      packet.kind == Kind::kPause || packet.kind == Kind::kResume;
  std::string frame = is_pfc ? PfcFrame(packet) : RoceFrame(packet);
  const size_t captured = frame.size();
  const auto length =
      std::max(captured, static_cast<size_t>(packet.wire_bytes.count()));
  frame.resize((captured + 3) / 4 * 4);
  const uint64_t ns = static_cast<uint64_t>(packet.time.count()) / kPsPerNs;
  constexpr uint32_t kEnhancedPacket = 6;
  std::string body;
  AppendLittle(0, 4, body);  // Number of the interface.
  AppendLittle(ns >> 32, 4, body);
  AppendLittle(ns, 4, body);
  AppendLittle(captured, 4, body);
  AppendLittle(length, 4, body);
  AppendBlock(kEnhancedPacket, body + frame, out);
}

}  // namespace

std::string PcapngFile(absl::Span<const CapturedPacket> packets) {
  constexpr uint32_t kSection = 0x0a0d0d0a;
  constexpr uint32_t kByteOrder = 0x1a2b3c4d;
  constexpr uint32_t kInterface = 1;
  constexpr uint64_t kEthernetLink = 1;
  constexpr uint64_t kResolutionOption = 9;
  constexpr uint64_t kNanoseconds = 9;
  std::string file;
  std::string section;
  AppendLittle(kByteOrder, 4, section);
  AppendLittle(1, 2, section);  // Version 1.0.
  AppendLittle(0, 2, section);
  AppendLittle(~uint64_t{0}, 8, section);  // Length: not stated.
  AppendBlock(kSection, section, file);
  std::string interface;
  AppendLittle(kEthernetLink, 2, interface);
  AppendLittle(0, 2, interface);
  AppendLittle(0, 4, interface);  // No snap length.
  AppendLittle(kResolutionOption, 2, interface);
  AppendLittle(1, 2, interface);
  // The value has one byte; three bytes of padding follow it.
  AppendLittle(kNanoseconds, 4, interface);
  AppendLittle(0, 4, interface);  // End of the options.
  AppendBlock(kInterface, interface, file);
  for (const CapturedPacket& packet : packets) AppendPacket(packet, file);
  return file;
}

}  // namespace astra
