#include "network-frontends/packet/congestion/timely.h"

#include "network-frontends/packet/congestion/sending.h"

namespace astra {

std::string_view Timely::WhyWrong(const Options& options) {
  if (options.least_rtt <= TimePs(0)) return "least_rtt must be above 0";
  if (options.min_rate <= Bandwidth(0)) return "min_rate must be above 0";
  return {};
}

Timely::Timely(const TimelyOptions& options) : options_(options) {}

int64_t Timely::header_bytes(uint32_t /*num_hops*/) const { return 8; }

void Timely::Open(QueuePairId qp, const PathProperties& path, TimePs /*now*/,
                  SendingLimits* limits) {
  State& state = OpenState(qp, path, states_);
  state.rate = state.line_rate = ToDouble(path.line_rate);
  limits->rate = path.line_rate;
  limits->timer = kNoTimer;
}

void Timely::OnAck(QueuePairId qp, const Acknowledgement& ack,
                   SendingLimits* limits) {
  State& state = states_[qp.index()];
  if (ack.acked_total_bytes <= state.update_after) return;
  state.update_after = EndOfRoundTrip(ack);
  const TimePs last_rtt = state.last_rtt;
  state.last_rtt = ack.rtt;
  if (last_rtt == TimePs()) return;

  const double change = ToDouble(ack.rtt - last_rtt);
  state.difference += options_.ewma_weight * (change - state.difference);
  const double factor = DecreaseFor(ack.rtt, state);
  double rate = state.rate * factor;
  if (factor < 1) {
    state.num_increases = 0;
  } else {
    rate += ToDouble(state.num_increases < options_.hyper_steps
                         ? options_.additive_increase
                         : options_.hyper_increase);
    ++state.num_increases;
  }
  state.rate = Within(rate, ToDouble(options_.min_rate), state.line_rate);
  limits->rate = ToBandwidth(state.rate);
}

double Timely::DecreaseFor(TimePs rtt, const State& state) const {
  if (rtt < options_.low_threshold) return 1;
  const TimePs high = options_.high_threshold;
  if (rtt > high) {
    return 1 - options_.decrease_factor * (1 - ToDouble(high) / ToDouble(rtt));
  }
  const double gradient = state.difference / ToDouble(options_.least_rtt);
  if (gradient <= 0) return 1;
  return 1 - options_.decrease_factor * gradient;
}

}  // namespace astra
