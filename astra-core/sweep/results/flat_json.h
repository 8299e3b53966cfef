// Reads JSON objects and arrays that contain no other objects or arrays. The
// results store holds hundreds of thousands of them.

#ifndef ASTRA_CORE_SWEEP_RESULTS_FLAT_JSON_H_
#define ASTRA_CORE_SWEEP_RESULTS_FLAT_JSON_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/sweep/execution/point_record.h"

namespace astra {

struct FlatJson {
  // Numbers and texts, each in the order of the JSON. Array items have empty
  // names.
  std::vector<Metric> numbers;
  std::vector<std::pair<std::string, std::string>> texts;

  // Replaces the contents by what `text` holds, without nulls. Returns false if
  // `text` is not an object or array, or holds anything but numbers and texts.
  bool Read(std::string_view text);

  // Returns the texts without their names.
  std::vector<std::string> Texts() const;
};

// Reads the texts of each array in the JSON object `text`, in the order of the
// object. Returns false if `text` is anything else.
bool ReadTextLists(std::string_view text,
                   std::vector<std::vector<std::string>>* lists);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_RESULTS_FLAT_JSON_H_
