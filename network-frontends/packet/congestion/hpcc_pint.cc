#include "network-frontends/packet/congestion/hpcc_pint.h"

#include <algorithm>

#include "astra-core/base/check.h"
#include "astra-core/base/random.h"

namespace astra {

PintCode::PintCode(double base) {
  ASTRA_CHECK(base > 1, "base {}", base);
  constexpr double kSmallest = 0.01;
  constexpr double kLargest = 100;
  constexpr double kLeastBase = 1.0002;
  for (double value = kSmallest; value < kLargest;
       value *= std::max(base, kLeastBase)) {
    values_.push_back(value);
  }
}

double PintCode::Transmit(double utilization, double draw) const {
  const auto above =
      std::upper_bound(values_.begin(), values_.end(), utilization);
  if (above == values_.begin()) return values_.front();
  if (above == values_.end()) return values_.back();
  const double lower = above[-1];
  return draw * (*above - lower) < utilization - lower ? *above : lower;
}

std::string_view HpccPint::WhyWrong(const Options& options) {
  if (options.hpcc.target_utilization <= 0)
    return "target_utilization must be above 0";
  if (options.hpcc.min_rate <= Bandwidth(0)) return "min_rate must be above 0";
  if (options.log_base <= 1) return "log_base must be above 1";
  return {};
}

HpccPint::HpccPint(const HpccPintOptions& options)
    : sampling_share_(options.sampling_share),
      code_(options.log_base),
      hpcc_(options.hpcc) {}

int64_t HpccPint::header_bytes(uint32_t /*num_hops*/) const {
  return code_.num_bytes();
}

void HpccPint::Open(QueuePairId qp, const PathProperties& path, TimePs now,
                    SendingLimits* limits) {
  hpcc_.Open(qp, path, now, limits);
}

void HpccPint::OnAck(QueuePairId qp, const Acknowledgement& ack,
                     SendingLimits* limits) {
  const uint64_t hash = HashOf(ack.acked_total_bytes, qp.index());
  if (UnitInterval(hash) >= sampling_share_) return;
  const double draw = UnitInterval(Mix64(hash));
  hpcc_.React(qp, ack, code_.Transmit(ack.utilization, draw), limits);
}

}  // namespace astra
