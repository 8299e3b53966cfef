#include "astra-core/apps/packet_capture.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using Kind = CapturedPacket::Kind;

// "0a 0d", of `length` bytes from `begin` on.
std::string Hex(const std::string& bytes, size_t begin, size_t length) {
  std::string text;
  for (size_t i = begin; i < begin + length && i < bytes.size(); ++i) {
    text += fmt::format("{}{:02x}", i == begin ? "" : " ",
                        static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

// Where the first frame begins: behind the section, the interface and the
// header of its block.
constexpr size_t kFrame = 28 + 32 + 28;

CapturedPacket Packet(Kind kind) {
  return {.time = TimePs(5'999),
          .kind = kind,
          .source = NodeId(0),
          .target = NodeId(258),
          .channel = 3,
          .sequence = 7,
          .wire_bytes = Bytes(4178)};
}

TEST(PacketCaptureTest, AFileWithoutPacketsHasASectionAndAnInterface) {
  const std::string file = PcapngFile({});
  EXPECT_EQ(Hex(file, 0, 28),
            "0a 0d 0d 0a 1c 00 00 00 4d 3c 2b 1a 01 00 00 00 ff ff ff ff ff ff "
            "ff ff 1c 00 00 00");
  // Ethernet, in nanoseconds.
  EXPECT_EQ(Hex(file, 28, 100),
            "01 00 00 00 20 00 00 00 01 00 00 00 00 00 00 00 09 00 01 00 09 00 "
            "00 00 00 00 00 00 20 00 00 00");
}

TEST(PacketCaptureTest, DataIsARoceFrameOfItsLength) {
  CapturedPacket packet = Packet(Kind::kData);
  packet.time = TimePs((int64_t{1} << 32) * 1000 + 5999);  // 2^32 + 5 ns.
  packet.is_marked = true;
  const std::string file = PcapngFile({packet});
  // The block: 54 bytes of 4178, and two to fill up.
  EXPECT_EQ(Hex(file, 60, 28),
            "06 00 00 00 58 00 00 00 00 00 00 00 01 00 00 00 05 00 00 00 36 00 "
            "00 00 52 10 00 00");
  EXPECT_EQ(Hex(file, kFrame, 14), "02 00 00 00 01 02 02 00 00 00 00 00 08 00");
  // 4164 bytes, congestion experienced, from 10.0.0.0 to 10.0.1.2. The sum of
  // the other words is 0x4503 + 0x1044 + 0x4000 + 0x4011 + 2 x 0x0a00 + 0x0102
  // = 0xea5a.
  EXPECT_EQ(Hex(file, kFrame + 14, 20),
            "45 03 10 44 00 00 40 00 40 11 15 a5 0a 00 00 00 0a 00 01 02");
  EXPECT_EQ(Hex(file, kFrame + 34, 8), "c0 03 12 b7 10 30 00 00");
  EXPECT_EQ(Hex(file, kFrame + 42, 12), "07 00 ff ff 00 00 00 03 00 00 00 07");
}

TEST(PacketCaptureTest, AcksAndNacksDifferInTheirSyndrome) {
  EXPECT_EQ(Hex(PcapngFile({Packet(Kind::kAck)}), kFrame + 42, 16),
            "11 00 ff ff 00 00 00 03 00 00 00 07 00 00 00 07");
  EXPECT_EQ(Hex(PcapngFile({Packet(Kind::kNack)}), kFrame + 54, 4),
            "60 00 00 07");
}

TEST(PacketCaptureTest, APauseIsOfTheClassOfData) {
  EXPECT_EQ(Hex(PcapngFile({Packet(Kind::kPause)}), kFrame, 34),
            "01 80 c2 00 00 01 02 00 00 00 00 00 88 08 01 01 00 08 00 00 00 00 "
            "00 00 ff ff 00 00 00 00 00 00 00 00");
  EXPECT_EQ(Hex(PcapngFile({Packet(Kind::kResume)}), kFrame + 18, 8),
            "00 00 00 00 00 00 00 00");
}

}  // namespace
}  // namespace astra
