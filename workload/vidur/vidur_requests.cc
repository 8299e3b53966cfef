#include "workload/vidur/vidur_requests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "astra-core/base/csv_reader.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/serving/random_draws.h"
#include "workload/serving/request_lengths.h"
#include "workload/vidur/python_random.h"

namespace astra {
namespace {

constexpr int64_t kMostTokens = 100'000'000;
constexpr double kLatestSeconds = 8.64e6;       // 100 days, as kMaxServingTime.
constexpr uint64_t kGapPurpose = 0x7669647572;  // "vidur"

struct Lengths {
  int64_t prefill = 0;
  int64_t decode = 0;
};

Lengths Scaled(const VidurTraceRow& row, const VidurLoad& load) {
  const auto scale = [](int64_t tokens, double factor) {
    return static_cast<int64_t>(static_cast<double>(tokens) * factor);
  };
  return {scale(row.prefill_tokens, load.prefill_scale),
          scale(row.decode_tokens, load.decode_scale)};
}

// Takes what is beyond the limit from both lengths, in proportion.
Lengths CutBoth(Lengths lengths, int64_t max_tokens) {
  const int64_t total = lengths.prefill + lengths.decode;
  const double beyond =
      static_cast<double>(std::max<int64_t>(0, total - max_tokens));
  const auto cut = [&](int64_t tokens) {
    if (total == 0) return int64_t{1};
    const double share =
        static_cast<double>(tokens) / static_cast<double>(total);
    const auto part = static_cast<int64_t>(std::ceil(beyond * share));
    return std::max<int64_t>(1, tokens - part);
  };
  return {cut(lengths.prefill), cut(lengths.decode)};
}

// Takes what is beyond the limit from the prompt.
Lengths CutPrompt(Lengths lengths, int64_t max_tokens) {
  lengths.decode = std::clamp<int64_t>(lengths.decode, 1, max_tokens - 1);
  lengths.prefill =
      std::clamp<int64_t>(lengths.prefill, 1, max_tokens - lengths.decode);
  return lengths;
}

absl::StatusOr<Request> RequestAt(int64_t id, double seconds, Lengths lengths) {
  if (seconds > kLatestSeconds) {
    return absl::InvalidArgumentError(fmt::format(
        "request {} arrives after {:.0f} s: expected at most {:.0f}", id,
        seconds, kLatestSeconds));
  }
  Request request;
  request.id = id;
  request.arrival = TimePs(std::llround(seconds * kPsPerSecond));
  request.prompt_tokens = lengths.prefill;
  request.output_tokens = lengths.decode;
  return request;
}

// Draws one request after the other from the same random numbers.
class Generator {
 public:
  explicit Generator(const VidurLoad& load)
      : load_(load), random_(load.seed), gaps_(load.seed, kGapPurpose, 0) {}

  absl::Status Prepare() {
    if (load_.lengths == VidurLengths::kTrace) {
      order_ = NumpyPermutation(load_.order_seed, load_.trace.size());
    }
    if (load_.lengths != VidurLengths::kZipf) return absl::OkStatus();
    LengthOptions options;
    options.distribution = LengthDistribution::kZipf;
    options.min_tokens = load_.min_tokens;
    options.max_tokens = load_.max_tokens;
    options.prompt_to_output = load_.prefill_to_decode;
    options.theta = load_.theta;
    ASTRA_ASSIGN_OR_RETURN(zipf_, LengthGenerator::Create(options));
    return absl::OkStatus();
  }

  absl::StatusOr<Request> Next() {
    seconds_ += Gap();
    ASTRA_ASSIGN_OR_RETURN(const Lengths lengths, Draw());
    return RequestAt(next_++, seconds_, lengths);
  }

 private:
  double Gap() {
    switch (load_.intervals) {
      case VidurIntervals::kPoisson:
        return std::min(3.0, -ExactLog(1 - random_.Random())) / load_.qps;
      case VidurIntervals::kGamma:
        return gaps_.Spread(load_.cv) / load_.qps;
      case VidurIntervals::kStatic:
        break;
    }
    return 0;
  }

