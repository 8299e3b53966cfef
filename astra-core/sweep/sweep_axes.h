// The axes of a sweep file.

#ifndef ASTRA_CORE_SWEEP_SWEEP_AXES_H_
#define ASTRA_CORE_SWEEP_SWEEP_AXES_H_

#include <string>
#include <string_view>

#include "astra-core/base/yaml_reader.h"
#include "astra-core/sweep/sweep.h"

namespace astra {

// The text of `value`, which must be a scalar that can stand in a command
// line; else null, and an error of the document: "WHAT is a list: EXPECTED".
const std::string* ReadScalar(YamlDocument& document, const YamlValue& value,
                              std::string_view what, std::string_view expected);

// The axis called `name`: a list of values or of mappings, or a range. Where it
// is none of these, an error of the document. The names are not checked.
SweepAxis ReadAxis(YamlDocument& document, std::string_view name,
                   const YamlValue& value);

// The axis "seed", of what stands behind "repeats". Errors as above.
SweepAxis ReadRepeats(YamlDocument& document, const YamlValue& value);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_AXES_H_
