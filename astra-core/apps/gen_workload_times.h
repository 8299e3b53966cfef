// Where gen_workload has its times from.

#ifndef ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_
#define ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/measured_model.h"
#include "workload/operators/roofline.h"

namespace astra {

// The formulas of a GPU, with what tables of measurements say in front of them.
// Stays where it is made, since its parts refer to one another.
class GpuTimes {
 public:
  // Reads `tables`; those that do not name a GPU were measured on `table_gpu`,
  // or are refused where it is empty.
  // Names of GPUs in tables may be aliases.
  //
  // Errors: those of ReadOperatorTable; InvalidArgument for a table of a GPU
  // that nobody has described.
  static absl::StatusOr<std::unique_ptr<GpuTimes>> Create(
      const GpuSpec& gpu, const std::vector<std::string>& tables,
      const std::string& table_gpu, Warnings* warnings);

  GpuTimes(const GpuTimes&) = delete;
  GpuTimes& operator=(const GpuTimes&) = delete;

  const ComputeModel& model() const {
    return measured_model_ ? static_cast<const ComputeModel&>(*measured_model_)
                           : roofline_;
  }

 private:
  explicit GpuTimes(const GpuSpec& gpu) : roofline_(gpu) {}

  Roofline roofline_;
  std::vector<std::unique_ptr<Roofline>> others_;  // Of GPUs in tables.
  std::optional<MeasuredOperators> measured_;
  std::optional<MeasuredModel> measured_model_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_
