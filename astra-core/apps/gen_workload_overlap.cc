#include "astra-core/apps/gen_workload_overlap.h"

#include <vector>

#include "absl/strings/str_split.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/option_reading.h"
#include "fmt/core.h"

namespace astra {
namespace {

absl::Status ReadBucketSize(const CommandLine& flags, TrainingSetup& setup) {
  if (!flags.has("bucket-size")) return absl::OkStatus();
  if (!setup.overlap_gradients && !setup.overlap_parameters) {
    constexpr std::string_view kNames[] = {"bucket-size"};
    ASTRA_RETURN_IF_ERROR(
        Refuse(flags, kNames,
               "there is no --overlap-grad-reduce or --overlap-param-gather"));
  }
  constexpr int64_t kMaxParameters = int64_t{1} << 40;
  ASTRA_ASSIGN_OR_RETURN(setup.bucket_size,
                         flags.integer("bucket-size", 1, 1, kMaxParameters));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Overlaps> ParseOverlapOption(const std::string& text,
                                            char separator) {
  if (text == "none") return Overlaps();
  const std::vector<std::string> names = absl::StrSplit(text, separator);
  absl::StatusOr<Overlaps> overlaps = ParseOverlaps(names);
  if (overlaps.ok()) return overlaps;
  return absl::InvalidArgumentError(
      fmt::format("--overlap: {}", std::string(overlaps.status().message())));
}

absl::Status ReadOverlaps(const CommandLine& flags, Overlaps& overlaps) {
  if (!flags.has("overlap")) return absl::OkStatus();
  constexpr std::string_view kSingle[] = {"overlap-grad-reduce",
                                          "overlap-param-gather", "tp-overlap",
                                          "shared-expert-overlap"};
  ASTRA_RETURN_IF_ERROR(Refuse(flags, kSingle, "--overlap says them all"));
  ASTRA_ASSIGN_OR_RETURN(overlaps,
                         ParseOverlapOption(*flags.value("overlap"), ','));
  return absl::OkStatus();
}

absl::Status ReadOverlap(const CommandLine& flags, const Framework& framework,
                         const ModelSpec& model, TrainingSetup& setup) {
  if (setup.zero >= Zero::kGradients && flags.has("overlap-grad-reduce")) {
    return absl::InvalidArgumentError(
        "--overlap-grad-reduce has no effect: ZeRO 2 and 3 always overlap");
  }
  if (setup.zero != Zero::kOptimizer && flags.has("overlap-param-gather")) {
    return absl::InvalidArgumentError(
        "--overlap-param-gather has no effect: it is of ZeRO 1");
  }
  SetOverlaps(framework.overlaps, model.HasSharedExperts(), setup);
  setup.overlap_gradients |= flags.has("overlap-grad-reduce");
  setup.overlap_parameters |= flags.has("overlap-param-gather");
  setup.tensor_overlap |= flags.has("tp-overlap");
  setup.shared_expert_overlap |= flags.has("shared-expert-overlap");
  setup.overlap_messages = !flags.has("no-message-overlap");
  return ReadBucketSize(flags, setup);
}

}  // namespace astra
