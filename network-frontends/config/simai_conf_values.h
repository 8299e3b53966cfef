// Parses the values that follow one key of SimAI.conf.

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

using RateMap = std::map<int64_t, double>;  // Value by rate in bit/s.

// All functions return InvalidArgument "FILE:LINE:COLUMN: ..." where a value is
// missing, superfluous or malformed.
class SimaiConfValues {
 public:
  static constexpr int64_t kMostMicroseconds = 1'000'000'000;
  static constexpr int64_t kMostSteps = 1'000'000;

  // `tokens` are the key and its values; `reader` stands at their line. Both
  // must outlive the object.
  SimaiConfValues(const TextReader& reader, absl::Span<const Token> tokens)
      : reader_(reader), key_(tokens.front()), values_(tokens.subspan(1)) {}

  const Token& key() const { return key_; }

  // Checks that the key has `count` values.
  absl::Status Expect(size_t count) const;

  // Parse the i-th value. Require that it exists.
  absl::Status Integer(size_t i, int64_t min, int64_t max,
                       int64_t* value) const;
  absl::Status Number(size_t i, double min, double max, double* value) const;

  // Parse the only value of the key.
  absl::Status One(int64_t min, int64_t max, int64_t* value) const;
  absl::Status One(double min, double max, double* value) const;
  absl::Status One(bool* value) const;      // Accepts 0 or 1.
  absl::Status One(uint32_t* value) const;  // Accepts at most kMostSteps.
  absl::Status One(TimePs* value) const;  // Reads microseconds, with decimals.
  absl::Status One(Bandwidth* value) const;  // Reads a rate with its unit.

  // Parses "2 RATE VALUE RATE VALUE": a count, then rates in bit/s with their
  // values. No rate may occur twice, and no value may exceed `max`.
  absl::Status Map(double max, std::optional<RateMap>* map) const;

  // Returns an error that points at the i-th value.
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
