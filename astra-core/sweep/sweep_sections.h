// The sections of a sweep file that say how the programs are called.

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

// "FILE:LINE:COLUMN".
std::string PlaceOf(std::string_view file, const YamlValue& value);

// The sections of `programs` in `root`, that of a file called `file`, in the
// order in which they run: one program that runs, and those that write what it
// reads. The variables are not checked. Where they are not so, an error of the
// document.
std::vector<SweepSection> ReadSections(std::string_view file,
                                       YamlDocument& document, YamlFields& root,
                                       absl::Span<const SweptProgram> programs);

// What --NAME holds, if it is a flag's.
//
// Errors: InvalidArgument for another text than "true" and "false".
absl::StatusOr<bool> FlagOf(const SweepOption& option, std::string_view text);

}  // namespace astra

#endif  // ASTRA_CORE_SWEEP_SWEEP_SECTIONS_H_
