// Reads the sections of a sweep file that call the programs.

#ifndef ASTRA_CORE_SWEEP_SWEEP_SECTIONS_H_
#define ASTRA_CORE_SWEEP_SWEEP_SECTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/sweep/sweep.h"

namespace astra {

// Returns the place of `value`, "FILE:LINE:COLUMN".
std::string PlaceOf(std::string_view file, const YamlValue& value);

// Returns the sections of `programs` in `root`, the root of the file `file`, in
// the order in which they run: one program that runs, and the programs that
// write its inputs. Anything else is recorded as an error in the document.
// Variables are not checked.
std::vector<SweepSection> ReadSections(std::string_view file,
                                       YamlDocument& document, YamlFields& root,
                                       absl::Span<const SweptProgram> programs);

// Returns the value of the flag --NAME as a truth value.
//
// Errors: InvalidArgument for a text other than "true" and "false".
absl::StatusOr<bool> FlagOf(const SweepOption& option, std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_SECTIONS_H_
