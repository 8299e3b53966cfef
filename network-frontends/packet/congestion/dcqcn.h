// DCQCN: a sender cuts its rate when receivers report marked packets and
// regains it by timers. It starts at line rate.
//
// A report (CNP) is an acknowledgement of a packet that was marked. The first
// report starts the timers of a queue pair and sets alpha, an estimate of the
// congestion of the path, to 1. From then on:
//
//   every alpha_interval (A):     alpha <- (1 - g) alpha + g [a report came]
//   every decrease_interval (D):  if a report came since the last check,
//       target <- rate            unless none of the steps below was taken
//                                 since the last cut and clamp_target_rate is
//                                 false
//       rate <- max(min_rate, rate (1 - alpha/2))
//   every increase_interval (T) since the last cut, step i = 0, 1, ...:
//       i < F:   rate <- (rate + target)/2                  fast recovery
//       i = F:   target += additive_increase, then as above
//       i > F:   target += hyper_increase, then as above
//
// Here g is the gain and F is fast_recovery_steps. Neither rate nor target
// exceeds line rate. The checks come 1 ns after the multiples of D, and hence
// after an update of alpha at the same instant; an increase at the instant of a
// check comes before it.
//
// NVIDIA's NICs have these timers: they cut at most once every D rather than at
// every report. The RDMA models of ns-3, including SimAI's, follow them. The
// paper also has increases by a byte counter, which are not modelled. NVIDIA's
// names of the parameters are: A dce_tcp_rtt, g (1024 - dce_tcp_g)/1024, D
// rate_reduce_monitor_period, T rpg_time_reset, F rpg_threshold, then
// rpg_ai_rate, rpg_hai_rate and rpg_min_rate. Defaults are the paper's, except
// D, which is NVIDIA's, and hyper_increase, which is ten times
// additive_increase.
//
// Updates of alpha need no event: k intervals of which only the first had a
// report are alpha <- ((1 - g) alpha + g) (1 - g)^(k - 1). A check without a
// report does nothing, so no event is scheduled for it. A rate within 1 bit per
// second of its target reaches it, and at line rate there is nothing to
// increase. A queue pair thus has one timer, and none before the first report
// and after recovery.
//
// Losses change nothing. The window is left alone.
//
// Sources: Y. Zhu et al., "Congestion control for large-scale RDMA
// deployments", SIGCOMM 2015; NVIDIA, "DCQCN CC parameters" (DOCA
// documentation); rdma-hw.cc of the ns-3 simulator of Y. Li et al., "HPCC",
// SIGCOMM 2019, from which SimAI's is derived.

#ifndef NETWORK_FRONTENDS_PACKET_CONGESTION_DCQCN_H_
#define NETWORK_FRONTENDS_PACKET_CONGESTION_DCQCN_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "astra-core/base/units.h"
#include "network-frontends/packet/congestion/congestion_control.h"

namespace astra {

// DCQCN starts at line rate and reacts to ECN marks by its rate.
struct DcqcnOptions {
  TimePs alpha_interval = Microseconds(55);
  TimePs decrease_interval = Microseconds(4);
  TimePs increase_interval = Microseconds(55);
  double gain = 1.0 / 256;
  uint32_t fast_recovery_steps = 5;
  Bandwidth additive_increase = Mbps(40);
  Bandwidth hyper_increase = Mbps(400);
  Bandwidth min_rate = Mbps(100);
  bool clamp_target_rate = false;
};

template <class Visitor>
void Visit(DcqcnOptions& o, Visitor& v) {
  v.Time("alpha_interval", o.alpha_interval);
  v.Time("decrease_interval", o.decrease_interval);
  v.Time("increase_interval", o.increase_interval);
  v.Number("gain", o.gain, 0, 1);
  v.Integer("fast_recovery_steps", o.fast_recovery_steps, 0, kMostPackets);
  v.Rate("additive_increase", o.additive_increase);
  v.Rate("hyper_increase", o.hyper_increase);
  v.Rate("min_rate", o.min_rate);
  v.Bool("clamp_target_rate", o.clamp_target_rate);
}

class Dcqcn final : public CongestionControl {
 public:
  using Options = DcqcnOptions;
  static constexpr std::string_view kName = "dcqcn";
  static constexpr std::string_view kDescription =
      "rate cut by ECN marks, restored by timers (RoCE NICs)";
  static std::string_view WhyWrong(const Options& options);

  // Requires intervals > 0 and 0 <= gain <= 1.
  explicit Dcqcn(const DcqcnOptions& options);

  bool heeds_marks() const override { return true; }
  // Before the first report nothing changes.
  bool IsAtRest(QueuePairId qp) const override {
    return states_[qp.index()].next_alpha == kNoTimer;
  }
  void Open(QueuePairId qp, const PathProperties& path, TimePs now,
            SendingLimits* limits) override;
  void OnAck(QueuePairId qp, const Acknowledgement& ack,
             SendingLimits* limits) override;
  void OnTimer(QueuePairId qp, TimePs now, SendingLimits* limits) override;

 private:
  struct State {
    double rate = 0;  // Sending rate. All three rates are in bit/s.
    double target = 0;
    double line_rate = 0;
    double alpha = 1;
    TimePs next_alpha = kNoTimer;  // kNoTimer: there was no report yet.
    TimePs next_check;
    TimePs next_increase = kNoTimer;
    uint32_t step = 0;  // Number of increases since the last cut.
    bool alpha_reported = false;
    bool check_reported = false;
  };
  static_assert(sizeof(State) == 64);

  // Applies all updates that were due until `now`.
  void CatchUp(TimePs now, State& state) const;
  void UpdateAlpha(TimePs now, State& state) const;
  void Decrease(State& state) const;
  void Increase(State& state) const;
  static void SetLimits(const State& state, SendingLimits* limits);

  DcqcnOptions options_;
  std::vector<State> states_;  // State of each queue pair.
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_CONGESTION_DCQCN_H_
