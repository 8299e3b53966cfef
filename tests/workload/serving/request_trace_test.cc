#include "workload/serving/request_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/bad_input.h"

namespace astra::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "time in ps: prompt+output" of each request, or the error.
std::vector<std::string> Read(std::string_view contents,
                              const TraceOptions& options = {},
                              Warnings* warnings = nullptr,
                              std::string* form = nullptr) {
  Warnings ignored;
  const auto trace = ParseRequestTrace(
      "t", contents, options, warnings != nullptr ? warnings : &ignored);
  if (!trace.ok()) return {std::string(trace.status().message())};
  if (form != nullptr) *form = std::string(trace->form);
  std::vector<std::string> texts;
  for (const Request& request : trace->requests) {
    EXPECT_EQ(request.id, static_cast<int64_t>(texts.size()));
    texts.push_back(fmt::format("{}: {}+{}", request.arrival,
                                request.prompt_tokens, request.output_tokens));
  }
  return texts;
}

TEST(RequestTraceTest, ReadsVidursTraces) {
  Warnings warnings;
  std::string form;
  EXPECT_THAT(Read("arrived_at,num_prefill_tokens,num_decode_tokens\n"
                   "0.5,374,44\n"
                   "2.000000000001,396,109\n",
                   {}, &warnings, &form),
              ElementsAre("0ps: 374+44", "1500000000001ps: 396+109"));
  EXPECT_EQ(form, "vidur");
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(RequestTraceTest, LengthsWithoutTimesArriveAtOnce) {
  Warnings warnings;
  EXPECT_THAT(Read("num_prefill_tokens,num_decode_tokens,num_total_tokens,"
                   "pd_ratio\n10,2,12,5\n20,1,21,20\n",
                   {}, &warnings),
              ElementsAre("0ps: 10+2", "0ps: 20+1"));
  EXPECT_THAT(warnings,
              ElementsAre("t: there is no column arrived_at: all requests "
                          "arrive at once"));
}

// Across midnight of a leap day, with seven decimals.
TEST(RequestTraceTest, ReadsAzuresTraces) {
  std::string form;
  EXPECT_THAT(Read("TIMESTAMP,ContextTokens,GeneratedTokens\n"
                   "2024-02-29 23:59:59.9799600,4808,10\n"
                   "2024-03-01 00:00:01,3180,8\n"
                   "2024-03-01T00:00:01.5+00:00,3,8\n",
                   {}, nullptr, &form),
              ElementsAre("0ps: 4808+10", "1020040000000ps: 3180+8",
                          "1520040000000ps: 3+8"));
  EXPECT_EQ(form, "azure");
}

TEST(RequestTraceTest, LeavesOutFailedRequestsOfBurstGpt) {
  Warnings warnings;
  EXPECT_THAT(
      Read("Timestamp,Model,Request tokens,Response tokens,Total tokens,"
           "Log Type\n5,ChatGPT,472,18,490,Conversation log\n"
           "45,ChatGPT,1087,0,1087,Conversation log\n",
           {}, &warnings),
      ElementsAre("0ps: 472+18"));
  EXPECT_THAT(warnings, ElementsAre("t: 1 requests have no prompt or no output "
                                    "and are left out"));
}

TEST(RequestTraceTest, ReadsMooncakesTraces) {
  Warnings warnings;
  const auto trace = ParseRequestTrace(
      "t",
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, "
      "\"hash_ids\": [0, 14]}\n"
      "{\"timestamp\": 1500, \"input_length\": 700, \"output_length\": 6, "
      "\"hash_ids\": [0, 15]}\n",
      {}, &warnings);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->form, "mooncake");
  EXPECT_EQ(trace->requests[1].arrival, Microseconds(1'500'000));
  const PrefixHashes& a = trace->requests[0].prefix;
  const PrefixHashes& b = trace->requests[1].prefix;
  EXPECT_EQ(a.block_tokens, 512);
  EXPECT_EQ(a.hashes[0], b.hashes[0]);
  EXPECT_NE(a.hashes[1], b.hashes[1]);
  EXPECT_THAT(warnings, IsEmpty());
}

// Seconds since 1970 have seven digits behind the point at best.
TEST(RequestTraceTest, ReadsOtherJsonLines) {
  Warnings warnings;
  std::string form;
  EXPECT_THAT(
      Read("{\"request_id\": \"a{\\\"\", \"input_toks\": 20, \"output_toks\": "
           "5, \"arrival_time\": 1787267980.25, \"queued_ts\": 1.5}\n\n"
           "{\"arrival_time\": 1787267979.75, \"input_tokens\": 30, "
           "\"output_tokens\": 6, \"meta\": {\"a\": [1, {}]}}",
           {}, &warnings, &form),
      ElementsAre("0ps: 30+6", "500000000000ps: 20+5"));
  EXPECT_EQ(form, "jsonl");
  EXPECT_THAT(warnings, ElementsAre("t:3: the key \"meta\" has no effect"));
}

