#include "network-frontends/packet/congestion/dcqcn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "astra-core/base/random.h"
#include "tests/network-frontends/packet/congestion/one_queue_pair.h"
#include "tests/testing/matchers.h"

namespace astra {
namespace {

using testing::OneQueuePair;
using testing::PathOf100Gbps;

constexpr TimePs kOffset = Nanoseconds(1);  // Of a check.

DcqcnOptions SimaiOptions() {
  return {.alpha_interval = Microseconds(1),
          .decrease_interval = Microseconds(4),
          .increase_interval = Microseconds(900),
          .gain = 1.0 / 256,
          .fast_recovery_steps = 1,
          .additive_increase = Mbps(50),
          .hyper_increase = Mbps(100),
          .min_rate = Mbps(100),
          .clamp_target_rate = false};
}

Acknowledgement Marked(TimePs now) {
  return {.now = now, .acked_bytes = 4'000, .is_marked = true};
}

TEST(DcqcnTest, StartsAtLineRateWithoutTimerAndLeavesTheWindowAlone) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions()};
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.timer(), kNoTimer);

  pair.Ack({.now = Microseconds(1), .acked_bytes = 4'000});
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.timer(), kNoTimer);
  EXPECT_EQ(pair.window(), std::numeric_limits<int64_t>::max());
}

TEST(DcqcnTest, HalvesAtTheFirstCheckAfterTheFirstReport) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions()};
  pair.Ack(Marked(Microseconds(10)));
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.timer(), Microseconds(14) + kOffset);

  pair.RunTimers(Microseconds(14) + kOffset);
  EXPECT_EQ(pair.gbps(), 50);
}

TEST(DcqcnTest, CutsAtMostOncePerInterval) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions()};
  for (int i = 0; i < 4; ++i) pair.Ack(Marked(Microseconds(10 + i)));
  pair.RunTimers(Microseconds(20));
  EXPECT_EQ(pair.gbps(), 50);

  // The next check is at 10 + 3 x 4 us.
  pair.Ack(Marked(Microseconds(20)));
  EXPECT_EQ(pair.timer(), Microseconds(22) + kOffset);
}

TEST(DcqcnTest, RecoversHalfWayToTheTargetThenRaisesIt) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions{.gain = 0}};  // alpha stays 1.
  pair.Ack(Marked(TimePs()));
  const TimePs first_cut = Microseconds(4) + kOffset;
  pair.RunTimers(first_cut + Microseconds(55));
  EXPECT_EQ(pair.gbps(), 75);  // (50 + 100)/2

  // One step was taken: the second cut makes 75 the target.
  pair.Ack(Marked(Microseconds(61)));
  const TimePs second_cut = Microseconds(64) + kOffset;
  pair.RunTimers(second_cut);
  EXPECT_EQ(pair.gbps(), 37.5);

  double rate = 37.5;
  double target = 75;
  for (int step = 0; step < 8; ++step) {
    if (step == 5) target += 0.04;
    if (step > 5) target += 0.4;
    rate = (rate + target) / 2;
    const TimePs at = second_cut + int64_t{step + 1} * Microseconds(55);
    pair.RunTimers(at - TimePs(1));
    EXPECT_NE(pair.gbps(), rate);
    pair.RunTimers(at);
    EXPECT_NEAR(pair.gbps(), rate, 1e-8) << step;
  }
}

TEST(DcqcnTest, KeepsTheTargetWhereNoStepWasTakenUnlessItIsClamped) {
  for (const bool clamp : {false, true}) {
    OneQueuePair<Dcqcn> pair{
        DcqcnOptions{.gain = 0, .clamp_target_rate = clamp}};
    pair.Ack(Marked(TimePs()));
    pair.RunTimers(Microseconds(5));
    pair.Ack(Marked(Microseconds(5)));
    pair.RunTimers(Microseconds(8) + kOffset);
    EXPECT_EQ(pair.gbps(), 25);
    pair.RunTimers(Microseconds(8 + 55) + kOffset);
    EXPECT_DOUBLE_EQ(pair.gbps(), clamp ? 37.5 : 62.5);  // Towards 50 or 100.
  }
}

