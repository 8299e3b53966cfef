#include "astra-core/base/csv_reader.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/bad_input.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Optional;

// All rows; the status must be good.
std::vector<std::vector<std::string>> RowsOf(std::string_view contents) {
  CsvReader csv("f", contents);
  std::vector<std::vector<std::string>> rows;
  while (csv.NextRow()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t i = 0; i < csv.header().size(); ++i) {
      row.push_back(csv.cell(i).text);
    }
  }
  EXPECT_TRUE(csv.status().ok()) << csv.status();
  return rows;
}

TEST(CsvReaderTest, ReadsRows) {
  EXPECT_THAT(RowsOf("a,b\n1,2\n3,\n"),
              ElementsAre(ElementsAre("1", "2"), ElementsAre("3", "")));
}

TEST(CsvReaderTest, NeedsNoLineEndAtTheEnd) {
  EXPECT_THAT(RowsOf("a\n1"), ElementsAre(ElementsAre("1")));
}

TEST(CsvReaderTest, ReadsCarriageReturns) {
  EXPECT_THAT(RowsOf("a,b\r\n1,2\r\n"), ElementsAre(ElementsAre("1", "2")));
}

TEST(CsvReaderTest, SkipsEmptyLines) {
  EXPECT_THAT(RowsOf("\n\na,b\n\r\n1,2\n\n"),
              ElementsAre(ElementsAre("1", "2")));
}

// RFC 4180, section 2, rules 5 to 7.
TEST(CsvReaderTest, ReadsQuotes) {
  EXPECT_THAT(RowsOf("a,b\n\"x,y\",\"say \"\"a\"\"\"\n\"\",\"two\nlines\"\n"),
              ElementsAre(ElementsAre("x,y", "say \"a\""),
                          ElementsAre("", "two\nlines")));
}

TEST(CsvReaderTest, FindsColumns) {
  const CsvReader csv("f", "a,b\n");
  EXPECT_THAT(csv.Find("b"), Optional(1));
  EXPECT_EQ(csv.Find("c"), std::nullopt);
}

TEST(CsvReaderTest, CountsLinesWithinQuotes) {
  CsvReader csv("f", "a,b\n\"x\ny\",2\n3,z\n");
  ASSERT_TRUE(csv.NextRow());
  EXPECT_EQ(csv.cell(1).line, 3);
  EXPECT_EQ(csv.cell(1).column, 4);
  ASSERT_TRUE(csv.NextRow());
  EXPECT_EQ(csv.Integer(1, 7, 9), 7);
  EXPECT_THAT(csv.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "f:4:3: b is \"z\": expected a whole number from 7 to "
                       "9"));
}

TEST(CsvReaderTest, ReadsNumbers) {
  CsvReader csv("f", "a,b\n12,1.5\n");
  ASSERT_TRUE(csv.NextRow());
  EXPECT_EQ(csv.Integer(0, 1, 100), 12);
  EXPECT_EQ(csv.Number(1, 0, 2), 1.5);
  EXPECT_TRUE(csv.status().ok());
}

TEST(CsvReaderTest, KeepsTheFirstError) {
  CsvReader csv("f", "a\nx\ny\n");
  ASSERT_TRUE(csv.NextRow());
  csv.Fail(csv.cell(0), "first");
  csv.Fail(csv.cell(0), "second");
  EXPECT_FALSE(csv.NextRow());
  EXPECT_THAT(csv.status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "f:2:1: first"));
}

TEST(CsvReaderTest, RefusesColumnsThatAreNotThere) {
  CsvReader csv("f", "a,b\n");
  EXPECT_EQ(csv.Column("c"), 0);
  EXPECT_THAT(csv.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                     "f:1:1: no column \"c\""));
}

TEST(CsvReaderTest, RefusesOtherColumns) {
  CsvReader csv("f", "gpu,tme\n");
  csv.RefuseOthers({"gpu", "time"});
  EXPECT_THAT(csv.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "f:1:5: unknown column \"tme\"; did you mean \"time\"? "
                       "(known: gpu, time)"));
}

TEST(CsvReaderTest, WarnsOfOtherColumns) {
  const CsvReader csv("f", "gpu,x,y\n");
  Warnings warnings;
  csv.WarnOfOthers({"gpu"}, &warnings);
  EXPECT_THAT(warnings, ElementsAre("f:1:5: column \"x\" is not used"));
  csv.WarnOfOthers({"gpu", "x", "y"}, &warnings);
  EXPECT_EQ(warnings.size(), 1);
}

class BadCsvTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadCsvTest, SaysWhatAndWhere) {
  CsvReader csv("f", GetParam().contents);
  while (csv.NextRow()) {
  }
  EXPECT_THAT(csv.status(),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCsvTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "f:1:1: no line: expected the names of the columns"},
        BadInput{"OnlyEmptyLines", "\n\n",
                 "f:3:1: no line: expected the names of the columns"},
        BadInput{"TwoOfOneName", "a,b,a\n",
                 "f:1:5: column \"a\" is there twice"},
        BadInput{"TooManyCells", "a,b\n1,2,3,4\n",
                 "f:2:5: 4 cells: expected 2, as in the first line"},
        BadInput{"TooFewCells", "a,b,c\n1,2\n",
                 "f:2:3: 2 cells: expected 3, as in the first line"},
        BadInput{"OpenQuote", "a\n\"x\ny", "f:2:1: the quote is not closed"},
        BadInput{"QuoteInACell", "a,b\n1,x\"y\"\n",
                 "f:2:3: a quote inside a cell that does not begin with one"},
        BadInput{"AfterAQuote", "a\n\"x\"y\n",
                 "f:2:1: something follows the closing quote of this cell"},
        BadInput{"ManyColumns", std::string(5000, ','),
                 "f:1:4097: more than 4096 columns"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
