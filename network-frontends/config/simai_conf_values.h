// The values behind one key of SimAI.conf.

#ifndef NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_VALUES_H_
#define NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/text_reader.h"
#include "astra-core/base/units.h"

namespace astra {

using RateMap = std::map<int64_t, double>;  // By rate in bits per second.

// Errors of all functions: InvalidArgument "FILE:LINE:COLUMN: ..." where a
// value is missing, one too many, or none of what is meant.
class SimaiConfValues {
 public:
  static constexpr int64_t kMostMicroseconds = 1'000'000'000;
  static constexpr int64_t kMostSteps = 1'000'000;

  // `tokens` are the key and its values; `reader` stands at their line. Both
  // must outlive the object.
  SimaiConfValues(const TextReader& reader, absl::Span<const Token> tokens)
      : reader_(reader), key_(tokens.front()), values_(tokens.subspan(1)) {}

  const Token& key() const { return key_; }

  // That there are so many values.
  absl::Status Expect(size_t count) const;

  // The i-th value, which must be there.
  absl::Status Integer(size_t i, int64_t min, int64_t max,
                       int64_t* value) const;
  absl::Status Number(size_t i, double min, double max, double* value) const;

  // The only value.
  absl::Status One(int64_t min, int64_t max, int64_t* value) const;
  absl::Status One(double min, double max, double* value) const;
  absl::Status One(bool* value) const;       // 0 or 1.
  absl::Status One(uint32_t* value) const;   // Up to kMostSteps.
  absl::Status One(TimePs* value) const;     // In us, with decimals.
  absl::Status One(Bandwidth* value) const;  // With its unit.

  // "2 RATE VALUE RATE VALUE": a count, then rates in bit/s, none twice, with
  // values of at most `max`.
  absl::Status Map(double max, std::optional<RateMap>* map) const;

  // An error at the i-th value.
  absl::Status Error(size_t i, std::string_view message) const {
    return reader_.Error(values_[i], message);
  }

 private:
  const TextReader& reader_;
  Token key_;
  absl::Span<const Token> values_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_CONFIG_SIMAI_CONF_VALUES_H_
