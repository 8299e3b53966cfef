// Reads the axes of a sweep file.

#ifndef ASTRA_CORE_SWEEP_SWEEP_AXES_H_
#define ASTRA_CORE_SWEEP_SWEEP_AXES_H_

#include <string>
#include <string_view>

#include "astra-core/base/yaml_reader.h"
#include "astra-core/sweep/sweep.h"

namespace astra {

// Returns the text of `value`, which must be a scalar that can stand in a
// command line. Otherwise returns null and records an error in the document:
// "WHAT is a list: EXPECTED".
const std::string* ReadScalar(YamlDocument& document, const YamlValue& value,
                              std::string_view what, std::string_view expected);

// Reads the axis called `name`: a list of values, a list of mappings, or a
// range. Anything else is recorded as an error in the document. Names are not
// checked.
SweepAxis ReadAxis(YamlDocument& document, std::string_view name,
                   const YamlValue& value);

// Reads the value of "repeats" as the axis "seed". Errors as for ReadAxis().
SweepAxis ReadRepeats(YamlDocument& document, const YamlValue& value);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_AXES_H_
