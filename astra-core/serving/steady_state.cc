#include "astra-core/serving/steady_state.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/names.h"
#include "astra-core/base/real.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Shares of use from which on a queue counts as endless.
constexpr double kMostUse = 0.995;

struct SteadyScheduler {
  std::string_view name;
  bool prompts_alone = false;    // A step has either prompts or decodes.
  bool reserves_output = false;  // A sequence takes its last block at once.
  bool parts_wait = false;  // A prompt has only one part under way at a time.
};

constexpr SteadyScheduler kSteadySchedulers[] = {
    {.name = "vllm"},
    {.name = "sarathi", .parts_wait = true},
    {.name = "sglang", .prompts_alone = true},
    {.name = "vllm-v0", .prompts_alone = true, .parts_wait = true},
    {.name = "trtllm", .reserves_output = true, .parts_wait = true},
};

const SteadyScheduler* Find(std::string_view name) {
  for (const SteadyScheduler& scheduler : kSteadySchedulers) {
    if (scheduler.name == name) return &scheduler;
  }
  return nullptr;
}

// Returns `at(value)` between the whole numbers around `value`.
template <class At>
double BetweenWhole(double value, At at) {
  const double below = std::floor(value);
  const double share = value - below;
  const auto whole = static_cast<int64_t>(below);
  const double first = at(whole);
  return share == 0 ? first : first + share * (at(whole + 1) - first);
}

}  // namespace

absl::Status CheckSteadyScheduler(std::string_view scheduler) {
  if (Find(scheduler) != nullptr) return absl::OkStatus();
  std::string names;
  for (const SteadyScheduler& known : kSteadySchedulers) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return absl::InvalidArgumentError(
      fmt::format("the closed form has no scheduler {}: expected one of {}",
                  Quoted(scheduler), names));
}

SteadyState::SteadyState(const SteadyReplica& replica,
                         const SteadyRequests& requests)
    : replica_(replica), requests_(requests), ways_(replica.steps_under_way) {
  const SteadyScheduler* scheduler = Find(replica.scheduler);
  ASTRA_CHECK(scheduler != nullptr, "no scheduler {}", replica.scheduler);
  ASTRA_CHECK(requests.output_tokens > 1, "a request of one token");
  prompts_alone_ = scheduler->prompts_alone;
  parts_wait_ = scheduler->parts_wait;
  const BatchingOptions& options = replica_.options;
  const int64_t longest = requests.prompt_tokens + requests.output_tokens;
  const int64_t mean =
      requests.prompt_tokens + (requests.output_tokens + 1) / 2;
  const bool is_split = options.chunked_prefill || prompts_alone_;
  if (BlocksOfTokens(longest, options) > options.num_blocks ||
      (!is_split && requests.prompt_tokens > options.max_batched_tokens)) {
    return;
  }
  const int64_t blocks =
      BlocksOfTokens(scheduler->reserves_output ? longest : mean, options);
  most_ = std::max<int64_t>(
      1, std::min(options.max_sequences, options.num_blocks / blocks) / ways_);
}

double SteadyState::Decode(double batch) const {
  return BetweenWhole(batch, [this](int64_t decodes) {
    const double context =
        Real(requests_.prompt_tokens) + Real(requests_.output_tokens - 1) / 2;
    return ToSeconds(replica_.cost->TimeOf(
        {.decodes = decodes,
         .decode_context = std::llround(Real(decodes) * context),
         .samples = decodes}));
  });
}

double SteadyState::MixedOf(int64_t decodes, int64_t prompts) const {
  const double context =
      Real(requests_.prompt_tokens) + Real(requests_.output_tokens - 1) / 2;
  StepWork work = {.decodes = decodes,
                   .decode_context = std::llround(Real(decodes) * context),
                   .samples = decodes + prompts};
  work.chunks.assign(static_cast<size_t>(prompts),
                     {.tokens = requests_.prompt_tokens});
  return ToSeconds(replica_.cost->TimeOf(work));
}

