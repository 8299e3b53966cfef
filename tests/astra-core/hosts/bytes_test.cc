#include "astra-core/hosts/bytes.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

TEST(BytesTest, NumbersAreLittleEndian) {
  ByteWriter writer;
  writer.Add8(0xfe);
  writer.Add32(0x01020304);
  writer.AddTime(-2);
  writer.AddText("ab");
  const std::string bytes = writer.Take();
  EXPECT_EQ(bytes, std::string_view("\xfe\x04\x03\x02\x01"
                                    "\xfe\xff\xff\xff\xff\xff\xff\xff"
                                    "\x02\0\0\0ab",
                                    19));
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Read8(), 0xfe);
  EXPECT_EQ(reader.Read32(), 0x01020304u);
  EXPECT_EQ(reader.ReadTime(), -2);
  EXPECT_EQ(reader.ReadText(), "ab");
  EXPECT_EQ(reader.status(), absl::OkStatus());
}

TEST(BytesTest, MissingAndLeftBytesAreErrors) {
  ByteReader reader(std::string_view("\1\0", 2));
  EXPECT_EQ(reader.Read32(), 0u);
  EXPECT_EQ(reader.Read8(), 0);  // Nothing is read after an error.
  EXPECT_EQ(reader.status().message(), "a message is shorter than it says");
  ByteReader long_one(std::string_view("\1\0", 2));
  long_one.Read8();
  EXPECT_EQ(long_one.status().message(), "a message is longer than it says");
}

// A number of elements that cannot follow must not be made room for.
TEST(BytesTest, ACountIsHeldAgainstTheBytesThatFollow) {
  ByteWriter writer;
  writer.Add32(3);
  writer.AddRaw("abcdef");
  const std::string bytes = writer.Take();
  ByteReader enough(bytes);
  EXPECT_EQ(enough.ReadCount(2), 3u);
  ByteReader too_few(bytes);
  EXPECT_EQ(too_few.ReadCount(3), 0u);
  EXPECT_FALSE(too_few.status().ok());
}

}  // namespace
}  // namespace astra::testing
