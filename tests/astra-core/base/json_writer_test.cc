#include "astra-core/base/json_writer.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace astra {
namespace {

TEST(JsonWriterTest, SeparatesValuesOfObjectsAndArrays) {
  JsonWriter json;
  json.BeginObject().Field("a", "x").Field("b", 8U).Field("c", 0.5);
  json.Key("list").BeginArray().Integer(-1).Null();
  json.BeginObject().EndObject().Number(1).Texts({}).EndArray();
  json.Key("texts").Texts(std::vector<std::string>{"[", ":"});
  json.Flag("d", true).EndObject();
  EXPECT_EQ(json.text(), R"({"a":"x","b":8,"c":0.5,"list":[-1,null,{},1.0,[]],)"
                         R"("texts":["[",":"],"d":true})");
}

TEST(JsonWriterTest, WritesNumbersToTheLastBitAndNullForNone) {
  JsonWriter json;
  json.BeginArray().Number(0.1).Number(8094.014984701).Number(1e300);
  json.Number(std::numeric_limits<double>::infinity());
  json.Number(std::numeric_limits<double>::quiet_NaN());
  json.Integer(std::numeric_limits<int64_t>::min()).EndArray();
  EXPECT_EQ(json.text(),
            "[0.1,8094.014984701,1e+300,null,null,-9223372036854775808]");
}

TEST(JsonWriterTest, WritesAsManyDigitsAsAreWanted) {
  JsonWriter json;
  json.BeginArray().Number(0.1, 9).Number(0.1 + 0.2, 9).Number(1234.56, 3);
  json.Number(std::numeric_limits<double>::infinity(), 9).EndArray();
  EXPECT_EQ(json.text(), "[0.1,0.3,1.23e+03,null]");
}

TEST(JsonWriterTest, EscapesWhatATextMayNotHold) {
  EXPECT_EQ(JsonQuoted("a\"\\\n\x01\xff \xc3\xa9"),
            "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd \xc3\xa9\"");
  EXPECT_EQ(JsonQuoted("\xc3\xa9", JsonCharacters::kAscii), "\"\\u00e9\"");
  EXPECT_EQ(JsonWriter(JsonCharacters::kAscii).Text("\xc3\xa9").text(),
            "\"\\u00e9\"");
  EXPECT_EQ(ValidUtf8("a\xff<\n"), "a\xef\xbf\xbd<\n");
}

}  // namespace
}  // namespace astra