// Fewer than one prompt is a part of one, with the mean of what is before it.
double SteadyState::Mixed(double batch, double prompts) const {
  if (prompts >= 1) {
    return BetweenWhole(batch, [&](int64_t decodes) {
      return BetweenWhole(
          prompts, [&](int64_t count) { return MixedOf(decodes, count); });
    });
  }
  const double context =
      Real(requests_.prompt_tokens) + Real(requests_.output_tokens - 1) / 2;
  const int64_t tokens = std::max<int64_t>(
      1, std::llround(prompts * Real(requests_.prompt_tokens)));
  return BetweenWhole(batch, [&](int64_t decodes) {
    const StepWork work = {
        .chunks = {{.tokens = tokens,
                    .cached = (requests_.prompt_tokens - tokens) / 2}},
        .decodes = decodes,
        .decode_context = std::llround(Real(decodes) * context),
        .samples = decodes};
    return ToSeconds(replica_.cost->TimeOf(work));
  });
}

// The mean wait, in services, for one of `servers` with a share `use` of them
// busy.
double SteadyState::QueueOf(double servers, double use) const {
  return std::pow(use, std::sqrt(2 * (servers + 1)) - 1) /
         (2 * Real(replica_.replicas) * servers * (1 - use));
}

double SteadyState::Budget(double batch) const {
  const BatchingOptions& options = replica_.options;
  if (prompts_alone_) {
    return Real(std::min(options.chunk_tokens, options.max_batched_tokens));
  }
  return std::max(1.0, Real(options.max_batched_tokens) - batch);
}

// Returns how many rounds of all steps under way a prompt of `steps` takes.
double SteadyState::RoundsOf(double steps) const {
  return parts_wait_ ? steps : 1 + (steps - 1) / Real(ways_);
}

// Returns what the prompts of other steps under way add to a round, for each
// that decodes. Prompts are in `share` of the steps for each that decodes.
double SteadyState::WaitForOthers(const PromptSteps& steps,
                                  double share) const {
  const double busy = prompts_alone_ ? share / (1 + share) : share;
  const double own = prompts_alone_ ? 0 : busy;
  // Steps of one prompt that follow one another delay a round once.
  const double others = Real(ways_) * RoundsOf(steps.steps) / steps.steps - 1;
  return (1 - own) * (1 - std::pow(1 - busy, others)) *
         std::max(0.0, steps.step - steps.decode);
}

SteadyState::PromptSteps SteadyState::PromptStepsOf(double others) const {
  const double batch = 1 + others;
  const double arrivals = others / Real(requests_.output_tokens - 1);
  const double prompt = Real(requests_.prompt_tokens);
  const double budget = Budget(batch);
  const double beside = prompts_alone_ ? 0 : batch;
  const double load = std::min(1.0, arrivals * prompt / budget);
  PromptSteps steps;
  steps.decode = Decode(batch);
  if (prompt > budget) {
    // A prompt alone takes whole steps; behind another one it fills the rest.
    const double alone = std::ceil(prompt / budget);
    steps.steps = alone + load * (prompt / budget - alone);
    steps.step = Mixed(beside, 1 / steps.steps);
    steps.share_of_one = steps.steps * steps.step;
  } else {
    const double share = std::max(1 - std::exp(-arrivals), load);
    steps.prompts = std::max(1.0, arrivals / share);
    steps.step = Mixed(beside, steps.prompts);
    steps.most = std::floor(budget / prompt);
    steps.share_of_one = Mixed(beside, steps.most) / steps.most;
  }
  const double extra = prompts_alone_ ? steps.step : steps.step - steps.decode;
  const double share = arrivals * steps.steps / steps.prompts;
  steps.share = std::min(1.0, share);
  steps.extra =
      steps.steps * std::max(0.0, extra) / steps.prompts +
      WaitForOthers(steps, prompts_alone_ ? share : steps.share) / arrivals;
  return steps;
}

double SteadyState::DecodingSeconds(const PromptSteps& steps,
                                    double rate) const {
  const double tokens = Real(requests_.output_tokens - 1);
  const double behind = rate * steps.steps * steps.step *
                        (1 + QueueOf(steps.most, rate * steps.share_of_one)) /
                        Real(ways_);
  const double own = tokens * steps.decode;
  if (prompts_alone_) {
    const double left = std::max(0.0, behind - rate * steps.decode);
    return (own + steps.extra * left) / (1 - rate * steps.extra);
  }
  const double others = steps.extra * behind;
  return (own + others) /
         (1 - rate * steps.extra + others / (tokens * steps.step));
}

