// Reads traces of requests. What the file holds tells its form:
//
// clang-format off
//   vidur     CSV    arrived_at (s), num_prefill_tokens, num_decode_tokens
//   azure     CSV    TIMESTAMP (date and time), ContextTokens, GeneratedTokens
//   burstgpt  CSV    Timestamp (s), Request tokens, Response tokens
//   mooncake  JSONL  timestamp (ms), input_length, output_length, hash_ids
//   jsonl     JSONL  arrival_time or arrived_at (s), input_toks, output_toks;
//                    other names of the two lengths: see request_trace.cc
// clang-format on
//
// Sources: microsoft/vidur (data/processed_traces); Azure/AzurePublicDataset
// (LLM inference traces of 2023 and 2024); HPMLL/BurstGPT;
// kvcache-ai/Mooncake (FAST25-release); the jsonl of casys-kaist/
// LLMServingSim's benchmark.
//
// Times count from the first arrival. Requests are sorted by arrival, equal
// ones in the order of the file, and numbered in this order. Requests without
// a prompt or an output (BurstGPT's failed ones) are left out, with a warning.

#ifndef WORKLOAD_SERVING_REQUEST_TRACE_H_
#define WORKLOAD_SERVING_REQUEST_TRACE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/serving/request.h"

namespace astra {

inline constexpr int64_t kMaxTraceRequests = 10'000'000;
inline constexpr int64_t kMaxRequestTokens = 100'000'000;
inline constexpr int64_t kMooncakeBlockTokens = 512;

struct TraceOptions {
  double speed_up = 1;       // Divides the times.
  int64_t max_requests = 0;  // Reads no further; 0: all.
  // Leaves out requests of more tokens in all, with a warning; 0: none.
  int64_t max_tokens = 0;
};

struct RequestTrace {
  std::string_view form;
  std::vector<Request> requests;
};

// `file` is the file's name in messages.
//
// Errors: FieldError about an option; InvalidArgument for a file of no known
// form, for a value that is missing or out of range, for a file without
// requests, and for arrivals more than kMaxServingTime apart.
absl::StatusOr<RequestTrace> ParseRequestTrace(std::string_view file,
                                               std::string_view contents,
                                               const TraceOptions& options,
                                               Warnings* warnings);

}  // namespace astra

#endif  // WORKLOAD_SERVING_REQUEST_TRACE_H_
