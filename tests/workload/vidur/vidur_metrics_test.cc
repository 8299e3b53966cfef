#include "workload/vidur/vidur_metrics.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TimePs Seconds(int64_t seconds) { return TimePs(seconds * 1'000'000'000'000); }

// Arrives at 1, starts at 3, has its first token at 7 and its last at 11; steps
// of 6 s computed for it.
TEST(VidurMetricsTest, HasVidursColumns) {
  RequestResult result{.id = 1, .prompt_tokens = 8, .output_tokens = 2};
  result.times.arrival = Seconds(1);
  result.times.first_scheduled = Seconds(3);
  result.times.first_token = Seconds(7);
  result.times.last_token = Seconds(11);
  result.times.executed = Seconds(6);
  result.times.preemptions = 1;
  RequestResult first = result;
  first.id = 0;
  first.times.arrival = Seconds(0);
  const std::string text = VidurRequestMetrics({result, first}, false);
  EXPECT_EQ(
      text,
      "Request Id,request_e2e_time,request_e2e_time_normalized,"
      "request_execution_time,request_execution_time_normalized,"
      "request_model_execution_time,request_model_execution_time_normalized,"
      "request_preemption_time,request_scheduling_delay,"
      "request_execution_plus_preemption_time,"
      "request_execution_plus_preemption_time_normalized,prefill_e2e_time,"
      "prefill_time_execution_plus_preemption,"
      "prefill_time_execution_plus_preemption_normalized,"
      "decode_time_execution_plus_preemption_normalized,"
      "request_inter_arrival_delay,request_num_tokens,"
      "request_num_prefill_tokens,request_num_decode_tokens,request_pd_ratio,"
      "request_num_restarts\n"
      "0,11,5.5,6,3,6,3,2,3,8,4,7,4,0.5,2,,10,8,2,4,1\n"
      "1,10,5,6,3,6,3,2,2,8,4,6,4,0.5,2,1,10,8,2,4,1\n");
  EXPECT_NE(VidurRequestMetrics({result}, true).find("\n1,10,5,6,3,,,2"),
            std::string::npos);
}

}  // namespace
}  // namespace astra
