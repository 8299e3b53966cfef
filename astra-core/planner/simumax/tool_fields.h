// Reads the fields of a JSON object that another tool wrote. A null value
// counts as absent, and keys that nobody reads are warnings.

#ifndef ASTRA_CORE_PLANNER_SIMUMAX_TOOL_FIELDS_H_
#define ASTRA_CORE_PLANNER_SIMUMAX_TOOL_FIELDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/base/log.h"
#include "astra-core/base/yaml_reader.h"

namespace astra {

struct IntegerRange {
  int64_t min = 0;
  int64_t max = int64_t{1} << 40;
};

struct NumberRange {
  double min = 0;
  double max = 1e12;
};

class ToolFields {
 public:
  // All must outlive the object.
  ToolFields(std::string_view file, YamlFields fields, Warnings* warnings)
      : file_(file), fields_(std::move(fields)), warnings_(warnings) {}

  bool Has(std::string_view key);

  // Each returns `otherwise` for an absent key; without it, the key is
  // required.
  int64_t Integer(std::string_view key, IntegerRange range,
                  std::optional<int64_t> otherwise = {});
  double Number(std::string_view key, NumberRange range,
                std::optional<double> otherwise = {});
  bool Flag(std::string_view key, std::optional<bool> otherwise = {});
  std::string Text(std::string_view key,
                   std::optional<std::string> otherwise = {});
  std::vector<std::string> Texts(std::string_view key);

  // Returns the object `key`; an absent one is empty. `what` names it in
  // messages.
  ToolFields Object(std::string_view key, std::string_view what);
  // Return the numbers of object `key`, whose keys are free, or numbers of
  // ranks. An absent object is empty.
  std::map<std::string, double> Numbers(std::string_view key,
                                        NumberRange range);
  std::map<int64_t, double> ByRanks(std::string_view key, NumberRange range);

  std::vector<std::string> keys() const { return fields_.keys(); }

  void Error(std::string_view key, std::string_view message) {
    fields_.Error(key, message);
  }
  // Returns "FILE:LINE:COLUMN" of `key`, which must be there.
  std::string Place(std::string_view key);
  // Warns at the place of `key`, which must be there.
  void Warn(std::string_view key, std::string_view message);
  // Marks keys as known.
  void Ignore(std::string_view key) { Has(key); }
  // Warns of the keys that nobody read.
  void WarnOfOthers();

 private:
  std::string_view file_;
  YamlFields fields_;
  Warnings* warnings_;
  std::vector<std::string> asked_;
};

// Return "; the nearest are A and B": the multiples of `factor`, or the
// divisors of `number`, around `value`. All are above 0. The text names one
// where the other does not exist.
std::string NearestMultiples(int64_t value, int64_t factor);
std::string NearestDivisors(int64_t value, int64_t number);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_SIMUMAX_TOOL_FIELDS_H_
