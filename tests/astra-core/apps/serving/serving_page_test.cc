#include "astra-core/apps/serving/serving_page.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "astra-core/apps/serving/serving_report.h"
#include "tests/testing/command_lines.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/pages.h"

namespace astra {
namespace {

using ::astra::testing::ParseArguments;
using ::astra::testing::ValueOrDie;
using ::testing::HasSubstr;
using ::testing::Not;

// A list of loads that was served, on so many threads.
struct Curve {
  explicit Curve(const std::string& load, int64_t threads = 1,
                 int64_t output_tokens = 32)
      : options(ValueOrDie(ReadSimaiServingOptions(ValueOrDie(ParseArguments(
            SimaiServingOptionSpecs(),
            fmt::format("-m llama3-8b --gpu H100 --isl 256 --osl {} -r a<b {}",
                        output_tokens, load)))))),
        runs(ValueOrDie(ServePoints(
            options.job, options.points,
            [this](const LoadPoint& point) { return SourceOf(options, point); },
            {.seed = options.seed,
             .limits = options.answers.limits,
             .threads = threads,
             .report = [this](const LoadPoint& point, const ServingRun& run) {
               lines += CurveLine({point, run, options.job.num_gpus()});
             }}))) {
    for (size_t i = 0; i < runs.size(); ++i) {
      points.push_back({options.points[i], runs[i], options.job.num_gpus()});
    }
  }
  Curve(const Curve&) = delete;

