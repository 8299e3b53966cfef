#include "astra-core/apps/serving/load_series.h"

#include <algorithm>
#include <numeric>

namespace astra {

void LoadSeries::WidenUntil(int64_t end) {
  end_ = std::max(end_, end);
  while (end > width_ * static_cast<int64_t>(kMostLoadBins)) {
    width_ *= 2;
    for (size_t i = 0; 2 * i < bins_.size(); ++i) {
      Sums sum = bins_[2 * i];
      if (2 * i + 1 < bins_.size()) {
        const Sums& other = bins_[2 * i + 1];
        sum.running += other.running;
        sum.waiting += other.waiting;
        sum.used_blocks += other.used_blocks;
        sum.tokens += other.tokens;
      }
      bins_[i] = sum;
    }
    bins_.resize((bins_.size() + 1) / 2);
  }
  const auto needed = static_cast<size_t>((end + width_ - 1) / width_);
  if (bins_.size() < needed) bins_.resize(needed);
}

void LoadSeries::OnStep(const StepRecord& step) {
  if (step.replica >= blocks_.size()) blocks_.resize(step.replica + 1);
  blocks_[step.replica] = step.num_blocks;
  const int64_t begin = step.start.count();
  const int64_t end = begin + step.duration.count();
  WidenUntil(end);
  for (int64_t bin = begin / width_; bin * width_ < end; ++bin) {
    Sums& sums = bins_[static_cast<size_t>(bin)];
    const auto time = static_cast<double>(std::min(end, (bin + 1) * width_) -
                                          std::max(begin, bin * width_));
    sums.running += time * static_cast<double>(step.running);
    sums.waiting += time * static_cast<double>(step.waiting);
    sums.used_blocks += time * static_cast<double>(step.used_blocks);
  }
  bins_[static_cast<size_t>((end - 1) / width_)].tokens +=
      static_cast<double>(step.samples);
}

std::vector<LoadBin> LoadSeries::Bins() const {
  const auto blocks = static_cast<double>(
      std::accumulate(blocks_.begin(), blocks_.end(), int64_t{0}));
  std::vector<LoadBin> bins;
  for (size_t i = 0; i < bins_.size(); ++i) {
    const int64_t begin = static_cast<int64_t>(i) * width_;
    const auto time = static_cast<double>(std::min(width_, end_ - begin));
    bins.push_back(
        {.begin_s = static_cast<double>(begin) / kPsPerSecond,
         .running = bins_[i].running / time,
         .waiting = bins_[i].waiting / time,
         .kv_use = bins_[i].used_blocks / time / blocks,
         .output_tokens_per_s = bins_[i].tokens * kPsPerSecond / time});
  }
  return bins;
}

}  // namespace astra
