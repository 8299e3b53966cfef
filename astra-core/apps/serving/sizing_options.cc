#include "astra-core/apps/serving/sizing_options.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/serving/answer_options.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"
#include "workload/serving/request_trace.h"
#include "workload/serving/synthetic_requests.h"

namespace astra {
namespace {

absl::Status ReadSizingTrace(const CommandLine& flags, const ModelSpec& model,
                             SizingLoad& load, Warnings* warnings) {
  constexpr std::string_view kDrawn[] = {"isl", "osl", "seed"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kDrawn, "--trace says it"));
  load.trace_file = flags.value("trace");
  ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                         ReadFile(*load.trace_file));
  const bool is_learned = model.positions == Positions::kLearned;
  ASTRA_ASSIGN_OR_RETURN(
      RequestTrace trace,
      ParseRequestTrace(*load.trace_file, contents,
                        {.max_requests = load.count.value_or(0),
                         .max_tokens = is_learned ? model.max_positions : 0},
                        warnings));
  load.trace = std::move(trace.requests);
  if (load.trace.front().arrival == load.trace.back().arrival) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: all requests arrive at once: expected arrivals over some time, "
        "which is stretched to each rate",
        *load.trace_file));
  }
  const auto count = static_cast<int64_t>(load.trace.size());
  for (const Request& request : load.trace) {
    load.lengths.prompt_tokens += request.prompt_tokens;
    load.lengths.output_tokens += request.output_tokens;
  }
  load.lengths.prompt_tokens = (load.lengths.prompt_tokens + count / 2) / count;
  load.lengths.output_tokens =
      std::max<int64_t>(2, (load.lengths.output_tokens + count / 2) / count);
  return absl::OkStatus();
}

}  // namespace

int64_t SizingLoad::CountOf(double in_flight) const {
  if (!trace.empty()) return static_cast<int64_t>(trace.size());
  if (count) return *count;
  return std::max<int64_t>(kSizingRequests,
                           kSizingRounds * std::llround(std::ceil(in_flight)));
}

absl::StatusOr<std::unique_ptr<RequestSource>> SizingLoad::At(
    double rate, int64_t num_requests) const {
  std::unique_ptr<RequestSource> source;
  if (!trace.empty()) {
    std::vector<Request> requests = trace;
    const TimePs first = requests.front().arrival;
    const double seconds =
        static_cast<double>((requests.back().arrival - first).count()) /
        kPsPerSecond;
    const double wanted = static_cast<double>(requests.size() - 1) / rate;
    const double stretch = wanted / seconds;
    for (Request& request : requests) {
      request.arrival = TimePs(std::llround(
          stretch * static_cast<double>((request.arrival - first).count())));
    }
    source = std::make_unique<ListedRequests>(std::move(requests));
    return source;
  }
  SyntheticOptions synthetic;
  synthetic.lengths.prompt_tokens = lengths.prompt_tokens;
  synthetic.lengths.output_tokens = lengths.output_tokens;
  synthetic.count = num_requests;
  synthetic.seed = seed;
  synthetic.per_second = rate;
  ASTRA_ASSIGN_OR_RETURN(SyntheticRequests requests,
                         SyntheticRequests::Create(synthetic));
  source = std::make_unique<SyntheticRequests>(std::move(requests));
  return source;
}

absl::Status CheckPositions(const ModelSpec& model, int64_t positions,
                            Warnings* warnings) {
  if (model.max_positions == 0 || positions <= model.max_positions) {
    return absl::OkStatus();
  }
  if (model.positions == Positions::kLearned) {
    return absl::InvalidArgumentError(fmt::format(
        "--isl and --osl are {} together: {} has learned {} positions",
        positions, model.name, model.max_positions));
  }
  warnings->push_back(fmt::format(
      "--isl and --osl are {} together, more than the {} that {} is made for",
      positions, model.max_positions, model.name));
  return absl::OkStatus();
}

absl::StatusOr<LatencyLimits> ReadSizingLimits(const CommandLine& flags) {
  ASTRA_ASSIGN_OR_RETURN(const LatencyLimits limits, ReadLimits(flags));
  if (limits.any()) return limits;
  return absl::InvalidArgumentError(
      "--slo-ttft and --slo-tpot are missing: expected at least one limit");
}

absl::StatusOr<double> ReadSizingShare(const CommandLine& flags) {
  constexpr double kShare = 0.99;
  ASTRA_ASSIGN_OR_RETURN(const double share,
                         flags.number("slo-share", kShare, 1));
  if (share > 0) return share;
  return absl::InvalidArgumentError(
      "--slo-share is 0: any load would pass: expected a share such as 0.99");
}

absl::StatusOr<SizingLoad> ReadSizingLoad(const CommandLine& flags,
                                          const ModelSpec& model,
                                          Warnings* warnings) {
  SizingLoad load;
  if (flags.has("requests")) {
    int64_t count = 0;
    const IntegerOption requests[] = {{"requests", &count, kMostCount}};
    ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, requests));
    load.count = count;
  }
  if (flags.has("trace")) {
    ASTRA_RETURN_IF_ERROR(ReadSizingTrace(flags, model, load, warnings));
    return load;
  }
  for (const std::string_view name : {"isl", "osl"}) {
    ASTRA_RETURN_IF_ERROR(Require(flags, name));
  }
  const IntegerOption sizes[] = {
      {"isl", &load.lengths.prompt_tokens, kMostCount},
      {"osl", &load.lengths.output_tokens, kMostCount}};
  ASTRA_RETURN_IF_ERROR(ReadIntegers(flags, sizes));
  if (load.lengths.output_tokens < 2) {
    return absl::InvalidArgumentError(
        "--osl is 1: expected at least 2, as a request of one token has no "
        "time between tokens");
  }
  ASTRA_RETURN_IF_ERROR(CheckPositions(
      model, load.lengths.prompt_tokens + load.lengths.output_tokens,
      warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::optional<uint64_t> seed, ReadSeed(flags));
  load.seed = seed.value_or(0);
  return load;
}

}  // namespace astra
