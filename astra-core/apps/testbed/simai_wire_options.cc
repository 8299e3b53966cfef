#include "astra-core/apps/testbed/simai_wire_options.h"

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_wire --topology FILE [options]\n"
    "\n"
    "Makes a network namespace for each GPU of a topology file and carries "
    "what\n"
    "they send over the links of that file, at their rates and latencies. "
    "Needs\n"
    "root. scripts/testbed/testbed starts it.\n";

constexpr OptionSpec kOptions[] = {
    {"topology", "n", "FILE", "Bed", "the topology file"},
    {"queue-kib", "", "N", "Bed",
     "KiB of the queue before each link of a switch (default 65536)"},
    {"hold", "", "TIME", "Bed",
     "longest wait of a packet for the rest of its train (default 600us)"},
    {"seed", "", "N", "Bed", "of paths, as in a network file (default 1)"},
    {"until-eof", "", "", "Bed", "end when standard input ends"},
};

}  // namespace

absl::Span<const OptionSpec> SimaiWireOptionSpecs() { return kOptions; }

std::string SimaiWireHelp() { return HelpText(kUsage, kOptions); }

absl::StatusOr<SimaiWireOptions> ReadSimaiWireOptions(
    const CommandLine& flags) {
  constexpr int64_t kMostKib = int64_t{1} << 30;
  SimaiWireOptions options;
  ASTRA_RETURN_IF_ERROR(Require(flags, "topology"));
  options.topology = *flags.value("topology");
  ASTRA_ASSIGN_OR_RETURN(const int64_t queue,
                         flags.integer("queue-kib", 65536, 1, kMostKib));
  options.wire.fabric.queue = KiB(queue);
  ASTRA_ASSIGN_OR_RETURN(const int64_t seed,
                         flags.integer("seed", 1, 0, INT64_MAX));
  options.wire.fabric.seed = static_cast<uint64_t>(seed);
  const absl::StatusOr<TimePs> hold =
      ParseTime(flags.value("hold").value_or("600us"));
  if (!hold.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("--hold: {}", std::string(hold.status().message())));
  }
  options.wire.hold = *hold;
  options.until_eof = flags.has("until-eof");
  return options;
}

}  // namespace astra
