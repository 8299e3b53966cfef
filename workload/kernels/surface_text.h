// Reads the text form of surfaces, as scripts/derive_surfaces.py writes it:
//
//   # Comments: what it is, its source, its licence.
//   gpu=h100-sxm;family=gemm;backend=vllm
//   @bfloat16;floor_us=1.8;m=1,2,4;columns=n,k
//   32,32,~%cPP
//
// The second line names the GPU, the family (families of family.cc) and the
// backend; for experts also their kernels. A line with "@" begins a surface:
// its words, its floor (surface.h), the points of its axes, and the columns of
// its lines, which are the sizes of the family; experts have one more, the
// position of their kernel. Then follows a line for each shape, by ascending
// sizes, with a time for each point, the last axis innermost.
//
// A time is a whole number of steps of 0.01 of the natural logarithm of
// microseconds. What stands in the text is its difference r from
// left + above - above left, where `above` is the last line that has a time at
// the point; times outside count as 0:
//
//   one character, of code 80 + r          where r is from -45 to 45
//   "~" and two of codes 35 + a, 35 + b    r = 91 a + b - 4140
//   a space                                not measured; no time is left of it
//
// Times missing at the end of a line are left out.

#ifndef WORKLOAD_KERNELS_SURFACE_TEXT_H_
#define WORKLOAD_KERNELS_SURFACE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "workload/kernels/surface.h"

namespace astra {

// The first line of a file that is no comment.
struct SurfaceHead {
  std::string gpu;
  const KernelFamily* family = nullptr;
  std::string backend;
  std::vector<std::string> kernels;  // Kernels of experts.
};

// Largest grid of a surface.
constexpr size_t kMaxSurfacePoints = 1024;

// Reads the head alone, which is quick. Errors: those of ParseSurfaceText.
absl::StatusOr<SurfaceHead> ParseSurfaceHead(std::string_view file,
                                             std::string_view text);

// Reads all surfaces of a file.
//
// Errors: InvalidArgument "FILE:LINE:COLUMN: ..." for a line that does not have
// this form, and for sizes that are not ascending.
absl::StatusOr<std::vector<SurfaceTimes>> ParseSurfaceText(
    std::string_view file, std::string_view text);

}  // namespace astra

#endif  // WORKLOAD_KERNELS_SURFACE_TEXT_H_
