#include "astra-core/apps/serving/answer_options.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "astra-core/base/parallel.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kThrough = "..";

// Reads rising numbers, such as "1,2,8..64", of which `parse` reads one.
template <class Number, class Parse>
absl::StatusOr<std::vector<Number>> ParseList(std::string_view option,
                                              std::string_view text,
                                              const Parse& parse) {
  const auto error = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format(
        "--{} is {}: {}, such as 1,2,8..64", option, std::string(text), why));
  };
  std::vector<Number> numbers;
  const std::vector<std::string> items = absl::StrSplit(std::string(text), ',');
  for (const std::string_view item : items) {
    const size_t through = item.find(kThrough);
    ASTRA_ASSIGN_OR_RETURN(Number number, parse(item.substr(0, through)));
    if (!numbers.empty() && number <= numbers.back()) {
      return error("expected rising numbers");
    }
    Number last = number;
    if (through != std::string_view::npos) {
      ASTRA_ASSIGN_OR_RETURN(last,
                             parse(item.substr(through + kThrough.size())));
      if (last <= number) return error("expected FIRST..LAST with FIRST below");
    }
    for (; number < last && numbers.size() < kMostPoints; number *= 2) {
      numbers.push_back(number);
    }
    numbers.push_back(last);
    if (numbers.size() > kMostPoints) {
      return error(fmt::format("expected at most {} numbers", kMostPoints));
    }
  }
  return numbers;
}

absl::StatusOr<double> ParseRate(std::string_view text) {
  constexpr double kLeastRate = 1e-3;
  constexpr double kMostRate = 1e9;
  ASTRA_ASSIGN_OR_RETURN(const double rate,
                         ParseNumber("--rate", text, 0, kMostRate));
  if (rate >= kLeastRate) return rate;
  return absl::InvalidArgumentError(
      rate == 0 ? std::string("--rate is 0: no request would arrive")
                : fmt::format("--rate is {}: expected {} to {}", rate,
                              kLeastRate, kMostRate));
}

// Reads a limit in milliseconds. It is rounded to a whole picosecond.
absl::Status ReadLimit(const CommandLine& flags, std::string_view name,
                       std::optional<TimePs>& limit) {
  constexpr double kPsPerMs = 1e9;
  constexpr double kMostMs = 1e9;
  if (!flags.has(name)) return absl::OkStatus();
  ASTRA_ASSIGN_OR_RETURN(const double ms, flags.number(name, 0, kMostMs));
  if (ms <= 0) {
    return absl::InvalidArgumentError(
        fmt::format("--{} is 0: no request would keep it", name));
  }
  limit = TimePs(std::llround(ms * kPsPerMs));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<LoadPoint>> ReadPoints(const CommandLine& flags,
                                                  int64_t most) {
  std::vector<LoadPoint> points;
  if (flags.has("concurrency")) {
    ASTRA_ASSIGN_OR_RETURN(
        const std::vector<int64_t> counts,
        ParseList<int64_t>("concurrency", *flags.value("concurrency"),
                           [most](std::string_view text) {
                             return ParseInteger("--concurrency", text, 1,
                                                 most);
                           }));
    for (const int64_t count : counts) points.push_back({.in_flight = count});
    return points;
  }
  ASTRA_ASSIGN_OR_RETURN(
      const std::vector<double> rates,
      ParseList<double>("rate", *flags.value("rate"), ParseRate));
  for (const double rate : rates) points.push_back({.rate = rate});
  return points;
}

absl::StatusOr<LatencyLimits> ReadLimits(const CommandLine& flags) {
  LatencyLimits limits;
  ASTRA_RETURN_IF_ERROR(ReadLimit(flags, "slo-ttft", limits.to_first_token));
  ASTRA_RETURN_IF_ERROR(ReadLimit(flags, "slo-tpot", limits.per_token));
  ASTRA_RETURN_IF_ERROR(ReadLimit(flags, "slo-e2e", limits.end_to_end));
  return limits;
}

absl::StatusOr<AnswerOptions> ReadAnswers(const CommandLine& flags,
                                          size_t num_points) {
  AnswerOptions answers;
  ASTRA_ASSIGN_OR_RETURN(answers.limits, ReadLimits(flags));
  if (num_points > 1) {
    constexpr std::string_view kOfOne[] = {"steps", "timeline"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kOfOne, fmt::format("there are {} loads", num_points)));
  } else {
    constexpr std::string_view kOfList[] = {"threads", "curves"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kOfList, "there is one load, not a list of them"));
  }
  answers.writes_timeline = flags.has("timeline");
  ASTRA_ASSIGN_OR_RETURN(answers.threads,
                         flags.integer("threads", 1, 1, kMostThreads));
  if (flags.has("curves")) {
    answers.curves = absl::StrSplit(*flags.value("curves"), ',');
  }
  return answers;
}

}  // namespace astra
