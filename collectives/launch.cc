#include "collectives/launch.h"

#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/check.h"
#include "astra-core/base/names.h"

namespace astra {

std::string_view Name(Launch launch) {
  switch (launch) {
    case Launch::kQueued:
      return "queued";
    case Launch::kGraph:
      return "graph";
    case Launch::kHost:
      return "host";
  }
  ASTRA_CHECK(false, "launch {}", static_cast<int>(launch));
}

absl::StatusOr<Launch> FindLaunch(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Launch launch : {Launch::kQueued, Launch::kGraph, Launch::kHost}) {
    if (Name(launch) == name) return launch;
    names.push_back(Name(launch));
  }
  return absl::InvalidArgumentError(UnknownName("--launch", name, names));
}

}  // namespace astra