TEST(DcqcnTest, AlphaDecaysWhileNoReportComes) {
  OneQueuePair<Dcqcn> pair{
      DcqcnOptions{.alpha_interval = Microseconds(10), .gain = 0.5}};
  pair.Ack(Marked(TimePs()));
  pair.RunTimers(Microseconds(5));
  EXPECT_EQ(pair.gbps(), 50);

  // alpha has become 1/8 at 30 us, and the report raises it no earlier than at
  // 40 us. The check is at 36 us.
  pair.Ack(Marked(Microseconds(33)));
  pair.RunTimers(Microseconds(36) + kOffset);
  EXPECT_EQ(pair.gbps(), 50 * (1 - 0.125 / 2));
}

TEST(DcqcnTest, NeedsNoTimerOnceRecovered) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions()};
  pair.Ack(Marked(TimePs()));
  // From 50 Gbps away to less than 1 bit per second takes 36 halvings.
  pair.RunTimers(Microseconds(5 + 36 * 55));
  EXPECT_EQ(pair.gbps(), 100);
  EXPECT_EQ(pair.timer(), kNoTimer);
}

TEST(DcqcnTest, NeverFallsBelowTheLeastRate) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions()};
  for (int i = 0; i < 400; ++i) {
    pair.RunTimers(Microseconds(i));
    pair.Ack(Marked(Microseconds(i)));
    EXPECT_GE(pair.gbps(), 0.1);
  }
  EXPECT_EQ(pair.gbps(), 0.1);
}

TEST(DcqcnTest, CutsAsSimaiDoesWithItsParameters) {
  OneQueuePair<Dcqcn> pair{SimaiOptions()};
  pair.Ack(Marked(TimePs()));
  // Updates of alpha at 1, 2, 3 and 4 us find no further report.
  const double alpha = std::pow(255.0 / 256, 4);
  pair.RunTimers(Microseconds(4) + kOffset);
  EXPECT_NEAR(pair.gbps(), 100 * (1 - alpha / 2), 1e-8);
}

TEST(DcqcnTest, AnotherInTheSameSlotStartsAfresh) {
  OneQueuePair<Dcqcn> pair{DcqcnOptions()};
  pair.Ack(Marked(TimePs()));
  pair.RunTimers(Microseconds(10));
  SendingLimits limits;
  pair.control().Open(QueuePairId(0), PathOf100Gbps(), Microseconds(10),
                      &limits);
  EXPECT_EQ(limits.rate, Gbps(100));
  EXPECT_EQ(limits.timer, kNoTimer);
}

// The same with a timer for everything, as the description reads.
class NaiveDcqcn {
 public:
  explicit NaiveDcqcn(const DcqcnOptions& options) : options_(options) {}

  double rate() const { return rate_; }

  void Report(TimePs now) {
    RunUntil(now);
    alpha_reported_ = check_reported_ = true;
    if (has_begun_) return;
    has_begun_ = true;
    alpha_reported_ = false;
    next_alpha_ = now + options_.alpha_interval;
    next_check_ = now + options_.decrease_interval + kOffset;
  }

  void RunUntil(TimePs now) {
    while (has_begun_) {
      const TimePs next = std::min({next_alpha_, next_increase_, next_check_});
      if (next > now) return;
      if (next == next_alpha_) {
        UpdateAlpha();
      } else if (next == next_increase_) {
        Increase();
      } else {
        Check();
      }
    }
  }

 private:
  void UpdateAlpha() {
    const double report = alpha_reported_ ? 1 : 0;
    alpha_ = (1 - options_.gain) * alpha_ + options_.gain * report;
    alpha_reported_ = false;
    next_alpha_ += options_.alpha_interval;
  }

  void Check() {
    if (check_reported_) {
      if (options_.clamp_target_rate || step_ > 0) target_ = rate_;
      const auto least = static_cast<double>(options_.min_rate.count());
      rate_ = std::max(least, rate_ * (1 - alpha_ / 2));
      step_ = 0;
      next_increase_ = next_check_ + options_.increase_interval;
      check_reported_ = false;
    }
    next_check_ += options_.decrease_interval;
  }