double SteadyState::RateOf(const PromptSteps& steps, double others) const {
  double low = 0;
  double high = 1 / std::max(steps.share_of_one, steps.extra);
  constexpr int kHalvings = 48;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const bool is_above = middle * DecodingSeconds(steps, middle) > others;
    (is_above ? high : low) = middle;
  }
  return low;
}

double SteadyState::TtftOf(double others, const PromptSteps& steps,
                           double rate) const {
  const double use = rate * steps.share_of_one;
  const double is_busy = 1 - std::exp(-others);
  const double decode = steps.decode;
  double residual = decode / 2;
  if (steps.most > 1) {
    const double of_decodes = prompts_alone_ ? 1 : 1 - steps.share;
    residual =
        (of_decodes * decode * decode + steps.share * steps.step * steps.step) /
        (2 * (of_decodes * decode + steps.share * steps.step));
  }
  residual *= is_busy * (1 - use);
  double own = RoundsOf(steps.steps) * steps.step;
  if (steps.steps <= 1) {
    // Others that arrived in the same step are computed with it.
    const double beside = prompts_alone_ ? 0 : others;
    own = Mixed(beside, std::min(steps.most, 1 + rate * steps.step));
  }
  return residual + own * (1 + QueueOf(steps.most, use));
}

std::optional<SteadyLoad> SteadyState::AtBatch(double batch) const {
  constexpr double kLeastOthers = 1e-6;
  if (most_ == 0) return std::nullopt;
  const double others = std::max(kLeastOthers, batch / Real(ways_) - 1);
  const double tokens = Real(requests_.output_tokens - 1);
  const PromptSteps steps = PromptStepsOf(others);
  SteadyLoad load;
  load.rate = RateOf(steps, others);
  if (load.rate * std::max(steps.share_of_one, steps.extra) > kMostUse) {
    return std::nullopt;
  }
  load.tpot = DecodingSeconds(steps, load.rate) / tokens;
  load.ttft = TtftOf(others, steps, load.rate);
  const double inside = others + load.rate * load.ttft;
  const double use = inside / Real(most_);
  if (use > kMostUse) return std::nullopt;
  load.ttft +=
      QueueOf(Real(most_), use) * inside / load.rate + replica_.request_seconds;
  load.in_flight = Real(ways_) * (others + load.rate * load.ttft);
  load.rate *= Real(ways_);
  load.batch = Real(ways_) * (1 + others);
  return load;
}

std::optional<SteadyLoad> SteadyState::AtRate(double rate) const {
  if (most_ == 0) return std::nullopt;
  int64_t low = ways_;
  int64_t high = ways_ * (most_ + 1);
  const auto is_above = [&](int64_t batch) {
    const std::optional<SteadyLoad> load = AtBatch(Real(batch));
    return !load || load->rate > rate;
  };
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (is_above(middle) ? high : low) = middle;
  }
  const std::optional<SteadyLoad> below = AtBatch(Real(low));
  const std::optional<SteadyLoad> above = AtBatch(Real(high));
  if (!below || !above || above->rate < rate) return std::nullopt;
  const double share = (rate - below->rate) / (above->rate - below->rate);
  std::optional<SteadyLoad> load = AtBatch(Real(low) + std::max(0.0, share));
  if (load) load->rate = rate;
  return load;
}

// All steps have prompts, which wait for one another.
SteadyLoad SteadyState::Saturated(double requests) const {
  const double tokens = Real(requests_.output_tokens - 1);
  double batch = 0;
  double prompts = 0;
  constexpr int kPasses = 8;
  for (int i = 0; i < kPasses; ++i) {
    prompts = Budget(batch) / Real(requests_.prompt_tokens);
    batch = std::min(requests, prompts * tokens);
  }
  SteadyLoad load;
  load.batch = std::max(1.0, batch);
  load.tpot = Mixed(load.batch, prompts);
  load.rate = prompts / load.tpot;
  load.in_flight = requests;
  load.ttft = requests / load.rate - tokens * load.tpot;
  return load;
}

