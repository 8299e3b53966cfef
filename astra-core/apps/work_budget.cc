#include "astra-core/apps/work_budget.h"

#include "astra-core/base/free_memory.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/format.h"

namespace astra {
namespace {

std::string TimeText(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.0f} h", seconds / kHour);
}

}  // namespace

std::string DescribeWork(const WorkBudget& work) {
  constexpr double kShortSeconds = 10;
  if (work.seconds < kShortSeconds && work.memory_bytes < kBytesPerGib)
    return "";
  return fmt::format("estimate   up to about {} and {:.1f} GiB\n",
                     TimeText(work.seconds), work.memory_bytes / kBytesPerGib);
}

absl::Status CheckWork(const WorkBudget& work, double free_bytes) {
  if (work.memory_bytes <= free_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format(
      "this needs up to about {:.1f} GiB of memory, and {:.1f} GiB are "
      "free; --force runs it all the same",
      work.memory_bytes / kBytesPerGib, free_bytes / kBytesPerGib));
}

absl::Status AnnounceWork(const WorkBudget& work, bool is_forced) {
  if (!is_forced) {
    ASTRA_RETURN_IF_ERROR(
        CheckWork(work, static_cast<double>(FreeMemoryBytes())));
  }
  const std::string text = DescribeWork(work);
  if (text.empty()) return absl::OkStatus();
  Print(text);
  return FlushStdout();
}

}  // namespace astra
