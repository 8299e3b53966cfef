#include "network-frontends/packet/congestion/uec.h"

#include <algorithm>
#include <cmath>

#include "astra-core/base/check.h"
#include "network-frontends/packet/congestion/sending.h"

namespace astra {
namespace {

// Reference network for which the specification gives its constants.
constexpr double kReferenceBytes = 150'000;  // Bandwidth-delay product.
constexpr TimePs kReferenceDelay = Microseconds(12);

}  // namespace

std::string_view Uec::WhyWrong(const Options& options) {
  if (options.max_window_share <= 0) return "max_window_share must be above 0";
  if (options.target_delay_share <= 0)
    return "target_delay_share must be above 0";
  return {};
}

Uec::Uec(const UecOptions& options) : options_(options) {
  ASTRA_CHECK(options.max_window_share > 0 && options.target_delay_share > 0,
              "shares must be more than 0");
}

void Uec::Open(QueuePairId qp, const PathProperties& path, TimePs now,
               SendingLimits* limits) {
  State& state = OpenState(qp, path, states_);
  const double line_rate = ToDouble(path.line_rate);
  state.max_window =
      options_.max_window_share * BytesIn(line_rate, path.base_rtt);
  state.window = state.max_window;
  state.target_delay = options_.target_delay_share * ToDouble(path.network_rtt);
  state.scale = BytesIn(line_rate, path.network_rtt) / kReferenceBytes;
  state.base_rtt = path.base_rtt;
  state.last_adjust = state.last_decrease = now;
  state.packet_bytes = static_cast<uint32_t>(path.packet_bytes);
  limits->rate = path.line_rate;
  limits->timer = kNoTimer;
  SetLimits(state, limits);
}

void Uec::OnAck(QueuePairId qp, const Acknowledgement& ack,
                SendingLimits* limits) {
  State& state = states_[qp.index()];
  const auto bytes = static_cast<double>(ack.acked_bytes);
  const double delay =
      std::max(0.0, ToDouble(ack.rtt) - ToDouble(state.base_rtt));
  state.unacked_bytes = ack.unacked_bytes;
  state.delivered_bytes += ack.acked_bytes;
  state.received_bytes += ack.acked_bytes;
  state.ignored_bytes -= ack.acked_bytes;
  state.average_delay +=
      std::min(1.0, bytes / state.window) * (delay - state.average_delay);

  if (!QuickAdapt(ack.now, ack.is_marked, delay, state)) {
    const bool is_late = delay >= state.target_delay;
    if (!ack.is_marked && is_late) {
      state.increase +=
          options_.fair_increase * state.scale * state.packet_bytes * bytes;
    } else if (!ack.is_marked) {
      IncreaseProportionally(bytes, delay, state);
    } else if (is_late) {
      Decrease(ack.now, state);
    }
    if (IsRoundTripOver(ack.now, state) ||
        state.received_bytes >
            int64_t{options_.adjust_packets} * state.packet_bytes) {
      Adjust(ack.now, state);
    }
  }
  SetLimits(state, limits);
}

void Uec::OnLoss(QueuePairId qp, TimePs now, bool /*is_timeout*/,
                 SendingLimits* limits) {
  State& state = states_[qp.index()];
  state.lost = true;
  if (!QuickAdapt(now, /*is_marked=*/true, /*delay=*/0, state)) {
    state.window -= state.packet_bytes;
  }
  SetLimits(state, limits);
}

bool Uec::QuickAdapt(TimePs now, bool is_marked, double delay,
                     State& state) const {
  bool has_adapted = is_marked && state.ignored_bytes > 0;
  if (!has_adapted &&
      (state.period_end == kNoTimer || now >= state.period_end)) {
    const bool is_severe =
        state.lost || delay > options_.quick_adapt_delay * state.target_delay;
    const auto delivered = static_cast<double>(state.delivered_bytes);
    if (state.period_end != kNoTimer && is_severe &&
        delivered < options_.quick_adapt_below * state.max_window) {
      state.window = options_.quick_adapt_share * delivered;
      state.ignored_bytes = state.unacked_bytes;
      state.lost = false;
      has_adapted = true;
    }
    state.delivered_bytes = 0;
    state.period_end =
        now + state.base_rtt + TimePs(std::llround(state.target_delay));
  }
  if (has_adapted) {
    state.increase = 0;
    state.received_bytes = 0;
  }
  return has_adapted;
}

void Uec::IncreaseProportionally(double bytes, double delay,
                                 State& state) const {
  constexpr double kNoDelay = 0.125;  // Share of the target delay.
  if (delay < kNoDelay * state.target_delay) {
    state.undelayed_bytes += static_cast<int64_t>(bytes);
    state.is_fast = state.is_fast ||
                    static_cast<double>(state.undelayed_bytes) > state.window;
  } else {
    state.undelayed_bytes = 0;
    state.is_fast = false;
  }
  if (state.is_fast) {
    state.window += options_.fast_increase * state.scale * bytes;
    return;
  }
  const double delay_scale = state.target_delay / ToDouble(kReferenceDelay);
  state.increase += options_.proportional_gain * state.scale * delay_scale *
                    state.packet_bytes * (1 - delay / state.target_delay) *
                    bytes;
}

void Uec::Decrease(TimePs now, State& state) const {
  state.is_fast = false;
  state.undelayed_bytes = 0;
  const double excess = state.average_delay - state.target_delay;
  if (excess <= 0 || now - state.last_decrease <= state.base_rtt) return;
  state.window *=
      std::max(1 - options_.decrease_gain * excess / state.average_delay,
               1 - options_.max_decrease);
  state.last_decrease = now;
}

bool Uec::IsRoundTripOver(TimePs now, const State& state) const {
  return options_.target_delay_share * ToDouble(now - state.last_adjust) >=
         state.target_delay;
}

void Uec::Adjust(TimePs now, State& state) const {
  state.window += state.increase / state.window;
  if (IsRoundTripOver(now, state)) {
    state.window +=
        options_.periodic_increase * state.scale * state.packet_bytes;
    state.last_adjust = now;
  }
  state.increase = 0;
  state.received_bytes = 0;
}

void Uec::SetLimits(State& state, SendingLimits* limits) {
  state.window = std::max(std::min(state.window, state.max_window),
                          static_cast<double>(state.packet_bytes));
  limits->window_bytes = ToWindow(state.window, state.packet_bytes);
}

}  // namespace astra
