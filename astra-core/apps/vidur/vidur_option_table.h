// The options of simai_vidur: the flags of `python -m vidur.main`, with its
// names.
//
// Source: Vidur (microsoft/vidur, MIT), vidur/config/config.py, whose fields
// become the flags.

#ifndef ASTRA_CORE_APPS_VIDUR_VIDUR_OPTION_TABLE_H_
#define ASTRA_CORE_APPS_VIDUR_VIDUR_OPTION_TABLE_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/command_line/command_line.h"

namespace astra {

// Vidur's names of schedulers, and ours in the same order.
inline constexpr std::array<std::string_view, 5> kVidurSchedulers = {
    "sarathi", "vllm", "orca", "faster_transformer", "lightllm"};
inline constexpr std::array<std::string_view, 5> kSchedulersOfVidur = {
    "sarathi", "vllm-v0", "orca", "faster-transformer", "lightllm"};

// The same for routers, which Vidur calls global schedulers.
inline constexpr std::array<std::string_view, 3> kVidurRouters = {
    "round_robin", "random", "lor"};
inline constexpr std::array<std::string_view, 3> kRoutersOfVidur = {
    "round-robin", "random", "least-loaded"};

absl::Span<const OptionSpec> SimaiVidurOptionSpecs();

// Checks that no option was given that begins with `prefix`. Errors:
// InvalidArgument "--NAME has no effect: WHY".
absl::Status RefuseOptionsOf(const CommandLine& flags, std::string_view prefix,
                             std::string_view why);

// Returns the text of --help.
std::string SimaiVidurHelp();

absl::Span<const CommandExample> SimaiVidurExamples();

}  // namespace astra

#endif  // ASTRA_CORE_APPS_VIDUR_VIDUR_OPTION_TABLE_H_
