#include "astra-core/apps/gen_workload_times.h"

#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "fmt/ranges.h"
#include "workload/kernels/surface_library.h"
#include "workload/operators/gpu_library.h"
#include "workload/operators/operator_table.h"

namespace astra {

GpuTimes::GpuModel::GpuModel(const GpuSpec& gpu, const TimesChoice& choice)
    : roofline(gpu),
      kernels(gpu, BundledSurfaces()),
      model(kernels, roofline, choice.use, choice.attention) {
  kernels.SetEngine(choice.engine);
}

absl::StatusOr<std::unique_ptr<GpuTimes>> GpuTimes::Create(
    const GpuSpec& gpu, const std::vector<std::string>& tables,
    const std::string& table_gpu, const TimesChoice& choice,
    Warnings* warnings) {
  std::unique_ptr<GpuTimes> times(new GpuTimes(gpu, choice));
  for (const std::string& table : tables) {
    ASTRA_RETURN_IF_ERROR(times->AddTable(table, gpu, table_gpu, warnings));
  }
  if (times->samples_.empty()) return times;
  times->rooflines_[gpu.name] = &times->base();
  times->measured_.emplace(std::move(times->samples_));
  times->measured_model_.emplace(gpu.name, *times->measured_,
                                 times->rooflines_);
  return times;
}

absl::Status GpuTimes::AddTable(const std::string& table, const GpuSpec& gpu,
                                const std::string& table_gpu,
                                Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(table));
  if (IsFittedOperators(contents)) return AddTrees(table, contents, gpu);
  if (IsKernelTable(contents)) {
    ASTRA_ASSIGN_OR_RETURN(const KernelTable kernels,
                           ParseKernelTable(table, contents));
    return AddKernels(kernels, gpu, table_gpu);
  }
  ASTRA_ASSIGN_OR_RETURN(
      std::vector<OperatorSample> samples,
      ParseAnyOperatorTable(table, contents, table_gpu, warnings));
  return AddSamples(table, gpu, std::move(samples));
}

absl::Status GpuTimes::AddTrees(const std::string& table,
                                std::string_view contents, const GpuSpec& gpu) {
  ASTRA_ASSIGN_OR_RETURN(FittedOperators operators,
                         ParseFittedOperators(table, contents));
  if (operators.gpu != gpu.name) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: the trees are of the GPU {}, and times are wanted of {}", table,
        Quoted(operators.gpu), gpu.name));
  }
  if (fitted_) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: there are trees already: fit one file to all tables", table));
  }
  fitted_.emplace(std::move(operators), own_.model);
  return absl::OkStatus();
}

absl::Status GpuTimes::AddKernels(const KernelTable& table, const GpuSpec& gpu,
                                  const std::string& table_gpu) {
  if (!table_gpu.empty()) {
    ASTRA_ASSIGN_OR_RETURN(const GpuSpec measured, FindGpu(table_gpu));
    if (measured.name != gpu.name) {
      return absl::InvalidArgumentError(
          fmt::format("{}: a table of kernels must be of the GPU {}, not of {}",
                      table.file, gpu.name, measured.name));
    }
  }
  ASTRA_ASSIGN_OR_RETURN(std::vector<SurfaceTimes> surfaces,
                         SurfacesOf(table, gpu.name));
  for (SurfaceTimes& times : surfaces) {
    if (!TakesFamily(choice_.use, times.family->name)) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: kernels of {} are for --phase prefill or decode; training takes "
          "those of {}",
          table.file, times.family->name,
          fmt::join(kFamiliesOfTraining, ", ")));
    }
    own_.kernels.AddOwn(std::move(times));
  }
  return absl::OkStatus();
}

absl::Status GpuTimes::AddSamples(const std::string& table, const GpuSpec& gpu,
                                  std::vector<OperatorSample> samples) {
  for (OperatorSample& sample : samples) {
    if (sample.gpu != gpu.name && rooflines_.count(sample.gpu) == 0) {
      const absl::StatusOr<GpuSpec> other = FindGpu(sample.gpu);
      if (!other.ok()) {
        return absl::InvalidArgumentError(
            fmt::format("{}:{}:{}: {}", table, sample.line, sample.column,
                        std::string(other.status().message())));
      }
      sample.gpu = other->name;
      if (sample.gpu != gpu.name && rooflines_.count(sample.gpu) == 0) {
        others_.push_back(std::make_unique<GpuModel>(*other, choice_));
        rooflines_[sample.gpu] = &others_.back()->model;
      }
    }
    samples_.push_back(std::move(sample));
  }
  return absl::OkStatus();
}

}  // namespace astra
