// Draws how many rows the busiest rank of experts has to multiply.

#ifndef WORKLOAD_KERNELS_EXPERT_LOAD_H_
#define WORKLOAD_KERNELS_EXPERT_LOAD_H_

#include <array>
#include <map>
#include <mutex>

namespace astra {

struct ExpertLoad {
  double rows = 1;    // Copies of tokens on the busiest rank.
  double active = 1;  // Its experts with at least one of them.
};

// `tokens` tokens choose `topk` of `experts` experts, which `ranks` ranks hold.
// With `alpha` 0 all experts are chosen equally often:
//
//   rows = max(1, tokens topk / ranks)
//   active = min(experts / ranks, rows)
//
// Else the counts of experts follow a power law of exponent alpha between lo
// and hi: count = ((hi^(1-a) - lo^(1-a)) u + lo^(1-a))^(1/(1-a)) for uniform u,
// scaled to the number of copies, rounded, at most `tokens`. lo and hi are 1
// and 0.8 tokens where there are more copies than experts, else 0.01 and 2. The
// load is the mean over 12 draws, which are always the same.
//
// Source: the power law of NVIDIA AIConfigurator's collector of experts.
//
// Keeps what it has drawn; any thread may ask.
class ExpertLoads {
 public:
  ExpertLoad Find(double tokens, double topk, double experts, double ranks,
                  double alpha);

 private:
  std::mutex mutex_;
  std::map<std::array<double, 5>, ExpertLoad> known_;
};

}  // namespace astra

#endif  // WORKLOAD_KERNELS_EXPERT_LOAD_H_
