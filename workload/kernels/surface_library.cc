#include "workload/kernels/surface_library.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "astra-core/base/check.h"
#include "workload/kernels/surface_text.h"
#include "workload/operators/gpu_library.h"

namespace astra {

absl::Span<const EmbeddedFile> EmbeddedKernels();

struct SurfaceLibrary::File {
  EmbeddedFile text;
  SurfaceHead head;
  KernelPeaks peaks;
  std::once_flag is_read;
  std::vector<Surface> surfaces;
};

SurfaceLibrary::SurfaceLibrary(absl::Span<const EmbeddedFile> files)
    : loads_(std::make_unique<ExpertLoads>()) {
  for (const EmbeddedFile& text : files) {
    absl::StatusOr<SurfaceHead> head =
        ParseSurfaceHead(text.name, text.contents);
    ASTRA_CHECK(head.ok(), "{}", head.status().ToString());
    absl::StatusOr<GpuSpec> gpu = FindGpu(head->gpu);
    ASTRA_CHECK(gpu.ok() && gpu->name == head->gpu, "{}: GPU {}", text.name,
                head->gpu);
    files_.push_back(std::unique_ptr<File>(
        new File{text, *std::move(head), KernelPeaks(*gpu), {}, {}}));
    backends_.push_back(files_.back()->head.backend);
    const auto is_gpu = [&](const GpuSpec& g) { return g.name == gpu->name; };
    if (std::none_of(gpus_.begin(), gpus_.end(), is_gpu)) {
      gpus_.push_back(*std::move(gpu));
    }
  }
  std::sort(backends_.begin(), backends_.end());
  backends_.erase(std::unique(backends_.begin(), backends_.end()),
                  backends_.end());
}

SurfaceLibrary::~SurfaceLibrary() = default;

absl::Span<const Surface> SurfaceLibrary::Find(std::string_view gpu,
                                               const KernelFamily& family,
                                               std::string_view backend) const {
  for (const std::unique_ptr<File>& file : files_) {
    if (file->head.gpu != gpu || file->head.family != &family ||
        file->head.backend != backend) {
      continue;
    }
    std::call_once(file->is_read, [&] {
      absl::StatusOr<std::vector<SurfaceTimes>> all =
          ParseSurfaceText(file->text.name, file->text.contents);
      ASTRA_CHECK(all.ok(), "{}", all.status().ToString());
      for (SurfaceTimes& times : *all) {
        file->surfaces.emplace_back(std::move(times), file->peaks, *loads_);
      }
    });
    return file->surfaces;
  }
  return {};
}

std::vector<const GpuSpec*> SurfaceLibrary::NearestTo(
    const GpuSpec& gpu) const {
  const auto distance = [&gpu](const GpuSpec& other) {
    const double compute =
        std::log(other.peak_tflops[IndexOf(Precision::kBf16)] /
                 gpu.peak_tflops[IndexOf(Precision::kBf16)]);
    const double memory = std::log(other.memory_gb_per_s / gpu.memory_gb_per_s);
    return std::tuple(other.name != gpu.name, !IsSameArchitecture(other, gpu),
                      compute * compute + memory * memory);
  };
  std::vector<const GpuSpec*> gpus;
  for (const GpuSpec& other : gpus_) gpus.push_back(&other);
  std::stable_sort(gpus.begin(), gpus.end(),
                   [&](const GpuSpec* a, const GpuSpec* b) {
                     return distance(*a) < distance(*b);
                   });
  return gpus;
}

const SurfaceLibrary& BundledSurfaces() {
  static const auto& library = *new SurfaceLibrary(EmbeddedKernels());
  return library;
}

bool IsSameArchitecture(const GpuSpec& a, const GpuSpec& b) {
  const auto first = [](const GpuSpec& gpu) {
    return gpu.architecture.substr(0, gpu.architecture.find(' '));
  };
  return first(a) == first(b);
}

}  // namespace astra
