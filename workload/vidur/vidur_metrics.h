// Vidur's request_metrics.csv: one row for each request, with Vidur's columns
// and units (seconds, tokens).
//
// clang-format off
//   a, s, f, c   arrival, first schedule, first token, last token
//   x            time of the steps that computed for the request
//   p, d         tokens of the prompt and of the output
//
//   request_e2e_time                                      c - a
//   request_e2e_time_normalized                           (c - a) / d
//   request_execution_time, _normalized                   x, x / d
//   request_model_execution_time, _normalized             the same without the host
//   request_preemption_time                               (c - s) - x
//   request_scheduling_delay                              s - a
//   request_execution_plus_preemption_time, _normalized   c - s, (c - s) / d
//   prefill_e2e_time                                      f - a
//   prefill_time_execution_plus_preemption, _normalized   f - s, (f - s) / p
//   decode_time_execution_plus_preemption_normalized      (c - f) / d
//   request_inter_arrival_delay                           a - a of the request before
//   request_num_tokens, _num_prefill_tokens, _num_decode_tokens, _pd_ratio
//   request_num_restarts                                  preemptions
// clang-format on
//
// Where the host takes time, the two columns of the model's time are empty.
// Vidur moves tokens of a restarted request from d to p; here they stay.
//
// Source: Vidur (microsoft/vidur, MIT), docs/metrics.md,
// vidur/metrics/constants.py and vidur/entities/request.py.

#ifndef WORKLOAD_VIDUR_VIDUR_METRICS_H_
#define WORKLOAD_VIDUR_VIDUR_METRICS_H_

#include <string>
#include <vector>

#include "workload/serving/request.h"

namespace astra {

// Returns the file. Sorts `results` by number.
std::string VidurRequestMetrics(std::vector<RequestResult> results,
                                bool has_host_time);

}  // namespace astra

#endif  // WORKLOAD_VIDUR_VIDUR_METRICS_H_