  void Increase() {
    Bandwidth more;
    if (step_ == options_.fast_recovery_steps)
      more = options_.additive_increase;
    if (step_ > options_.fast_recovery_steps) more = options_.hyper_increase;
    target_ = std::min(target_ + static_cast<double>(more.count()), 100e9);
    rate_ = (rate_ + target_) / 2;
    if (target_ - rate_ < 1) rate_ = target_;
    ++step_;
    next_increase_ += options_.increase_interval;
  }

  DcqcnOptions options_;
  double rate_ = 100e9;
  double target_ = 100e9;
  double alpha_ = 1;
  TimePs next_alpha_ = kNoTimer;
  TimePs next_check_ = kNoTimer;
  TimePs next_increase_ = kNoTimer;
  uint32_t step_ = 0;
  bool has_begun_ = false;
  bool alpha_reported_ = false;
  bool check_reported_ = false;
};

// Bursts of reports with pauses between them, of which some last until all is
// recovered; some at the instant of a timer.
TimePs NextReport(TimePs now, TimePs timer, uint64_t hash) {
  switch (hash % 8) {
    case 0:
      return timer == kNoTimer ? now : timer;
    case 1:
      return now + TimePs(static_cast<int64_t>(UnitInterval(hash) *
                                               5e9));  // Up to 5 ms.
    case 2:
      return now + Microseconds(static_cast<int64_t>(hash >> 8 & 127));
    default:
      return now + TimePs(static_cast<int64_t>(UnitInterval(hash) *
                                               5e6));  // Up to 5 us.
  }
}

TEST(DcqcnTest, EqualsATimerForEverything) {
  const DcqcnOptions all_options[] = {
      DcqcnOptions(),
      SimaiOptions(),
      {.clamp_target_rate = true},
      {.alpha_interval = Nanoseconds(3'001),
       .decrease_interval = Nanoseconds(50'000),
       .increase_interval = Nanoseconds(1'999),
       .gain = 0.1},
      // All at the same instants, but for the offset of checks.
      {.alpha_interval = Microseconds(2),
       .decrease_interval = Microseconds(4),
       .increase_interval = Microseconds(4)}};
  for (const DcqcnOptions& options : all_options) {
    OneQueuePair<Dcqcn> pair(options);
    NaiveDcqcn naive(options);
    TimePs now;
    for (uint64_t i = 0; i < 2'000; ++i) {
      const TimePs report = NextReport(now, pair.timer(), HashOf(i, 7));
      // Once for each timer, as an engine would.
      while (pair.timer() <= report) {
        now = pair.timer();
        pair.RunTimers(now);
        naive.RunUntil(now);
        ASSERT_NEAR(pair.gbps(), naive.rate() / 1e9, 2e-9) << i;
      }
      now = report;
      naive.RunUntil(now);
      ASSERT_NEAR(pair.gbps(), naive.rate() / 1e9, 2e-9) << i;
      pair.Ack(Marked(now));
      naive.Report(now);
      ASSERT_NEAR(pair.gbps(), naive.rate() / 1e9, 2e-9) << i;
    }
  }
}

// Whether the engine calls OnTimer or OnAck first at one instant must not
// matter.
TEST(DcqcnTest, AReportAtTheInstantOfATimerComesAfterIt) {
  OneQueuePair<Dcqcn> timer_first{DcqcnOptions()};
  OneQueuePair<Dcqcn> report_first{DcqcnOptions()};
  const TimePs check = Microseconds(4) + kOffset;
  timer_first.Ack(Marked(TimePs()));
  timer_first.RunTimers(check);
  timer_first.Ack(Marked(check));
  report_first.Ack(Marked(TimePs()));
  report_first.Ack(Marked(check));
  EXPECT_EQ(report_first.gbps(), 50);
  EXPECT_EQ(timer_first.gbps(), 50);
  EXPECT_EQ(report_first.timer(), check + Microseconds(4));
  EXPECT_EQ(timer_first.timer(), check + Microseconds(4));
}

}  // namespace
}  // namespace astra
