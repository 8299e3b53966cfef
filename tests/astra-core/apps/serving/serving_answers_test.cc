#include <string>
#include <utility>
#include <vector>

#include "astra-core/apps/serving/load_series.h"
#include "astra-core/apps/serving/serving_points.h"
#include "astra-core/apps/serving/serving_timeline.h"
#include "astra-core/apps/serving/simai_serving_options.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ValueOrDie;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kJob = "-m llama3-8b --gpu H100 --isl 64 --osl 8 ";

absl::StatusOr<SimaiServingOptions> TryRead(const std::string& text) {
  return ReadSimaiServingOptions(
      ValueOrDie(ParseArguments(SimaiServingOptionSpecs(), kJob + text)));
}

std::string ErrorOf(const std::string& text) {
  return std::string(TryRead(text).status().message());
}

std::vector<int64_t> Concurrencies(const std::string& list) {
  std::vector<int64_t> counts;
  for (const LoadPoint& point :
       ValueOrDie(TryRead("--concurrency " + list)).points) {
    counts.push_back(point.in_flight);
  }
  return counts;
}

TEST(AnswerOptionsTest, ListsDoubleUpToTheirLastNumber) {
  EXPECT_THAT(Concurrencies("8"), ElementsAre(8));
  EXPECT_THAT(Concurrencies("1,2,8..64"), ElementsAre(1, 2, 8, 16, 32, 64));
  EXPECT_THAT(Concurrencies("3..20"), ElementsAre(3, 6, 12, 20));
  const SimaiServingOptions rates =
      ValueOrDie(TryRead("--requests 4 --rate 0.5..2"));
  EXPECT_THAT(rates.points,
              ElementsAre(LoadPoint{.rate = 0.5}, LoadPoint{.rate = 1},
                          LoadPoint{.rate = 2}));
}

TEST(AnswerOptionsTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("--concurrency 4,2"),
            "--concurrency is 4,2: expected rising numbers, such as 1,2,8..64");
  EXPECT_EQ(
      ErrorOf("--concurrency 4..4"),
      "--concurrency is 4..4: expected FIRST..LAST with FIRST below, such "
      "as 1,2,8..64");
  EXPECT_EQ(
      ErrorOf("--concurrency 4,,8"),
      "--concurrency is \"\": expected a whole number from 1 to 16777216");
  EXPECT_EQ(ErrorOf("--requests 4 --rate 0,1"),
            "--rate is 0: no request would arrive");
  EXPECT_EQ(ErrorOf("--concurrency 2 --threads 2"),
            "--threads has no effect: there is one load, not a list of them");
  EXPECT_EQ(ErrorOf("--concurrency 1,2 --steps"),
            "--steps has no effect: there are 2 loads");
  EXPECT_EQ(ErrorOf("--concurrency 2 --slo-ttft 0"),
            "--slo-ttft is 0: no request would keep it");
}

// Ten requests for each in flight, where their number is not given.
TEST(AnswerOptionsTest, AClosedLoopHasTenRounds) {
  const SimaiServingOptions options = ValueOrDie(TryRead("--concurrency 1,3"));
  const auto source = ValueOrDie(SourceOf(options, options.points[1]));
  int requests = 0;
  while (source->Next(TimePs(0))) ++requests;
  EXPECT_EQ(requests, 30);
}

StepRecord Step(int64_t start, int64_t duration) {
  return {.start = TimePs(start),
          .duration = TimePs(duration),
          .sequences = 2,
          .samples = 2,
          .running = 2,
          .waiting = 1,
          .used_blocks = 4,
          .num_blocks = 8};
}

