// Provides the times of operators for gen_workload.

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

// Times of operators on a GPU: measured times from tables where there are any,
// else formulas. The object does not move, since its parts refer to one
// another.
class GpuTimes {
 public:
  // Reads `tables`. A table that does not name a GPU was measured on
  // `table_gpu`, and is refused if `table_gpu` is empty. Tables may name GPUs
  // by aliases.
  //
  // Errors: those of ReadOperatorTable; InvalidArgument for a table of a GPU
  // that has no description.
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
  // Formulas of GPUs in tables.
  std::vector<std::unique_ptr<Roofline>> others_;
  std::optional<MeasuredOperators> measured_;
  std::optional<MeasuredModel> measured_model_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_
