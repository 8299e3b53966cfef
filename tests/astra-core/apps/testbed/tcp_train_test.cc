#include "astra-core/apps/testbed/tcp_train.h"

#include <string>
#include <vector>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr size_t kIp = TcpTrain::kPrefix;
constexpr size_t kTcp = kIp + 20;
constexpr size_t kHeaders = 52;  // 20 of IP; 32 of TCP, with timestamps.

// A piece from 10.0.0.1 to 10.0.0.2 with sequence number 0x01000000 and flags
// FIN, PSH, ACK and CWR, whose byte i of the payload is i.
std::vector<uint8_t> Piece(size_t payload, uint16_t segment) {
  std::vector<uint8_t> piece(kIp + kHeaders + payload);
  const size_t length = kHeaders + payload;
  piece[0] = 1;                    // A checksum is to be completed.
  piece[1] = segment > 0 ? 1 : 0;  // TCP over IPv4.
  piece[2] = kHeaders;
  piece[4] = static_cast<uint8_t>(segment);
  piece[5] = static_cast<uint8_t>(segment >> 8);
  piece[kIp] = 0x45;
  piece[kIp + 2] = static_cast<uint8_t>(length >> 8);
  piece[kIp + 3] = static_cast<uint8_t>(length);
  piece[kIp + 5] = 7;  // Identification.
  piece[kIp + 8] = 64;
  piece[kIp + 9] = 6;
  piece[kIp + 12] = piece[kIp + 16] = 10;
  piece[kIp + 15] = 1;
  piece[kIp + 19] = 2;
  piece[kTcp + 4] = 1;
  piece[kTcp + 12] = 0x80;
  piece[kTcp + 13] = 0x99;
  for (size_t i = 0; i < payload; ++i) {
    piece[kIp + kHeaders + i] = static_cast<uint8_t>(i);
  }
  return piece;
}

uint32_t Sum(const uint8_t* at, size_t size) {
  uint32_t sum = 0;
  for (size_t i = 0; i < size; i += 2) sum += at[i] * 256U + at[i + 1];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

TEST(TcpTrainTest, CountsPacketsAndWhatTheyTakeOnTheWire) {
  const TcpTrain train = ValueOrDie(TcpTrain::Parse(Piece(2500, 1000)));
  EXPECT_EQ(train.target(), 0x0a000002U);
  ASSERT_EQ(train.num_packets(), 3U);
  EXPECT_EQ(train.WireBytes(0), Bytes(1000 + kHeaders + 38));
  EXPECT_EQ(train.WireBytes(2), Bytes(500 + kHeaders + 38));
}

TEST(TcpTrainTest, TakesOtherPiecesForOnePacket) {
  const TcpTrain train = ValueOrDie(TcpTrain::Parse(Piece(100, 0)));
  EXPECT_EQ(train.num_packets(), 1U);
  EXPECT_EQ(train.WireBytes(0), Bytes(100 + kHeaders + 38));
}

TEST(TcpTrainTest, LeavesAWholeTrainAsItIs) {
  const std::vector<uint8_t> piece = Piece(2500, 1000);
  const TcpTrain train = ValueOrDie(TcpTrain::Parse(piece));
  const TcpTrain::Run run = train.Cut(piece, 0, 3);
  EXPECT_EQ(run.headers_size, kIp + kHeaders);
  EXPECT_TRUE(std::equal(piece.begin(), piece.begin() + kIp + kHeaders,
                         run.headers.begin()));
  EXPECT_EQ(run.payload_begin, kIp + kHeaders);
  EXPECT_EQ(run.payload_size, 2500U);
}

TEST(TcpTrainTest, CutsARunOutOfTheMiddle) {
  const std::vector<uint8_t> piece = Piece(4500, 1000);
  const TcpTrain train = ValueOrDie(TcpTrain::Parse(piece));
  const TcpTrain::Run run = train.Cut(piece, 1, 2);
  EXPECT_EQ(run.payload_begin, kIp + kHeaders + 1000);
  EXPECT_EQ(run.payload_size, 2000U);
  EXPECT_EQ(run.headers[1], 1);  // Still several segments.
  // Length 2052, identification 8, sequence number + 1000.
  EXPECT_EQ(run.headers[kIp + 2], 2052 >> 8);
  EXPECT_EQ(run.headers[kIp + 3], 2052 & 255);
  EXPECT_EQ(run.headers[kIp + 5], 8);
  EXPECT_EQ(run.headers[kTcp + 4], 1);
  EXPECT_EQ(run.headers[kTcp + 6], 1000 >> 8);
  EXPECT_EQ(run.headers[kTcp + 7], 1000 & 255);
  // Neither the first packet, which has CWR, nor the last, with FIN and PSH.
  EXPECT_EQ(run.headers[kTcp + 13], 0x10);
  EXPECT_EQ(Sum(&run.headers[kIp], 20), 0xffffU);
  // The pseudo header: addresses, protocol 6 and 2032 bytes of TCP.
  EXPECT_EQ(run.headers[kTcp + 16] * 256U + run.headers[kTcp + 17],
            Sum(&run.headers[kIp + 12], 8) + 6 + 2032);
}

TEST(TcpTrainTest, CutsTheLastPacket) {
  const std::vector<uint8_t> piece = Piece(2500, 1000);
  const TcpTrain train = ValueOrDie(TcpTrain::Parse(piece));
  const TcpTrain::Run run = train.Cut(piece, 2, 1);
  EXPECT_EQ(run.payload_size, 500U);
  EXPECT_EQ(run.headers[1], 0);  // No large packet any more.
  EXPECT_EQ(run.headers[4] + run.headers[5], 0);
  EXPECT_EQ(run.headers[kTcp + 13], 0x19);  // FIN, PSH and ACK, no CWR.
}

struct BadPiece {
  const char* name;
  size_t at;
  uint8_t value;
  const char* message;
};

class BadPieceTest : public ::testing::TestWithParam<BadPiece> {};

TEST_P(BadPieceTest, IsAnError) {
  std::vector<uint8_t> piece = Piece(2500, 1000);
  piece[GetParam().at] = GetParam().value;
  EXPECT_THAT(TcpTrain::Parse(piece),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , BadPieceTest,
    ::testing::Values(
        BadPiece{"Version", kIp, 0x65, "IP version is 6"},
        BadPiece{"IpHeader", kIp, 0x44, "size of the IP header is 16"},
        BadPiece{"Length", kIp + 3, 0, "length in the IP header is 2304"},
        BadPiece{"Kind", 1, 3, "kind of large packet is 3"},
        BadPiece{"Protocol", kIp + 9, 17, "kind of large packet is 1"},
        BadPiece{"TcpHeader", kTcp + 12, 0x40, "size of the TCP header is 16"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TcpTrainTest, RefusesPiecesThatEndWithinTheirHeaders) {
  EXPECT_THAT(
      TcpTrain::Parse(std::vector<uint8_t>(29)),
      StatusIs(absl::StatusCode::kInvalidArgument, "size of the piece is 29"));
  std::vector<uint8_t> piece = Piece(0, 1000);
  piece.resize(kTcp + 19);
  piece[kIp + 3] = 39;
  EXPECT_THAT(TcpTrain::Parse(piece),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "length in the IP header is 39"));
  piece = Piece(2500, 0);
  piece[1] = 1;
  EXPECT_THAT(
      TcpTrain::Parse(piece),
      StatusIs(absl::StatusCode::kInvalidArgument, "size of a segment is 0"));
}

}  // namespace
}  // namespace astra
