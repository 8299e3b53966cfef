#include "astra-core/engine/work_rates.h"

#include "fmt/core.h"

namespace astra {

WorkRates RatesOf(const Program& program, TimePs total) {
  constexpr double kSecondsPerMicrosecond = 1e-6;
  constexpr double kFlopsPerTflop = 1e12;
  const double seconds = kSecondsPerMicrosecond * ToMicroseconds(total);
  const auto num_gpus = static_cast<double>(program.sizes().num_ranks);
  WorkRates rates;
  if (seconds == 0) return rates;
  const ProgramWork& work = program.work();
  rates.tokens_per_second = static_cast<double>(work.tokens) / seconds;
  rates.tokens_per_second_per_gpu = rates.tokens_per_second / num_gpus;
  rates.tflops_per_gpu =
      work.model_flops / (kFlopsPerTflop * seconds * num_gpus);
  const double peak = program.gpu().peak_tflops;
  if (peak > 0) rates.utilisation = rates.tflops_per_gpu / peak;
  return rates;
}

std::string DescribeRates(const WorkRates& rates) {
  std::string text;
  if (rates.tflops_per_gpu > 0) {
    text += fmt::format("  model FLOPs           {:.1f} TFLOP/s per GPU",
                        rates.tflops_per_gpu);
    if (rates.utilisation > 0) {
      text +=
          fmt::format(", {:.1f} % of its peak (MFU)", 100 * rates.utilisation);
    }
    text +=
        "\n                        causal attention counts half, recomputation "
        "not at all\n";
    if (rates.utilisation > 1) {
      text +=
          "warning: more than the GPU's peak: the program's work, peak or "
          "times "
          "cannot be right\n";
    }
  }
  if (rates.tokens_per_second > 0) {
    text += fmt::format(
        "  tokens                {:.0f} per second, {:.1f} per GPU\n",
        rates.tokens_per_second, rates.tokens_per_second_per_gpu);
  }
  return text;
}

}  // namespace astra
