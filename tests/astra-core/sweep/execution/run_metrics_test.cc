#include "astra-core/sweep/execution/run_metrics.h"

#include <string>
#include <vector>

#include "fmt/core.h"
#include "tests/testing/files.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using ::testing::ElementsAre;
using testing::StatusIs;
using testing::TemporaryFolder;
using testing::ValueOrDie;
using testing::WriteText;

// "iteration_ms=8094.014984701", ...
std::vector<std::string> Texts(const std::vector<Metric>& metrics) {
  std::vector<std::string> texts;
  texts.reserve(metrics.size());
  for (const Metric& metric : metrics) {
    texts.push_back(fmt::format("{}={}", metric.name, metric.value));
  }
  return texts;
}

std::vector<std::string> MetricsOf(const std::string& text) {
  return Texts(ValueOrDie(ParseRunMetrics("run.json", text)));
}

TEST(RunMetricsTest, HasThoseOfAnAnalyticalRunInTheirOrder) {
  EXPECT_THAT(MetricsOf(R"({
        "program": "simai_analytical",
        "workload": {"gpus": 1024},
        "memory": {"stage": 0, "allocated_memory_gib": 27.5, "fits": true},
        "result": {
          "iteration_ps": 8094014984701,
          "exposed_ps": {"TP": 883344545580, "DP_EP": 0},
          "reported_rank": 0, "rank_programs": 8},
        "iteration": {
          "total_ps": 8094014984701,
          "exposed_ps": {"TP": 7, "CP": 1},
          "critical_path_ps": {"compute": 6852447019705, "messages": 500},
          "bubble_of_work": 0.25, "mfu": 0.5, "tokens_per_s": 4.5}
      })"),
              ElementsAre("iteration_ms=8094.014984701",
                          "exposed_TP_ms=883.34454558", "exposed_DP_EP_ms=0",
                          // Metrics of the iteration that the result lacks.
                          "total_ms=8094.014984701", "exposed_CP_ms=1e-09",
                          "critical_path_compute_ms=6852.447019705",
                          "critical_path_messages_ms=5e-07",
                          "bubble_of_work=0.25", "mfu=0.5", "tokens_per_s=4.5",
                          "allocated_memory_gib=27.5", "fits=1"));
}

TEST(RunMetricsTest, HasWhatASimulatedNetworkDidButNotItsWork) {
  EXPECT_THAT(
      MetricsOf(R"({
        "program": "simai_simulator", "finished": true,
        "result": {"iteration_ps": 41909756918},
        "simulated": {"network_ps": 33891333476, "flows": 1022144,
          "data_packets": 23, "packet_hops": 44,
          "drops": 1, "losses": 2, "retransmissions": 3, "records_left_out": 4}
      })"),
      ElementsAre("iteration_ms=41.909756918", "network_ms=33.891333476",
                  "flows=1022144", "data_packets=23", "drops=1", "losses=2",
                  "retransmissions=3"));
}

TEST(RunMetricsTest, NamesNumbersInMappingsAfterBothWithTheUnitLast) {
  EXPECT_THAT(MetricsOf(R"({
        "program": "p",
        "result": {
          "busbw_GBps": {"TP": {"ring": 1}},
          "stages": {"first": 2, "last_ps": 3000000000},
          "wait_ps": {"total_us": 4},
          "list": [5], "name": "6", "flag": true, "none": null}
      })"),
              ElementsAre("busbw_TP_ring_GBps=1", "stages_first=2",
                          "stages_last_ms=3", "wait_total_us=4", "flag=1"));
}

TEST(RunMetricsTest, RefusesWhatIsNoRunJson) {
  for (const std::string text :
       {"", "[]", "{\"program\": \"p\"", "{\"result\": {}}",
        "{\"program\": \"p\"}", "{\"program\": \"p\", \"result\": 1e999}"}) {
    EXPECT_THAT(ParseRunMetrics("a/run.json", text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "a/run.json: is no run.json: expected a JSON object "
                         "with \"program\" and \"result\""))
        << text;
  }
  EXPECT_THAT(
      ParseRunMetrics("a/run.json",
                      R"({"program": "p", "result": {}, "memory": [1]})"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "a/run.json: is no run.json: \"memory\" is no object"));
}

constexpr std::string_view kCollectiveJson =
    R"({"program": "simai_collective",
        "result": {"sizes": 2, "average_busbw_GBps": 194.5}})";

TEST(ReadRunMetricsTest, TakesTheLargestSizeOfACollective) {
  const TemporaryFolder folder;
  WriteText(folder.PathOf("run.json"), kCollectiveJson);
  EXPECT_THAT(Texts(ValueOrDie(ReadRunMetrics(folder.path()))),
              ElementsAre("average_busbw_GBps=194.5"));

  WriteText(folder.PathOf("collective.csv"),
            "bytes,count,type,time_us,algbw_GBps,busbw_GBps,algorithm\n"
            "1024,256,float,26,0.0393,0.0689,Ring\n"
            "8589934592,2147483648,float,31449.943589,273.25,477.5,\"N,S\"\n");
  EXPECT_THAT(Texts(ValueOrDie(ReadRunMetrics(folder.path()))),
              ElementsAre("average_busbw_GBps=194.5", "bytes=8589934592",
                          "time_us=31449.943589", "algbw_GBps=273.25",
                          "busbw_GBps=477.5"));
}

TEST(ReadRunMetricsTest, SaysWhichFileIsMissingOrWrong) {
  const TemporaryFolder folder;
  EXPECT_THAT(ReadRunMetrics(folder.path()),
              StatusIs(absl::StatusCode::kNotFound,
                       folder.PathOf("run.json") +
                           ": cannot be read: No such file or directory"));
  WriteText(folder.PathOf("run.json"), kCollectiveJson);
  WriteText(folder.PathOf("collective.csv"),
            "bytes,time_us,algbw_GBps,busbw_GBps\n8,-1,0,0\n");
  EXPECT_THAT(ReadRunMetrics(folder.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::StartsWith(folder.PathOf("collective.csv") +
                                             ":2:3: ")));
}

}  // namespace
}  // namespace astra
