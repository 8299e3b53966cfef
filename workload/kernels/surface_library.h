// Holds the surfaces of inputs/kernels, which are compiled in, by GPU, family
// and backend.

#ifndef WORKLOAD_KERNELS_SURFACE_LIBRARY_H_
#define WORKLOAD_KERNELS_SURFACE_LIBRARY_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/embedded_file.h"
#include "workload/kernels/expert_load.h"
#include "workload/kernels/surface.h"
#include "workload/operators/gpu_spec.h"

namespace astra {

// Reads a file when it is first asked for; any thread may ask. A file that is
// wrong, or of a GPU that is not known, is a mistake of ours and ends the
// program.
class SurfaceLibrary {
 public:
  // `files` must outlive this object.
  explicit SurfaceLibrary(absl::Span<const EmbeddedFile> files);
  ~SurfaceLibrary();

  // Returns the surfaces of a GPU by its name, none if there are none.
  absl::Span<const Surface> Find(std::string_view gpu,
                                 const KernelFamily& family,
                                 std::string_view backend) const;

  // Returns the backends with surfaces, in alphabetical order.
  const std::vector<std::string_view>& backends() const { return backends_; }

  // Returns the GPUs that have surfaces, the nearest to `gpu` first: itself,
  // then those of its architecture, then by the distance of the logarithms of
  // BF16 peak and memory bandwidth.
  std::vector<const GpuSpec*> NearestTo(const GpuSpec& gpu) const;

  ExpertLoads& loads() const { return *loads_; }

 private:
  struct File;

  std::vector<std::unique_ptr<File>> files_;
  std::vector<std::string_view> backends_;
  std::vector<GpuSpec> gpus_;
  std::unique_ptr<ExpertLoads> loads_;
};

// Returns the surfaces of inputs/kernels.
const SurfaceLibrary& BundledSurfaces();

// Returns whether two GPUs have units of one generation: "Blackwell Ultra"
// counts as "Blackwell".
bool IsSameArchitecture(const GpuSpec& a, const GpuSpec& b);

}  // namespace astra

#endif  // WORKLOAD_KERNELS_SURFACE_LIBRARY_H_
