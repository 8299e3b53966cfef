#include "astra-core/apps/simai_environment.h"

#include <unistd.h>

#include <cstddef>
#include <iterator>

#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMaxSendLatencyUs = 1'000'000'000;

absl::Status WrongValue(std::string_view name, std::string_view value,
                        std::string_view expected) {
  return absl::InvalidArgumentError(
      fmt::format("{} is {} in the environment: expected {}", name,
                  Quoted(value), expected));
}

// Applies the variables one by one, by name.
class Reader {
 public:
  Reader(const SimaiOverrides& overrides, CollectiveFamily family,
         NcclOptions& nccl, SimaiSettings& settings)
      : overrides_(overrides),
        family_(family),
        nccl_(nccl),
        settings_(settings) {}

  absl::Status Read(std::string_view name, std::string_view value) {
    if (name == "AS_SEND_LAT") return ReadSendLatency(name, value);
    if (name == "AS_NVLS_ENABLE") return ReadNvls(name, value);
    if (name == "AS_PXN_ENABLE") return ReadPxn(name, value);
    if (name == "AS_LOG_LEVEL") return ReadLogLevel(name, value);
    settings_.warnings.push_back(
        fmt::format("{} is not read from the environment, only AS_SEND_LAT, "
                    "AS_NVLS_ENABLE, AS_PXN_ENABLE and AS_LOG_LEVEL are",
                    Quoted(name)));
    return absl::OkStatus();
  }

 private:
  // Reads microseconds. SimAI multiplies the value by 1000 to get nanoseconds.
  absl::Status ReadSendLatency(std::string_view name, std::string_view value) {
    const auto latency = ParseInteger("", value, 0, kMaxSendLatencyUs);
    if (!latency.ok()) {
      return WrongValue(name, value,
                        "a whole number of microseconds, such as 6");
    }
    if (overrides_.send_latency) {
      Note(name, value, "--send-latency goes before it");
      return absl::OkStatus();
    }
    if (!overrides_.has_messages) {
      settings_.warnings.push_back(
          fmt::format("{}={} in the environment has no effect with --fidelity "
                      "closed-form",
                      name, value));
      return absl::OkStatus();
    }
    settings_.send_latency = Microseconds(*latency);
    Note(name, value, fmt::format("--send-latency {}us", *latency));
    return absl::OkStatus();
  }

  absl::Status ReadNvls(std::string_view name, std::string_view value) {
    ASTRA_ASSIGN_OR_RETURN(const bool is_on, Flag(name, value));
    switch (family_) {
      case CollectiveFamily::kRing:
        WarnOfNoEffect(name, value);
        return absl::OkStatus();
      case CollectiveFamily::kNccl:
        return Apply(name, value, "NCCL_NVLS_ENABLE", is_on ? "1" : "0");
      case CollectiveFamily::kSimai:
        // SimAI's NVLS handles the reductions that it can; rings handle the
        // rest.
        return Apply(name, value, "NCCL_ALGO", is_on ? "NVLS" : "Ring");
    }
    return absl::OkStatus();
  }

  absl::Status ReadPxn(std::string_view name, std::string_view value) {
    ASTRA_ASSIGN_OR_RETURN(const bool is_on, Flag(name, value));
    if (family_ == CollectiveFamily::kNccl) {
      return Apply(name, value, "NCCL_PXN_DISABLE", is_on ? "0" : "1");
    }
    if (is_on) WarnOfNoEffect(name, value);
    return absl::OkStatus();
  }

  // Accepts SimAI's numbers, and the words that its documents use for them.
  absl::Status ReadLogLevel(std::string_view name, std::string_view value) {
    constexpr std::string_view kNumbers[] = {"0", "1", "2", "3"};
    constexpr std::string_view kWords[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    constexpr LogLevel kLevels[] = {LogLevel::kInfo, LogLevel::kInfo,
                                    LogLevel::kWarning, LogLevel::kError};
    constexpr std::string_view kMeanings[] = {
        "warnings and progress on stderr", "warnings and progress on stderr",
        "no progress on stderr", "neither warnings nor progress on stderr"};
    for (size_t i = 0; i < std::size(kLevels); ++i) {
      if (value != kNumbers[i] && value != kWords[i]) continue;
      settings_.log_level = kLevels[i];
      Note(name, value, kMeanings[i]);
      return absl::OkStatus();
    }
    return WrongValue(name, value, "0 to 3, or DEBUG, INFO, WARNING or ERROR");
  }

  static absl::StatusOr<bool> Flag(std::string_view name,
                                   std::string_view value) {
    if (value == "0" || value == "1") return value == "1";
    return WrongValue(name, value, "0 or 1");
  }

  absl::Status Apply(std::string_view name, std::string_view value,
                     std::string_view key, std::string_view setting) {
    if (overrides_.nccl.find(fmt::format("{}=", key)) != std::string::npos) {
      Note(name, value, "--nccl goes before it");
      return absl::OkStatus();
    }
    const std::string text = fmt::format("{}={}", key, setting);
    Note(name, value, fmt::format("--nccl {}", text));
    settings_.has_nccl = true;
    return ApplyNcclOption(text, &nccl_);
  }

  void WarnOfNoEffect(std::string_view name, std::string_view value) {
    settings_.warnings.push_back(
        fmt::format("{}={} in the environment has no effect with "
                    "--collectives {}",
                    name, value, Name(family_)));
  }

  void Note(std::string_view name, std::string_view value,
            std::string_view meaning) {
    settings_.sources.push_back(fmt::format("{}={}: {}", name, value, meaning));
  }

  const SimaiOverrides& overrides_;
  const CollectiveFamily family_;
  NcclOptions& nccl_;
  SimaiSettings& settings_;
};

}  // namespace

SimaiVariables SimaiVariablesOfProcess() {
  SimaiVariables variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (text.substr(0, kSimaiPrefix.size()) != kSimaiPrefix ||
        equals == std::string_view::npos) {
      continue;
    }
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

absl::StatusOr<SimaiSettings> ReadSimaiVariables(
    const SimaiVariables& variables, const SimaiOverrides& overrides,
    CollectiveFamily family, NcclOptions& nccl) {
  SimaiSettings settings;
  Reader reader(overrides, family, nccl, settings);
  for (const auto& [name, value] : variables) {
    ASTRA_RETURN_IF_ERROR(reader.Read(name, value));
  }
  return settings;
}

}  // namespace astra
