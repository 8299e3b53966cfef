// Provides the times of operators for gen_workload.

#ifndef ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_
#define ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/base/log.h"
#include "workload/kernels/kernel_model.h"
#include "workload/kernels/kernel_predictor.h"
#include "workload/kernels/kernel_table.h"
#include "workload/operators/fitted_model.h"
#include "workload/operators/gpu_spec.h"
#include "workload/operators/measured_model.h"
#include "workload/operators/roofline.h"

namespace astra {

// Which measured kernels go before formulas.
struct TimesChoice {
  KernelUse use = KernelUse::kInference;
  bool attention = true;  // Those of attention too.
  // The engine that runs the kernels; see KernelPredictor. Empty: none.
  std::string engine = {};
};

// Times of operators on a GPU: measured times from tables where there are any,
// else trees that were fitted to tables, else measured kernels, else formulas.
// The object does not move, since its parts refer to one another.
class GpuTimes {
 public:
  // Reads `tables`, which are of operators, of kernels of this GPU
  // (kernel_table.h), or trees that were fitted to operators of this GPU
  // (fitted_operators.h). A table that does not name a GPU was
  // measured on `table_gpu`, and is refused if `table_gpu` is empty. Tables may
  // name GPUs by aliases.
  //
  // Errors: those of ReadOperatorTable and ParseFittedOperators;
  // InvalidArgument for trees of another GPU, or a second file of trees;
  // InvalidArgument for a table of a GPU that has no description, and for one
  // of kernels that cannot be used; those of SurfacesOf.
  static absl::StatusOr<std::unique_ptr<GpuTimes>> Create(
      const GpuSpec& gpu, const std::vector<std::string>& tables,
      const std::string& table_gpu, const TimesChoice& choice,
      Warnings* warnings);

  GpuTimes(const GpuTimes&) = delete;
  GpuTimes& operator=(const GpuTimes&) = delete;

  const ComputeModel& model() const {
    if (measured_model_) return *measured_model_;
    return base();
  }

  // Returns the model by trees, or none.
  const FittedModel* fitted() const { return fitted_ ? &*fitted_ : nullptr; }

 private:
  // A model of one GPU times the operators that no table of operators has.
  struct GpuModel {
    GpuModel(const GpuSpec& gpu, const TimesChoice& choice);
    GpuModel(const GpuModel&) = delete;
    GpuModel& operator=(const GpuModel&) = delete;

    Roofline roofline;
    KernelPredictor kernels;
    KernelModel model;
  };

  GpuTimes(const GpuSpec& gpu, const TimesChoice& choice)
      : choice_(choice), own_(gpu, choice) {}

  // Returns what times operators that no table has.
  const ComputeModel& base() const {
    if (fitted_) return *fitted_;
    return own_.model;
  }

  absl::Status AddTable(const std::string& table, const GpuSpec& gpu,
                        const std::string& table_gpu, Warnings* warnings);
  absl::Status AddTrees(const std::string& table, std::string_view contents,
                        const GpuSpec& gpu);
  absl::Status AddKernels(const KernelTable& table, const GpuSpec& gpu,
                          const std::string& table_gpu);
  absl::Status AddSamples(const std::string& table, const GpuSpec& gpu,
                          std::vector<OperatorSample> samples);

  TimesChoice choice_;
  GpuModel own_;
  std::optional<FittedModel> fitted_;
  std::vector<std::unique_ptr<GpuModel>> others_;  // Other GPUs in tables.
  MeasuredModel::Rooflines rooflines_;
  std::vector<OperatorSample> samples_;
  std::optional<MeasuredOperators> measured_;
  std::optional<MeasuredModel> measured_model_;
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_GEN_WORKLOAD_TIMES_H_
