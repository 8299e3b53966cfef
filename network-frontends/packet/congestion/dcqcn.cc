#include "network-frontends/packet/congestion/dcqcn.h"

#include <algorithm>

#include "astra-core/base/check.h"
#include "network-frontends/packet/congestion/sending.h"

namespace astra {
namespace {

// Returns base^exponent by squaring; std::pow differs between C libraries.
double Power(double base, int64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power *= base;
    base *= base;
  }
  return power;
}

// Returns how many of the instants first, first + interval, ... are not after
// `now`.
int64_t NumUntil(TimePs now, TimePs first, TimePs interval) {
  if (now < first) return 0;
  return (now - first).count() / interval.count() + 1;
}

}  // namespace

std::string_view Dcqcn::WhyWrong(const Options& options) {
  if (options.alpha_interval <= TimePs(0))
    return "alpha_interval must be above 0";
  if (options.decrease_interval <= TimePs(0))
    return "decrease_interval must be above 0";
  if (options.increase_interval <= TimePs(0))
    return "increase_interval must be above 0";
  if (options.min_rate <= Bandwidth(0)) return "min_rate must be above 0";
  return {};
}

Dcqcn::Dcqcn(const DcqcnOptions& options) : options_(options) {
  ASTRA_CHECK(std::min({options.alpha_interval, options.decrease_interval,
                        options.increase_interval}) > TimePs(),
              "intervals must be more than 0");
}

void Dcqcn::Open(QueuePairId qp, const PathProperties& path, TimePs /*now*/,
                 SendingLimits* limits) {
  State& state = OpenState(qp, path, states_);
  state.line_rate = state.rate = state.target = ToDouble(path.line_rate);
  SetLimits(state, limits);
}

void Dcqcn::OnAck(QueuePairId qp, const Acknowledgement& ack,
                  SendingLimits* limits) {
  if (!ack.is_marked) return;
  State& state = states_[qp.index()];
  if (state.next_alpha == kNoTimer) {
    state.next_alpha = ack.now + options_.alpha_interval;
    state.next_check = ack.now + options_.decrease_interval + Nanoseconds(1);
  } else {
    CatchUp(ack.now, state);
    UpdateAlpha(ack.now, state);
    state.alpha_reported = true;
    state.next_check +=
        NumUntil(ack.now, state.next_check, options_.decrease_interval) *
        options_.decrease_interval;
  }
  state.check_reported = true;
  SetLimits(state, limits);
}

void Dcqcn::OnTimer(QueuePairId qp, TimePs now, SendingLimits* limits) {
  State& state = states_[qp.index()];
  CatchUp(now, state);
  SetLimits(state, limits);
}

void Dcqcn::CatchUp(TimePs now, State& state) const {
  while (true) {
    const TimePs check = state.check_reported ? state.next_check : kNoTimer;
    if (std::min(check, state.next_increase) > now) return;
    if (state.next_increase <= check) {
      Increase(state);
    } else {
      Decrease(state);
    }
  }
}

void Dcqcn::UpdateAlpha(TimePs now, State& state) const {
  const int64_t num = NumUntil(now, state.next_alpha, options_.alpha_interval);
  if (num == 0) return;
  const double keep = 1 - options_.gain;
  state.alpha *= keep;
  if (state.alpha_reported) state.alpha += options_.gain;
  state.alpha *= Power(keep, num - 1);
  state.alpha_reported = false;
  state.next_alpha += num * options_.alpha_interval;
}

void Dcqcn::Decrease(State& state) const {
  UpdateAlpha(state.next_check, state);
  if (options_.clamp_target_rate || state.step > 0) state.target = state.rate;
  state.rate = Within(state.rate * (1 - state.alpha / 2),
                      ToDouble(options_.min_rate), state.line_rate);
  state.step = 0;
  state.check_reported = false;
  state.next_increase = state.next_check + options_.increase_interval;
  state.next_check += options_.decrease_interval;
}

void Dcqcn::Increase(State& state) const {
  if (state.step >= options_.fast_recovery_steps) {
    const bool is_hyper = state.step > options_.fast_recovery_steps;
    const Bandwidth more =
        is_hyper ? options_.hyper_increase : options_.additive_increase;
    state.target = std::min(state.target + ToDouble(more), state.line_rate);
  }
  state.rate = (state.rate + state.target) / 2;
  if (state.target - state.rate < 1) state.rate = state.target;
  ++state.step;
  state.next_increase = state.rate < state.line_rate
                            ? state.next_increase + options_.increase_interval
                            : kNoTimer;
}

void Dcqcn::SetLimits(const State& state, SendingLimits* limits) {
  limits->rate = ToBandwidth(state.rate);
  limits->timer = std::min(state.check_reported ? state.next_check : kNoTimer,
                           state.next_increase);
}

}  // namespace astra
