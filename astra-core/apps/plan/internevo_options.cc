#include "astra-core/apps/plan/internevo_options.h"

#include <string>
#include <string_view>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {

bool AsksForInternEvo(const CommandLine& flags) {
  return flags.has("run-all-solu") || flags.has("config");
}

absl::Status RefuseInternEvo(const CommandLine& flags) {
  constexpr std::string_view kBatch[] = {"global-batch-size"};
  ASTRA_RETURN_IF_ERROR(
      Refuse(flags, kBatch,
             "tokens of a step go with --run_all_solu or --config; "
             "--global-batch is in sequences"));
  constexpr std::string_view kOthers[] = {"profile", "attention-speed",
                                          "draw-heatmap"};
  ASTRA_RETURN_IF_ERROR(
      Refuse(flags, kOthers, "there is no --run_all_solu or --config"));
  const std::string model = flags.value("model").value_or("");
  if (!ParseInteger("", model).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "--model is {}: a size in billions goes with --run_all_solu; expected a "
      "model's name or file",
      Quoted(model)));
}

}  // namespace astra
