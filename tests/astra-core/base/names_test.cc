#include "astra-core/base/names.h"

#include <string_view>

#include "tests/testing/matchers.h"

namespace astra {
namespace {

TEST(QuotedTest, KeepsAMessageOnOneLine) {
  EXPECT_EQ(Quoted("400Gbps"), "\"400Gbps\"");
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted(std::string_view("\n\0\x7f\xff", 4)),
            R"("\x0a\x00\x7f\xff")");
}

TEST(QuotedTest, CutsWhatIsLongerThan60Characters) {
  EXPECT_EQ(Quoted(std::string(60, 'x')), '"' + std::string(60, 'x') + '"');
  EXPECT_EQ(Quoted(std::string(61, 'x')), '"' + std::string(60, 'x') + "...\"");
}

TEST(LowerCaseTest, ChangesCapitalLettersAlone) {
  EXPECT_EQ(LowerCase("H100-SXM5_80gb [@{`"), "h100-sxm5_80gb [@{`");
  EXPECT_EQ(LowerCase("\xc3\x84"), "\xc3\x84");  // A letter, but not of ASCII.
  EXPECT_EQ(LowerCase(std::string_view("A\0B", 3)), std::string("a\0b", 3));
  EXPECT_EQ(LowerCase(""), "");
}

TEST(NearestNameTest, CountsEachKindOfEditOnce) {
  EXPECT_EQ(NearestName("rng", {"tree", "ring"}), "ring");    // Insert.
  EXPECT_EQ(NearestName("riing", {"tree", "ring"}), "ring");  // Delete.
  EXPECT_EQ(NearestName("ding", {"tree", "ring"}), "ring");   // Replace.
  // A swap is one edit, so nearer than a name at two.
  EXPECT_EQ(NearestName("rnig", {"rnXX", "ring"}), "ring");
}

TEST(NearestNameTest, ComparesWithoutCase) {
  EXPECT_EQ(NearestName("SPECTRUM-x", {"Spectra", "Spectrum-X"}), "Spectrum-X");
}

TEST(NearestNameTest, GivesTheFirstOfEquals) {
  EXPECT_EQ(NearestName("abc", {"abd", "abe"}), "abd");
  EXPECT_EQ(NearestName("abc", {}), "");
}

TEST(NearestNameTest, IsNoneWhereAllAreFar) {
  EXPECT_EQ(NearestName("oversubscription", {"version", "gpu"}), "");
  EXPECT_EQ(NearestName("yaml", {"simai", "program"}), "");
  EXPECT_EQ(NearestName("x", {"y"}), "");
  EXPECT_EQ(NearestName("", {"ring"}), "");
}

TEST(NearestNameTest, PrefersWordsOfANameToOtherDigits) {
  EXPECT_EQ(NearestName("h100", {"h800", "dgx-h100"}), "dgx-h100");
  EXPECT_EQ(NearestName("h100", {"h1000", "dgx-h100"}), "h1000");
  EXPECT_EQ(NearestName("gpus", {"list-gpus", "gpu"}), "gpu");
}

TEST(NearestNameTest, PrefersTheLongerCommonBeginning) {
  EXPECT_EQ(NearestName("micro-batch", {"macro-batch", "micro-botch"}),
            "micro-botch");
}

TEST(NearestNameTest, TakesABeginningForTheWhole) {
  EXPECT_EQ(NearestName("iteration", {"time", "iteration_milliseconds"}),
            "iteration_milliseconds");
  EXPECT_EQ(NearestName("LL64", {"LL", "Simple"}), "LL");
}

TEST(NearestNameTest, EndsOnVeryLongText) {
  EXPECT_EQ(NearestName(std::string(1 << 20, 'x'), {"ring", "xxxx"}), "xxxx");
}

TEST(PrintableTest, EscapesControlCharactersAlone) {
  EXPECT_EQ(Printable("a\x1b[31m\r\n\t\x7f"), "a\\x1b[31m\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(Printable("a\tb\n\r", "\t\n"), "a\tb\n\\x0d");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");  // U+009B begins commands.
  EXPECT_EQ(Printable("Gr\xc3\xb6\xc3\x9f"
                      "e \xe4\xb8\xad"),
            "Gr\xc3\xb6\xc3\x9f"
            "e \xe4\xb8\xad");
}

TEST(UnknownNameTest, OffersTheNearestAndAll) {
  EXPECT_EQ(UnknownName("algorithm", "rnig", {"tree", "ring"}),
            "unknown algorithm \"rnig\"; did you mean \"ring\"? (known: tree, "
            "ring)");
  EXPECT_EQ(UnknownName("algorithm", "hierarchical", {"tree", "ring"}),
            "unknown algorithm \"hierarchical\" (known: tree, ring)");
}

}  // namespace
}  // namespace astra
