#include "workload/operators/aiob_file.h"

#include <string>
#include <string_view>

#include "tests/testing/bad_input.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::BadInput;
using ::astra::testing::StatusIs;
using ::astra::testing::ValueOrDie;

constexpr std::string_view kFile =
    "train_iter:10\n"
    "Emb:\n"
    "    time_gpu_max: 857\n"
    "    time_gpu_min: 782\n"
    "    time_gpu_avg: 799.25\n"
    "param_time:\n"
    "    time_gpu_max: 20000\n"
    "    time_gpu_min: 16000.000001\n"
    "    time_gpu_avg: 17000\n";

TEST(AiobFileTest, ReadsWhatItSays) {
  const AiobFile file = ValueOrDie(ParseAiob("a", kFile));
  EXPECT_EQ(file.train_iter, 10);
  ASSERT_EQ(file.sections.size(), 2);
  EXPECT_EQ(file.sections[0], (AiobSection{.name = "Emb",
                                           .max = Microseconds(857),
                                           .min = Microseconds(782),
                                           .average = Nanoseconds(799'250)}));
  EXPECT_EQ(file.sections[1].name, "param_time");
  EXPECT_EQ(file.sections[1].min, TimePs(16'000'000'001));
}

TEST(AiobFileTest, FindsSections) {
  const AiobFile file = ValueOrDie(ParseAiob("a", kFile));
  EXPECT_EQ(file.Find("param_time"), &file.sections[1]);
  EXPECT_EQ(file.Find("param"), nullptr);
}

TEST(AiobFileTest, WritesWhatItRead) {
  EXPECT_EQ(FormatAiob(ValueOrDie(ParseAiob("a", kFile))), kFile);
}

TEST(AiobFileTest, AcceptsAnyOrderSpacesAndEmptyLines) {
  const AiobFile file =
      ValueOrDie(ParseAiob("a",
                           "train_iter: 1\r\n\r\nx:\r\n\ttime_gpu_avg: 2\r\n"
                           " time_gpu_min:   1\n\n time_gpu_max: 3"));
  EXPECT_EQ(file.train_iter, 1);
  EXPECT_EQ(file.sections[0].average, Microseconds(2));
  EXPECT_EQ(file.sections[0].max, Microseconds(3));
}

TEST(AiobFileTest, ReadsFiles) {
  const testing::TemporaryFolder folder;
  testing::WriteText(folder.PathOf("a.txt"), kFile);
  EXPECT_EQ(ValueOrDie(ReadAiob(folder.PathOf("a.txt"))),
            ValueOrDie(ParseAiob("a", kFile)));
  EXPECT_EQ(ReadAiob(folder.PathOf("b.txt")).status().code(),
            absl::StatusCode::kNotFound);
}

class BadAiobFileTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadAiobFileTest, SaysWhatAndWhere) {
  EXPECT_THAT(ParseAiob("a", GetParam().contents),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadAiobFileTest,
    ::testing::Values(
        BadInput{"Empty", "", "a:1:1: expected \"train_iter:\" and a number"},
        BadInput{"OtherFirstLine", "  iterations:10\n",
                 "a:1:3: expected \"train_iter:\" and a number"},
        BadInput{"NoIterations", "train_iter:\n",
                 "a:1:12: train_iter is \"\": expected a whole number of at "
                 "least 1"},
        BadInput{"IterationsAreNoNumber", "train_iter: ten\n",
                 "a:1:13: train_iter is \"ten\": expected a whole number of "
                 "at least 1"},
        BadInput{"TwoIterations", "train_iter: 10 20\n",
                 "a:1:16: unexpected \"20\""},
        BadInput{"NoSections", "train_iter:10\n\n",
                 "a:3:1: no section, such as \"Emb:\""},
        BadInput{"TimeOutsideOfASection",
                 "train_iter:10\n    time_gpu_max: 857\n",
                 "a:2:5: expected a section, such as \"Emb:\", first"},
        BadInput{"NoColon", testing::WithLine(kFile, 2, "Emb"),
                 "a:2:1: \"Emb\" lacks a \":\""},
        BadInput{"WordAfterASection", testing::WithLine(kFile, 2, "Emb: 7"),
                 "a:2:6: unexpected \"7\""},
        BadInput{"SectionTwice", testing::WithLine(kFile, 6, "Emb:"),
                 "a:6:1: section \"Emb\" is there twice"},
        BadInput{"TimeTwice", testing::WithLine(kFile, 4, " time_gpu_max: 782"),
                 "a:4:2: time_gpu_max is there twice"},
        BadInput{"TimeIsLacking", testing::WithLine(kFile, 4, ""),
                 "a:2:1: section \"Emb\" lacks time_gpu_min"},
        BadInput{"TimeIsLackingAtTheEnd", testing::WithLine(kFile, 9, ""),
                 "a:6:1: section \"param_time\" lacks time_gpu_avg"},
        BadInput{"UnknownTime",
                 testing::WithLine(kFile, 3, " time_gpu_mx: 857"),
                 "a:3:2: unknown time \"time_gpu_mx\"; did you mean "
                 "\"time_gpu_max\"? (known: time_gpu_max, time_gpu_min, "
                 "time_gpu_avg)"},
        BadInput{"NoNumber", testing::WithLine(kFile, 3, " time_gpu_max:"),
                 "a:3:15: expected a number of microseconds"},
        BadInput{"BadNumber", testing::WithLine(kFile, 3, " time_gpu_max: -1"),
                 "a:3:16: time_gpu_max is \"-1\": expected a number from 0 to "
                 "1000000000"},
        BadInput{"Unit", testing::WithLine(kFile, 3, " time_gpu_max: 1 us"),
                 "a:3:18: unexpected \"us\""}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace astra
