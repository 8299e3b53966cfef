// JSON objects and arrays without others in them, as the results store keeps
// them by the hundred thousand.

#ifndef ASTRA_CORE_SWEEP_RESULTS_FLAT_JSON_H_
#define ASTRA_CORE_SWEEP_RESULTS_FLAT_JSON_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/sweep/execution/point_record.h"

namespace astra {

struct FlatJson {
  // In their order. In an array they have no names.
  std::vector<Metric> numbers;
  std::vector<std::pair<std::string, std::string>> texts;

  // Replaces what is in it by what `text` holds, without what is null. False
  // where that is no object or array, or holds anything but numbers and texts.
  bool Read(std::string_view text);

  // The texts without their names.
  std::vector<std::string> Texts() const;
};

// Reads the texts of each array in the JSON object `text`, in its order. False
// where `text` is anything else.
bool ReadTextLists(std::string_view text,
                   std::vector<std::vector<std::string>>* lists);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_FLAT_JSON_H_
