#include "workload/serving/trace_instant.h"

#include <chrono>
#include <cmath>

#include "workload/serving/request.h"

namespace astra {
namespace {

// Reads `digits` decimal digits from the front of `text` into `value`, and the
// character `end` behind them unless it is 0.
bool TakeNumber(std::string_view* text, size_t digits, char end, int* value) {
  if (text->size() < digits) return false;
  *value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return false;
    *value = *value * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  if (end == 0) return true;
  if (text->empty() || text->front() != end) return false;
  text->remove_prefix(1);
  return true;
}

// Reads ".979" from the front of `text`, if it is there.
bool TakeFraction(std::string_view* text, int64_t* picoseconds) {
  *picoseconds = 0;
  if (text->empty() || text->front() != '.') return true;
  text->remove_prefix(1);
  int64_t unit = kPsPerSecond;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    unit /= 10;
    if (unit == 0) return false;
    *picoseconds += (text->front() - '0') * unit;
    text->remove_prefix(1);
  }
  return unit < kPsPerSecond;
}

}  // namespace

TraceInstant InstantOf(double value, int64_t per_second) {
  const double units = static_cast<double>(per_second);
  TraceInstant instant;
  instant.seconds = static_cast<int64_t>(std::floor(value / units));
  const double rest = value - static_cast<double>(instant.seconds) * units;
  instant.picoseconds =
      std::llround(rest * (static_cast<double>(kPsPerSecond) / units));
  if (instant.picoseconds >= kPsPerSecond) {
    ++instant.seconds;
    instant.picoseconds = 0;
  }
  if (instant.picoseconds < 0) instant.picoseconds = 0;
  return instant;
}

std::optional<TraceInstant> ParseDateTime(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  constexpr size_t kBehindDate = 10;
  const char between =
      text.size() > kBehindDate && text[kBehindDate] == 'T' ? 'T' : ' ';
  TraceInstant instant;
  if (!TakeNumber(&text, 4, '-', &year) || !TakeNumber(&text, 2, '-', &month) ||
      !TakeNumber(&text, 2, between, &day) ||
      !TakeNumber(&text, 2, ':', &hour) ||
      !TakeNumber(&text, 2, ':', &minute) ||
      !TakeNumber(&text, 2, 0, &second) ||
      !TakeFraction(&text, &instant.picoseconds)) {
    return std::nullopt;
  }
  if (!text.empty() && text != "Z" && text != "+00:00") return std::nullopt;
  const std::chrono::year_month_day date{
      std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
      std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  instant.seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
  return instant;
}

std::optional<TimePs> TimeBetween(const TraceInstant& first,
                                  const TraceInstant& then, double speed_up) {
  const int64_t seconds = then.seconds - first.seconds;
  const int64_t picoseconds = then.picoseconds - first.picoseconds;
  const double span = (static_cast<double>(seconds) +
                       static_cast<double>(picoseconds) * 1e-12) /
                      speed_up;
  constexpr int64_t kMaxSeconds = kMaxServingTime.count() / kPsPerSecond;
  if (span > static_cast<double>(kMaxSeconds)) return std::nullopt;
  if (speed_up == 1) return TimePs(seconds * kPsPerSecond + picoseconds);
  return TimePs(std::llround(span * static_cast<double>(kPsPerSecond)));
}

}  // namespace astra
