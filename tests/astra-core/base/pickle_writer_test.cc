#include "astra-core/base/pickle_writer.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

using std::string_literals::operator""s;

TEST(PickleWriterTest, WritesWhatPythonReads) {
  PickleWriter pickle;
  pickle.BeginDict().Text("a").Integer(1).Text("b").BeginList();
  pickle.Bool(true).None().Text("a").EndList().EndDict();
  // {"a": 1, "b": [True, None, "a"]}
  EXPECT_EQ(std::move(pickle).Finish(),
            "\x80\x04}(\x8c\x01"
            "a\x94K\x01\x8c\x01"
            "b\x94](\x88Nh\x00"
            "eu."s);
}

TEST(PickleWriterTest, IntegersTakeAsManyBytesAsTheyNeed) {
  PickleWriter pickle;
  pickle.BeginList().Integer(255).Integer(256).Integer(65536).Integer(-1);
  pickle.Integer(int64_t{1} << 40).EndList();
  EXPECT_EQ(std::move(pickle).Finish(),
            "\x80\x04](K\xffM\x00\x01J\x00\x00\x01\x00J\xff\xff\xff\xff"
            "\x8a\x08\x00\x00\x00\x00\x00\x01\x00\x00"
            "e."s);
}

TEST(PickleWriterTest, AnObjectMayOccurAgain) {
  PickleWriter pickle;
  pickle.BeginList().BeginList().EndList();
  const uint32_t number = pickle.Remember();
  pickle.Again(number).EndList();
  EXPECT_EQ(std::move(pickle).Finish(),
            "\x80\x04](]\x94h\x00"
            "e."s);
}

TEST(PickleWriterTest, LongListsGrowInBatches) {
  PickleWriter pickle;
  pickle.BeginList();
  for (size_t i = 0; i <= PickleWriter::kBatch; ++i) pickle.Integer(0);
  pickle.EndList();
  const std::string file = std::move(pickle).Finish();
  // Two marks, 1001 numbers of 2 bytes, two appends.
  EXPECT_EQ(file.size(), 2U + 1 + 2 + 2 * 1001 + 2 + 1);
  EXPECT_EQ(file.substr(file.size() - 6), "e(K\0e."s);
}

}  // namespace
}  // namespace astra
