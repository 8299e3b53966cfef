// Shows on a terminal how many requests of a long run have ended; see
// ProgressLine for when it shows anything.
//
//   ServingProgress progress(/*requests=*/1000);
//   RunServing(job, times, {.source = ..., .watchers = {&progress}});

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_PROGRESS_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "astra-core/base/progress.h"
#include "astra-core/base/units.h"
#include "fmt/core.h"
#include "workload/serving/simulation.h"

namespace astra {

class ServingProgress : public ServingObserver {
 public:
  // Requires that at most `requests`, above 0, are served. The others are those
  // of ProgressLine.
  explicit ServingProgress(
      int64_t requests, std::FILE* out = stderr,
      std::chrono::milliseconds between_lines = std::chrono::seconds(10))
      : requests_(requests), line_(out, between_lines) {}

  void OnRequest(const RequestResult&) override {
    ++ended_;
    Show();
  }
  void OnStep(const StepRecord&) override { Show(); }
  void OnTokens(TimePs, int64_t) override {}

 private:
  void Show() {
    if (!line_.IsDue()) return;
    line_.Update(
        static_cast<double>(ended_) / static_cast<double>(requests_),
        fmt::format("{} of {} requests have ended", ended_, requests_));
  }

  const int64_t requests_;
  int64_t ended_ = 0;
  ProgressLine line_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_PROGRESS_H_
