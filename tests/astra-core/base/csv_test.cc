#include "astra-core/base/csv.h"

#include "tests/testing/matchers.h"

namespace astra {
namespace {

// RFC 4180, section 2, rules 5 to 7.
TEST(CsvFieldTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(CsvField(""), "");
  EXPECT_EQ(CsvField("GPU 3 -> NVSwitch 8"), "GPU 3 -> NVSwitch 8");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("a\nb"), "\"a\nb\"");
  EXPECT_EQ(CsvField("a\rb"), "\"a\rb\"");
  EXPECT_EQ(CsvField("say \"a\""), "\"say \"\"a\"\"\"");
}

}  // namespace
}  // namespace astra