  absl::StatusOr<Lengths> Draw() {
    switch (load_.lengths) {
      case VidurLengths::kFixed:
        break;
      case VidurLengths::kUniform:
        return Uniform();
      case VidurLengths::kZipf: {
        const RequestLengths drawn = zipf_->Draw(load_.seed, next_);
        return Lengths{drawn.prompt_tokens, drawn.output_tokens};
      }
      case VidurLengths::kTrace:
        return OfTrace();
    }
    return Lengths{load_.prefill_tokens, load_.decode_tokens};
  }

  // The whole length is a number with decimals, as in Vidur; only what remains
  // for the prompt is rounded.
  Lengths Uniform() {
    const auto least = static_cast<double>(load_.min_tokens);
    const auto most = static_cast<double>(load_.max_tokens);
    const double total = least + (most - least) * random_.Random();
    const double decode = std::ceil(total / (1 + load_.prefill_to_decode));
    return {std::max<int64_t>(1, static_cast<int64_t>(total - decode)),
            static_cast<int64_t>(decode)};
  }

  absl::StatusOr<Lengths> OfTrace() {
    const auto row = static_cast<size_t>(next_);
    if (row >= order_.size()) {
      return absl::InvalidArgumentError(fmt::format(
          "the trace of lengths has {} rows: expected one for each request",
          order_.size()));
    }
    return CutBoth(Scaled(load_.trace[order_[row]], load_), load_.max_tokens);
  }

  const VidurLoad& load_;
  PythonRandom random_;
  RandomDraws gaps_;
  std::vector<size_t> order_;
  std::optional<LengthGenerator> zipf_;
  double seconds_ = 0;
  int64_t next_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<VidurTraceRow>> ParseVidurTrace(
    std::string_view file, std::string_view contents, bool has_times,
    Warnings* warnings) {
  CsvReader csv(file, contents);
  const size_t prefill = csv.Column("num_prefill_tokens");
  const size_t decode = csv.Column("num_decode_tokens");
  const size_t arrived = has_times ? csv.Column("arrived_at") : 0;
  constexpr std::string_view kKnown[] = {
      "",           "num_prefill_tokens", "num_decode_tokens",
      "arrived_at", "num_total_tokens",   "pd_ratio"};
  csv.WarnOfOthers(kKnown, warnings);
  std::vector<VidurTraceRow> rows;
  while (csv.NextRow()) {
    VidurTraceRow row;
    row.prefill_tokens = csv.Integer(prefill, 0, kMostTokens);
    row.decode_tokens = csv.Integer(decode, 0, kMostTokens);
    if (has_times) row.arrived_at = csv.Number(arrived, 0, kLatestSeconds);
    rows.push_back(row);
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  if (rows.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: no requests", file));
  }
  return rows;
}

absl::StatusOr<std::vector<Request>> DrawVidurRequests(const VidurLoad& load) {
  Generator generator(load);
  ASTRA_RETURN_IF_ERROR(generator.Prepare());
  std::vector<Request> requests;
  const double end_ps = load.duration_s * kPsPerSecond;
  while (load.duration_s > 0 ||
         requests.size() < static_cast<size_t>(load.count)) {
    ASTRA_ASSIGN_OR_RETURN(Request request, generator.Next());
    if (load.duration_s > 0 &&
        static_cast<double>(request.arrival.count()) >= end_ps) {
      break;
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

absl::StatusOr<std::vector<Request>> ReplayVidurTrace(const VidurLoad& load) {
  std::vector<VidurTraceRow> rows = load.trace;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const VidurTraceRow& a, const VidurTraceRow& b) {
                     return a.arrived_at < b.arrived_at;
                   });
  std::vector<Request> requests;
  for (const VidurTraceRow& row : rows) {
    ASTRA_ASSIGN_OR_RETURN(
        Request request,
        RequestAt(static_cast<int64_t>(requests.size()),
                  row.arrived_at * load.time_scale,
                  CutPrompt(Scaled(row, load), load.max_tokens)));
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace astra
