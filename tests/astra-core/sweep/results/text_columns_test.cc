#include "astra-core/sweep/results/text_columns.h"

#include <limits>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(TextColumnsTest, AlignsCellsUnderTheirHeaders) {
  TextColumns columns;
  columns.AddColumn("tp", TextColumns::Align::kLeft);
  columns.AddColumn("time", TextColumns::Align::kRight);
  columns.AddColumn("note", TextColumns::Align::kLeft);
  columns.AddRow({"8", "12345", "x"});
  columns.AddRow({"\xc3\xa9toile", "1", ""});  // 6 characters.
  EXPECT_EQ(columns.Text(),
            "  tp       time  note\n"
            "  8       12345  x\n"
            "  \xc3\xa9toile      1\n");
}

TEST(TextColumnsTest, HasNoLineOfHeadersThatAreEmpty) {
  TextColumns columns;
  columns.AddColumn("", TextColumns::Align::kRight);
  columns.AddRow({"8"});
  columns.AddRow({"16"});
  EXPECT_EQ(columns.Text(), "   8\n  16\n");
}

TEST(ShortNumberTest, HasSixDigitsOrAllBeforeThePoint) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(8), "8");
  EXPECT_EQ(ShortNumber(0.40740467869), "0.407405");
  EXPECT_EQ(ShortNumber(8094.014984701), "8094.01");
  EXPECT_EQ(ShortNumber(99999.96), "100000");
  EXPECT_EQ(ShortNumber(999999.7), "1000000");
  EXPECT_EQ(ShortNumber(-1563740.876), "-1563741");
  EXPECT_EQ(ShortNumber(1.25e15), "1.25e+15");
  EXPECT_EQ(ShortNumber(1.5e-9), "1.5e-09");
}

TEST(RatioTextTest, HasThreeDigitsAfterThePoint) {
  EXPECT_EQ(RatioText(1), "x 1.000");
  EXPECT_EQ(RatioText(1.23456), "x 1.235");
  EXPECT_EQ(RatioText(std::numeric_limits<double>::infinity()), "-");
}

TEST(PlainTextTest, QuotesWhatATerminalWouldNotPrint) {
  EXPECT_EQ(PlainText("a b"), "a b");
  EXPECT_EQ(PlainText("a\nb"), "\"a\\x0ab\"");
}

}  // namespace
}  // namespace astra