TEST(RequestTraceTest, SpeedUpAndLimits) {
  constexpr std::string_view kTrace =
      "arrived_at,num_prefill_tokens,num_decode_tokens\n"
      "0,10,1\n4,5000,1\n8,20,1\n12,30,1\n";
  Warnings warnings;
  EXPECT_THAT(
      Read(kTrace, {.speed_up = 4, .max_requests = 2, .max_tokens = 100},
           &warnings),
      ElementsAre("0ps: 10+1", "2000000000000ps: 20+1"));
  EXPECT_THAT(warnings, ElementsAre("t: 1 requests have more than 100 tokens "
                                    "and are left out"));
  EXPECT_THAT(Read(kTrace, {.speed_up = 0}),
              ElementsAre("speed_up is 0: expected 1e-6 to 1e6"));
}

class BadRequestTraceTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadRequestTraceTest, IsRefused) {
  EXPECT_THAT(Read(GetParam().contents), ElementsAre(GetParam().message));
}

constexpr char kVidur[] = "arrived_at,num_prefill_tokens,num_decode_tokens\n";
constexpr char kAzure[] = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

INSTANTIATE_TEST_SUITE_P(
    All, BadRequestTraceTest,
    ::testing::Values(
        BadInput{"Empty", "",
                 "t:1:1: no line: expected the names of the columns"},
        BadInput{"OtherColumns", "a,b\n1,2\n",
                 "t:1:1: expected the columns of a trace of requests: "
                 "arrived_at,num_prefill_tokens,num_decode_tokens (vidur), or "
                 "TIMESTAMP,ContextTokens,GeneratedTokens (azure), or "
                 "Timestamp,Request tokens,Response tokens (burstgpt); or an "
                 "object of JSON in each line"},
        BadInput{"NoRows", kVidur, "t: expected a request"},
        BadInput{"NegativeTokens", std::string(kVidur) + "0,-1,5\n",
                 "t:2:3: num_prefill_tokens is \"-1\": expected a whole number "
                 "from 0 to 100000000"},
        BadInput{"NoDate", std::string(kAzure) + "2023-02-29 00:00:00,1,5\n",
                 "t:2:1: TIMESTAMP is \"2023-02-29 00:00:00\": expected a date "
                 "and time, as in 2023-11-16 18:17:03.9799600"},
        BadInput{"TooFarApart", std::string(kVidur) + "0,1,5\n8640001,1,5\n",
                 "t:3:1: the request arrives more than 100 days after the "
                 "first, with a speed-up of 1"},
        BadInput{"NoObject",
                 "{\"timestamp\": 0, \"input_length\": 1, "
                 "\"output_length\": 1}\n[1]\n",
                 "t:2:1: expected an object, as in {\"input_length\": 12, "
                 "...}"},
        BadInput{"NoPrompt", "{\"timestamp\": 0, \"output_length\": 1}\n",
                 "t:1:1: the request has no prompt: expected the key "
                 "input_length or input_toks"},
        BadInput{"NoTime",
                 "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": "
                 "1}\n{\"input_length\": 1, \"output_length\": 1}\n",
                 "t:2:1: the request has no time: expected the key timestamp "
                 "(ms) or arrival_time (s)"},
        BadInput{"TwoPrompts", "{\"input_length\": 1, \"input_toks\": 2}",
                 "t:1:21: input_toks comes beside input_length"},
        BadInput{"NoNumber", "{\"input_length\": true}",
                 "t:1:18: input_length is \"true\": expected a whole number "
                 "from 0 to 100000000"},
        BadInput{"NoComma", "{\"input_length\": 1 \"output_length\": 2}",
                 "t:1:20: expected \",\" or \"}\""},
        BadInput{"NoColon", "{\"input_length\" 1}",
                 "t:1:17: expected \":\" behind \"input_length\""},
        BadInput{"OpenString", "{\"input_length",
                 "t:1:2: the string has no closing quote"},
        BadInput{"NoValue", "{\"a\": }", "t:1:7: expected a value of \"a\""},
        BadInput{
            "TooManyHashes",
            "{\"input_length\": 500, \"output_length\": 2, \"hash_ids\": "
            "[1, 2]}",
            "t:1:1: hash_ids has 2 items: expected at most 1, one for each "
            "512 tokens"}),
    [](const ::testing::TestParamInfo<BadInput>& input) {
      return input.param.name;
    });

}  // namespace
}  // namespace astra::testing