  std::string lines;
  SimaiServingOptions options;
  std::vector<ServingRun> runs;
  std::vector<CurvePoint> points;
};

// Checks what all pages need: no file beside them, charts, and words and
// numbers for each of them.
void ExpectWholePage(const std::string& whole) {
  const std::string page = testing::WithoutLibrary(whole);
  EXPECT_THAT(page, Not(HasSubstr("://")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("@s")));  // @style@
  EXPECT_THAT(page, HasSubstr("<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  size_t charts = 0;
  for (size_t at = page.find("<figure"); at != page.npos;
       at = page.find("<figure", at + 1)) {
    EXPECT_EQ(page.substr(page.find('\n', at) + 1, 27),
              "<details><summary>Numbers</");
    ++charts;
  }
  EXPECT_GT(charts, 1U);
}

TEST(ServingCurveTest, IsTheSameOnAnyNumberOfThreads) {
  const Curve one("--concurrency 1..16 --slo-ttft 20");
  const Curve four("--concurrency 1..16 --slo-ttft 20", 4);
  EXPECT_EQ(CurveCsv(one.points), CurveCsv(four.points));
  EXPECT_EQ(one.lines, four.lines);
  EXPECT_EQ(CurvePage(one.options, one.points, {}),
            CurvePage(four.options, four.points, {}));
}

// More requests in flight share each reading of the weights: all of them
// together get more tokens a second, and each user fewer.
TEST(ServingCurveTest, MoreInFlightIsMoreThroughputAndLessInteractivity) {
  const Curve curve("--concurrency 1..32");
  for (size_t i = 1; i < curve.points.size(); ++i) {
    EXPECT_GT(curve.points[i].OutputRatePerGpu(),
              curve.points[i - 1].OutputRatePerGpu());
    EXPECT_LT(Interactivity(curve.runs[i].summary),
              Interactivity(curve.runs[0].summary));
  }
  // All users together get less than if each always got tokens: the rate also
  // contains the time until the first token.
  for (const CurvePoint& point : curve.points) {
    EXPECT_LT(point.OutputRatePerGpu(),
              *Interactivity(point.run.summary) *
                  static_cast<double>(point.load.in_flight));
  }
}

TEST(ServingCurveTest, GoodputFallsWithTheLimits) {
  const Curve all("--concurrency 1,8 --slo-e2e 1e6");
  const Curve none("--concurrency 1,8 --slo-e2e 0.001");
  EXPECT_EQ(all.runs[1].summary.requests_within_limits, 80);
  EXPECT_EQ(none.runs[1].summary.requests_within_limits, 0);
  EXPECT_THAT(CurveResult(all.points),
              HasSubstr("highest goodput at concurrency 8: "));
  EXPECT_EQ(CurveResult(none.points), "no request keeps the limits");
}

TEST(ServingCurveTest, TheCsvHasACellForEachName) {
  const Curve open("--requests 20 --rate 1,4");
  const std::vector<std::string> names = CurveNames();
  const std::vector<std::string> cells = CurveCells(open.points[1]);
  ASSERT_EQ(names.size(), cells.size());
  const auto cell = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? "none"
                             : cells[static_cast<size_t>(at - names.begin())];
  };
  EXPECT_EQ(cell("concurrency"), "");
  EXPECT_EQ(cell("rate_per_s"), "4.000000");
  EXPECT_EQ(cell("requests"), "20");
  EXPECT_EQ(cell("share_within_limits"), "");  // No limit was given.
  EXPECT_NE(cell("ttft_p99_ms"), "none");
}

// Answers of one token have no time between tokens: nothing says that it is 0.
TEST(ServingCurveTest, AnswersOfOneTokenHaveNoTimePerToken) {
  const Curve curve("--concurrency 1,4", 1, 1);
  const std::vector<std::string> names = CurveNames();
  const std::vector<std::string> cells = CurveCells(curve.points[1]);
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_of_tokens = names[i].starts_with("tpot") ||
                              names[i].starts_with("itl") ||
                              names[i].ends_with("per_user");
    if (is_of_tokens) {
      EXPECT_EQ(cells[i], "") << names[i];
    }
  }
  EXPECT_THAT(curve.lines, ::testing::ContainsRegex(" +- .* +- +- "));
  EXPECT_THAT(CurveResult(curve.points), Not(HasSubstr("user")));
  const std::string page = CurvePage(curve.options, curve.points, {});
  EXPECT_THAT(page, Not(HasSubstr("tpot")));
  EXPECT_THAT(page, Not(HasSubstr("<section id=\"curve\"")));
  EXPECT_THAT(ServingResult(curve.runs[0]), Not(HasSubstr("tpot")));
  const std::string text = DescribeServing(curve.options, curve.runs[0]);
  EXPECT_THAT(text, HasSubstr("\ntpot                -          -          -  "
                              "        -          -  (e2e"));
  EXPECT_THAT(text, Not(HasSubstr("for each user")));
  EXPECT_THAT(ServingMetricsCsv(curve.options, curve.runs[0]),
              ::testing::AllOf(
                  HasSubstr("\ntpot_mean,us,\n"), HasSubstr("\nitl_max,us,\n"),
                  HasSubstr("\noutput_token_rate_per_user,1/s,\n")));
  const std::string json = ServingRunJson(curve.options, curve.runs[0]);
  EXPECT_THAT(json, HasSubstr("\"tpot_ms\": null"));
  EXPECT_THAT(json, HasSubstr("\"output_tokens_per_s_per_user\": null"));
  EXPECT_THAT(json, HasSubstr("\"topology\": null,\n  \"system\": null,"));
  EXPECT_THAT(ServingPage(curve.options, curve.runs[0], {}),
              ::testing::ContainsRegex("scope=.row.>tpot</th><td[^>]*>-</td>"));
}

TEST(ServingPageTest, ACurveHasItsChartsAndPoints) {
  const Curve curve("--concurrency 1,4 --slo-tpot 8");
  const std::string page = CurvePage(curve.options, curve.points, {});
  ExpectWholePage(page);
  EXPECT_THAT(page, HasSubstr("<h1>a&lt;b</h1>"));
  for (const char* id : {"curve", "ttft", "goodput", "bounds", "points"}) {
    EXPECT_THAT(page, HasSubstr(std::string("<section id=\"") + id + "\""));
  }
  // The points of the curve have their concurrency beside them.
  EXPECT_THAT(page, HasSubstr(",\"1\",\"a\\u003cb 1: "));
  EXPECT_THAT(page,
              HasSubstr(fmt::format("{:.1f} for each user\"]",
                                    *Interactivity(curve.runs[1].summary))));
  for (const std::string& cell : CurveCells(curve.points[1])) {
    EXPECT_THAT(page, HasSubstr(">" + cell + "<"));
  }
}

TEST(ServingPageTest, DrawsTheCurvesOfOtherFolders) {
  const Curve curve("--concurrency 1,4");
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.PathOf("other-run"));
  testing::WriteText(folder.PathOf("other-run/curve.csv"),
                     CurveCsv(curve.points));
  const OtherCurve other =
      ValueOrDie(ReadOtherCurve(folder.PathOf("other-run/")));
  EXPECT_EQ(other.name, "other-run");
  ASSERT_EQ(other.points.size(), 2U);
  EXPECT_EQ(other.points[1].load, "4");
  EXPECT_NEAR(*other.points[1].output_tokens_per_s_per_user,
              *Interactivity(curve.runs[1].summary), 1e-3);
  const std::string page = CurvePage(curve.options, curve.points, {&other, 1});
  EXPECT_THAT(page, HasSubstr("\"other-run 4: "));
  EXPECT_EQ(ReadOtherCurve(folder.PathOf("none")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ServingPageTest, OneLoadHasDistributionsAndTimes) {
  const Curve one("--concurrency 4 --requests 12 --slo-ttft 1");
  Warnings ignored;
  const auto times =
      ValueOrDie(ReplicaTimes::Create(one.options.job, &ignored));
  const auto source = ValueOrDie(SourceOf(one.options, one.options.points[0]));
  LoadSeries series;
  const ServingRun run = ValueOrDie(RunServing(one.options.job, *times,
                                               {.source = source.get(),
                                                .in_flight = 4,
                                                .limits = one.runs[0].limits,
                                                .watchers = {&series},
                                                .wants_distributions = true}));
  const std::string page = ServingPage(one.options, run, series.Bins());
  ExpectWholePage(page);
  for (const char* id : {"latencies", "time", "bounds"}) {
    EXPECT_THAT(page, HasSubstr(std::string("<section id=\"") + id + "\""));
  }
  EXPECT_THAT(page, HasSubstr("<dd>0.0 % of requests, 0.000 a second</dd>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\" class=\"number\">tpot ms<"));
  EXPECT_THAT(page, HasSubstr("limit 1 ms"));
  // The last row of the percentiles has the largest times.
  EXPECT_THAT(page, HasSubstr(fmt::format(
                        ">{:.6g}</th><td class=\"number\">100</td></tr>",
                        1e-9 * run.summary.ttft.max)));
  // All four run together once they are in the queue.
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">4</td>"
                              "<td class=\"number\">0</td></tr>"));
  EXPECT_THAT(page, HasSubstr("steps with prompts"));
}

TEST(ServingReportTest, MetricsHaveRatesByGpuAndWhatBoundsSteps) {
  const Curve one("--concurrency 4 --requests 12 --slo-ttft 1e6");
  const std::string csv = ServingMetricsCsv(one.options, one.runs[0]);
  for (const char* name :
       {"goodput,1/s,", "goodput_token_rate,1/s,", "kv_use_mean,,",
        "prefix_hit_rate,,", "preemptions,,0\n", "gpus,,1\n",
        "output_token_rate_per_gpu,1/s,", "output_token_rate_per_user,1/s,",
        "goodput_token_rate_per_gpu,1/s,", "step_compute,s,", "step_memory,s,",
        "step_collectives,s,0.000000\n", "step_host,s,"}) {
    EXPECT_THAT(csv, HasSubstr(std::string("\n") + name));
  }
  EXPECT_THAT(ServingRunJson(one.options, one.runs[0]),
              HasSubstr("\"share_within_limits\": 1.0,"));
}

}  // namespace
}  // namespace astra
