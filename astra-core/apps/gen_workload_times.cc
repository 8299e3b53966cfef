#include "astra-core/apps/gen_workload_times.h"

#include <iterator>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/operator_table.h"

namespace astra {

absl::StatusOr<std::unique_ptr<GpuTimes>> GpuTimes::Create(
    const GpuSpec& gpu, const std::vector<std::string>& tables,
    const std::string& table_gpu, Warnings* warnings) {
  std::unique_ptr<GpuTimes> times(new GpuTimes(gpu));
  if (tables.empty()) return times;

  MeasuredModel::Rooflines rooflines = {{gpu.name, &times->roofline_}};
  std::vector<OperatorSample> all;
  for (const std::string& table : tables) {
    ASTRA_ASSIGN_OR_RETURN(std::vector<OperatorSample> samples,
                           ReadOperatorTable(table, table_gpu, warnings));
    for (OperatorSample& sample : samples) {
      if (rooflines.count(sample.gpu) == 0) {
        const absl::StatusOr<GpuSpec> other = FindGpu(sample.gpu);
        if (!other.ok()) {
          return absl::InvalidArgumentError(
              fmt::format("{}:{}:{}: {}", table, sample.line, sample.column,
                          std::string(other.status().message())));
        }
        sample.gpu = other->name;
        if (rooflines.count(sample.gpu) == 0) {
          times->others_.push_back(std::make_unique<Roofline>(*other));
          rooflines[sample.gpu] = times->others_.back().get();
        }
      }
      all.push_back(std::move(sample));
    }
  }
  times->measured_.emplace(std::move(all));
  times->measured_model_.emplace(gpu.name, *times->measured_,
                                 std::move(rooflines));
  return times;
}

}  // namespace astra
