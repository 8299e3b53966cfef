// Bytes that Python's gzip.compress(..., mtime=0) writes.

#include "workload/traces/gzip.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace astra::testing {
namespace {

using namespace std::string_view_literals;  // NOLINT: for bytes that are 0.

constexpr std::string_view kFirst =  // {"a":
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x54\xb2\x52\x00\x00"
    "\x9c\xdc\xb2\xcd\x06\x00\x00\x00"sv;
constexpr std::string_view kSecond =  // 1}
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\xac\x05\x00\xcc\x18\x30\xa9"
    "\x02\x00\x00\x00"sv;

std::string ErrorOf(std::string_view contents) {
  return std::string(Gunzip("f.gz", contents, 100).status().message());
}

TEST(GunzipTest, MembersFollowOneAnother) {
  EXPECT_TRUE(IsGzip(kFirst));
  EXPECT_FALSE(IsGzip("{\"a\": 1}"));
  EXPECT_EQ(ValueOrDie(Gunzip("f", kFirst, 100)), "{\"a\": ");
  EXPECT_EQ(
      ValueOrDie(Gunzip("f", std::string(kFirst) + std::string(kSecond), 100)),
      "{\"a\": 1}");
}

TEST(GunzipTest, DamageIsToldWithItsPlace) {
  EXPECT_EQ(ErrorOf(kFirst.substr(0, 16)),
            "f.gz: the compressed data end early");
  EXPECT_EQ(ErrorOf(kFirst.substr(0, 4)),
            "f.gz: the compressed data end early");
  std::string wrong_sum(kFirst);
  wrong_sum[19] = 'x';
  EXPECT_EQ(ErrorOf(wrong_sum),
            "f.gz: byte 22: the compressed data are damaged");
  EXPECT_EQ(ErrorOf(std::string(kFirst) + "{}"),
            "f.gz: byte 28: the compressed data are damaged");
}

TEST(GunzipTest, TheSizeHasALimit) {
  EXPECT_EQ(ValueOrDie(Gunzip("f", kFirst, 6)).size(), 6u);
  EXPECT_EQ(Gunzip("f", kFirst, 5).status().message(),
            "f: unpacks to more than 5 bytes");
}

}  // namespace
}  // namespace astra::testing
