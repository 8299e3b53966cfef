#include "network-frontends/packet/congestion/dctcp.h"

#include <algorithm>

#include "network-frontends/packet/congestion/sending.h"

namespace astra {

std::string_view Dctcp::WhyWrong(const Options& options) {
  if (options.min_rate <= Bandwidth(0)) return "min_rate must be above 0";
  return {};
}

Dctcp::Dctcp(const DctcpOptions& options) : options_(options) {}

void Dctcp::Open(QueuePairId qp, const PathProperties& path, TimePs /*now*/,
                 SendingLimits* limits) {
  State& state = OpenState(qp, path, states_);
  state.rate = state.line_rate = ToDouble(path.line_rate);
  state.rtt = path.network_rtt;
  state.packet_bytes = static_cast<uint32_t>(path.packet_bytes);
  SetLimits(state, limits);
  limits->timer = kNoTimer;
}

void Dctcp::OnAck(QueuePairId qp, const Acknowledgement& ack,
                  SendingLimits* limits) {
  State& state = states_[qp.index()];
  state.acked_bytes += ack.acked_bytes;
  if (ack.is_marked) state.marked_bytes += ack.acked_bytes;

  const bool ends_round = ack.acked_total_bytes > state.round_end;
  if (ends_round) {
    // The very first acknowledgement ends no round trip.
    if (state.round_end > 0 && state.acked_bytes > 0) {
      const double share = static_cast<double>(state.marked_bytes) /
                           static_cast<double>(state.acked_bytes);
      state.alpha += options_.gain * (share - state.alpha);
    }
    state.acked_bytes = state.marked_bytes = 0;
    state.round_end = EndOfRoundTrip(ack);
  }
  const bool may_cut = ack.acked_total_bytes > state.cut_end;
  if (ack.is_marked && may_cut) {
    Cut(1 - state.alpha / 2, EndOfRoundTrip(ack), state);
  } else if (ends_round && may_cut) {
    state.rate = std::min(state.rate + ToDouble(options_.additive_increase),
                          state.line_rate);
  }
  SetLimits(state, limits);
}

void Dctcp::OnLoss(QueuePairId qp, TimePs /*now*/, bool /*is_timeout*/,
                   SendingLimits* limits) {
  State& state = states_[qp.index()];
  // Whether the rate was cut in this round trip.
  const bool had_cut = state.round_end <= state.cut_end;
  if (state.round_end > 0 && had_cut) return;
  Cut(0.5, state.round_end, state);
  SetLimits(state, limits);
}

void Dctcp::Cut(double factor, uint64_t end, State& state) const {
  state.rate =
      Within(state.rate * factor, ToDouble(options_.min_rate), state.line_rate);
  state.cut_end = end;
}

void Dctcp::SetLimits(const State& state, SendingLimits* limits) {
  limits->rate = ToBandwidth(state.rate);
  limits->window_bytes =
      ToWindow(BytesIn(state.rate, state.rtt), state.packet_bytes);
}

}  // namespace astra
