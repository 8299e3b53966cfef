#include "network-frontends/config/simai_conf_values.h"

#include <string>

#include "absl/status/statusor.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMostEcnEntries = 1'000;

}  // namespace

absl::Status SimaiConfValues::Expect(size_t count) const {
  if (values_.size() < count) {
    return reader_.ErrorAtEnd(
        fmt::format("{} needs {} value(s)", key_.text, count));
  }
  if (values_.size() == count) return absl::OkStatus();
  return reader_.Error(
      values_[count],
      fmt::format("{} after the {} value(s) of {}", Quoted(values_[count].text),
                  count, key_.text));
}

absl::Status SimaiConfValues::Integer(size_t i, int64_t min, int64_t max,
                                      int64_t* value) const {
  const absl::StatusOr<int64_t> number =
      ParseInteger(key_.text, values_[i].text, min, max);
  if (!number.ok()) return Error(i, std::string(number.status().message()));
  *value = *number;
  return absl::OkStatus();
}

absl::Status SimaiConfValues::Number(size_t i, double min, double max,
                                     double* value) const {
  const absl::StatusOr<double> number =
      ParseNumber(key_.text, values_[i].text, min, max);
  if (!number.ok()) return Error(i, std::string(number.status().message()));
  *value = *number;
  return absl::OkStatus();
}

absl::Status SimaiConfValues::One(int64_t min, int64_t max,
                                  int64_t* value) const {
  ASTRA_RETURN_IF_ERROR(Expect(1));
  return Integer(0, min, max, value);
}

absl::Status SimaiConfValues::One(double min, double max, double* value) const {
  ASTRA_RETURN_IF_ERROR(Expect(1));
  return Number(0, min, max, value);
}

absl::Status SimaiConfValues::One(bool* value) const {
  int64_t number = 0;
  ASTRA_RETURN_IF_ERROR(One(0, 1, &number));
  *value = number == 1;
  return absl::OkStatus();
}

absl::Status SimaiConfValues::One(uint32_t* value) const {
  int64_t number = 0;
  ASTRA_RETURN_IF_ERROR(One(0, kMostSteps, &number));
  *value = static_cast<uint32_t>(number);
  return absl::OkStatus();
}

absl::Status SimaiConfValues::One(TimePs* value) const {
  double us = 0;
  ASTRA_RETURN_IF_ERROR(One(0.0, static_cast<double>(kMostMicroseconds), &us));
  *value = ShareOf(us, Microseconds(1));
  return absl::OkStatus();
}

absl::Status SimaiConfValues::One(Bandwidth* value) const {
  ASTRA_RETURN_IF_ERROR(Expect(1));
  const absl::StatusOr<Bandwidth> rate = ParseBandwidth(values_[0].text);
  if (rate.ok()) {
    *value = *rate;
    return absl::OkStatus();
  }
  return Error(0, fmt::format("{}: {}", key_.text,
                              std::string(rate.status().message())));
}

absl::Status SimaiConfValues::Map(double max,
                                  std::optional<RateMap>* map) const {
  if (values_.empty()) return Expect(1);
  int64_t count = 0;
  ASTRA_RETURN_IF_ERROR(Integer(0, 0, kMostEcnEntries, &count));
  ASTRA_RETURN_IF_ERROR(Expect(static_cast<size_t>(1 + 2 * count)));
  map->emplace();
  for (size_t i = 1; i < values_.size(); i += 2) {
    int64_t rate = 0;
    double value = 0;
    ASTRA_RETURN_IF_ERROR(Integer(i, 1, Gbps(1'000'000).count(), &rate));
    ASTRA_RETURN_IF_ERROR(Number(i + 1, 0, max, &value));
    if (!(*map)->emplace(rate, value).second) {
      return Error(i,
                   fmt::format("{}: rate {} is there twice", key_.text, rate));
    }
  }
  return absl::OkStatus();
}

}  // namespace astra
