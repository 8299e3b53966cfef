#include "astra-core/apps/run_output.h"

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "fmt/format.h"

namespace astra {

absl::StatusOr<RunOutput> ReadRunOutput(const CommandLine& flags,
                                        std::string_view otherwise) {
  RunOutput output;
  output.name = flags.value("result").value_or(std::string(otherwise));
  if (output.name.empty() || output.name.find('/') != std::string::npos ||
      output.name == "." || output.name == ".." || !IsPlain(output.name)) {
    return absl::InvalidArgumentError(
        fmt::format("--result is {}: expected a name without \"/\" and control "
                    "characters; see -o",
                    Quoted(output.name)));
  }
  output.folder =
      flags.value("output").value_or(fmt::format("results/{}", output.name));
  if (output.folder.empty()) {
    return absl::InvalidArgumentError("--output is empty: expected a folder");
  }
  return output;
}

}  // namespace astra