// All prompts of a round are computed before any of them decodes.
SteadyLoad SteadyState::Rounds(double requests) const {
  const double most = Budget(0) / Real(requests_.prompt_tokens);
  const double steps = std::max(1.0, requests / most);
  const double step = Prompts(std::min(most, requests));
  // A sequence waits for the steps before its own and then for those behind.
  const double own = most < 1 ? 1 / most : 1;
  SteadyLoad load;
  load.batch = requests;
  load.ttft = (steps + own) / 2 * step;
  load.tpot = Decode(requests) +
              (steps - own) / 2 * step / Real(requests_.output_tokens - 1);
  return load;
}

SteadyLoad SteadyState::InStep(double requests) const {
  const double together =
      std::min(Budget(requests) / Real(requests_.prompt_tokens), requests);
  const double steps = together >= 1 ? 1 : std::ceil(1 / together);
  const double group = std::max(1.0, together);
  const double step =
      Mixed(requests - group, together >= 1 ? together : 1 / steps);
  // Steps with prompts of others, for each step of a sequence.
  const double share =
      (requests - group) * steps / group / Real(requests_.output_tokens - 1);
  if (share > 1) return Saturated(requests);
  const double decode = Decode(requests);
  SteadyLoad load;
  load.batch = requests;
  load.ttft = steps * step;
  load.tpot = decode + share * (step - decode);
  return load;
}

SteadyLoad SteadyState::AtConcurrency(int64_t requests) const {
  ASTRA_CHECK(requests > 0 && most_ > 0, "no request");
  const double all = std::max(1.0, Real(requests) / Real(ways_));
  const double inside = std::min(all, Real(most_));
  SteadyLoad load = prompts_alone_ ? Rounds(inside) : InStep(inside);
  const double decoding = Real(requests_.output_tokens - 1) * load.tpot;
  const double rate = inside / (load.ttft + decoding);
  load.ttft += (all - inside) / rate + replica_.request_seconds;
  load.rate = Real(ways_) * all / (load.ttft + decoding);
  load.batch *= Real(ways_);
  load.in_flight = Real(requests);
  return load;
}

std::optional<SteadyLoad> SteadyState::PrefillAtRate(double rate) const {
  if (most_ == 0) return std::nullopt;
  const double own_rate = rate / Real(ways_);
  const double most = Budget(0) / Real(requests_.prompt_tokens);
  SteadyLoad load;
  load.rate = rate;
  if (most < 2) {
    const double service =
        most < 1 ? std::ceil(1 / most) * Prompts(1 / std::ceil(1 / most))
                 : Prompts(1);
    const double use = own_rate * service;
    if (use > kMostUse) return std::nullopt;
    load.ttft = service * (1 + QueueOf(1, use));
  } else {
    // A batch has what arrived during the one before: its time is affine.
    const double one = Prompts(1);
    const double full = Prompts(std::floor(most));
    const double use = own_rate * full / std::floor(most);
    if (use > kMostUse) return std::nullopt;
    const double each = (full - one) / (std::floor(most) - 1);
    const double is_busy = std::min(1.0, own_rate * one);
    const double batch = std::min(full, one / (1 - each * own_rate * is_busy));
    load.ttft =
        batch * (1 + is_busy / 2) + full * QueueOf(std::floor(most), use);
  }
  load.ttft += replica_.request_seconds;
  load.in_flight = rate * load.ttft;
  return load;
}

std::optional<SteadyLoad> SteadyState::DecodeAtBatch(
    double batch, double transfer_seconds) const {
  const double share = batch / Real(ways_);
  const double others = std::max(1e-6, share - 1);
  if (most_ == 0 || others > kMostUse * Real(most_)) return std::nullopt;
  const double tokens = Real(requests_.output_tokens - 1);
  const double step = Decode(1 + others);
  SteadyLoad load;
  load.batch = (1 + others) * Real(ways_);
  load.rate = others / (tokens * step) * Real(ways_);
  const double wait =
      QueueOf(Real(most_), others / Real(most_)) * tokens * step;
  const double is_busy = 1 - std::exp(-others);
  load.tpot = step + (transfer_seconds + wait + is_busy * step / 2) / tokens;
  load.in_flight = load.rate * tokens * load.tpot;
  return load;
}

}  // namespace astra