// A prefill of 1 us, nothing for 1 us, and a decode of 2 us, whose 2 tokens
// are a million a second.
TEST(ServingTimelineTest, HasStepsAndCounters) {
  ServingTimeline timeline;
  StepRecord prefill = Step(0, 1'000'000);
  prefill.prompt_tokens = 100;
  prefill.preemptions = 3;
  timeline.OnStep(prefill);
  StepRecord decode = Step(2'000'000, 2'000'000);
  decode.decodes = 2;
  decode.decode_context = 102;
  timeline.OnStep(decode);
  EXPECT_EQ(std::move(timeline).Text(),
            R"({"displayTimeUnit":"ns","otherData":{},"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"replica 0"}},
{"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":1}},
{"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"steps"}},
{"ph":"M","name":"thread_sort_index","pid":1,"tid":0,"args":{"sort_index":0}},
{"ph":"X","name":"prefill","pid":1,"tid":0,"ts":0.000000,"dur":1.000000,"args":{"sequences":2,"prompt_tokens":100,"decodes":0,"decode_context":0,"samples":2,"preemptions":3}},
{"ph":"C","name":"KV blocks","pid":1,"ts":0.000000,"args":{"used":4,"cached":0}},
{"ph":"C","name":"sequences","pid":1,"ts":0.000000,"args":{"running":2,"waiting":1}},
{"ph":"C","name":"tokens/s","pid":1,"ts":0.000000,"args":{"output":2000000.0}},
{"ph":"C","name":"KV blocks","pid":1,"ts":1.000000,"args":{"used":0}},
{"ph":"C","name":"sequences","pid":1,"ts":1.000000,"args":{"running":0,"waiting":0}},
{"ph":"C","name":"tokens/s","pid":1,"ts":1.000000,"args":{"output":0}},
{"ph":"X","name":"decode","pid":1,"tid":0,"ts":2.000000,"dur":2.000000,"args":{"sequences":2,"prompt_tokens":0,"decodes":2,"decode_context":102,"samples":2}},
{"ph":"C","name":"KV blocks","pid":1,"ts":2.000000,"args":{"used":4,"cached":0}},
{"ph":"C","name":"sequences","pid":1,"ts":2.000000,"args":{"running":2,"waiting":1}},
{"ph":"C","name":"tokens/s","pid":1,"ts":2.000000,"args":{"output":1000000.0}},
{"ph":"C","name":"KV blocks","pid":1,"ts":4.000000,"args":{"used":0}},
{"ph":"C","name":"sequences","pid":1,"ts":4.000000,"args":{"running":0,"waiting":0}},
{"ph":"C","name":"tokens/s","pid":1,"ts":4.000000,"args":{"output":0}}
]}
)");
}

TEST(ServingTimelineTest, IsBoundedAndSaysSo) {
  ServingTimeline timeline;
  for (int64_t i = 0; i < kMostTimelineSteps + 2; ++i) {
    timeline.OnStep(Step(10 * i, 10));
  }
  EXPECT_THAT(std::move(timeline).Text(),
              HasSubstr(R"("otherData":{"steps left out":2})"));
}

// A step that fills the first bin, and one that fills half of the second, where
// the series ends.
TEST(LoadSeriesTest, BinsHaveMeansOverTheirTime) {
  constexpr int64_t kWidth = int64_t{1} << 30;
  LoadSeries series;
  EXPECT_THAT(series.Bins(), IsEmpty());
  series.OnStep(Step(kWidth / 2, kWidth / 2));
  series.OnStep(Step(kWidth, kWidth / 2));
  const std::vector<LoadBin> bins = series.Bins();
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_DOUBLE_EQ(bins[0].running, 1);  // 2 sequences for half of the time.
  EXPECT_DOUBLE_EQ(bins[0].waiting, 0.5);
  EXPECT_DOUBLE_EQ(bins[0].kv_use, 0.25);
  EXPECT_DOUBLE_EQ(bins[1].begin_s, 0.001073741824);
  EXPECT_DOUBLE_EQ(bins[1].running, 2);
  EXPECT_DOUBLE_EQ(bins[1].kv_use, 0.5);
  EXPECT_DOUBLE_EQ(bins[1].output_tokens_per_s, 2 / 0.000536870912);
}

// 300 steps as long as a bin: the bins become twice as wide, and lose nothing.
TEST(LoadSeriesTest, BinsAreJoinedWhereTheyWouldBeTooMany) {
  constexpr int64_t kWidth = int64_t{1} << 30;
  LoadSeries series;
  for (int64_t i = 0; i < 300; ++i) series.OnStep(Step(i * kWidth, kWidth));
  const std::vector<LoadBin> bins = series.Bins();
  ASSERT_EQ(bins.size(), 150U);
  for (const LoadBin& bin : bins) {
    EXPECT_DOUBLE_EQ(bin.running, 2);
    EXPECT_DOUBLE_EQ(bin.output_tokens_per_s, 2 / 0.001073741824);
  }
}

}  // namespace
}  // namespace astra
