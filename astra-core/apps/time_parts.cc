#include "astra-core/apps/time_parts.h"

namespace astra {
namespace {

enum Part : size_t {
  kCompute,
  kSlowed,
  kTp,
  kCp,
  kEp,
  kDp,
  kLate,
  kMessages,
  kBubble,
  kHost,
  kIdle,
};

}  // namespace

size_t TimePartOf(ParallelDimension dimension) {
  switch (dimension) {
    case ParallelDimension::kTensor:
      return kTp;
    case ParallelDimension::kContext:
      return kCp;
    case ParallelDimension::kExpert:
    case ParallelDimension::kExpertTensor:
      return kEp;
    case ParallelDimension::kData:
    case ParallelDimension::kDataExpert:
      return kDp;
    case ParallelDimension::kPipeline:
      return kMessages;
  }
  return kMessages;
}

size_t TimePartOf(TimeCategory category,
                  std::optional<ParallelDimension> dimension) {
  switch (category) {
    case TimeCategory::kCompute:
      return kCompute;
    case TimeCategory::kSlowed:
      return kSlowed;
    case TimeCategory::kNetwork:
      return dimension ? TimePartOf(*dimension) : kMessages;
    case TimeCategory::kLate:
      return kLate;
    case TimeCategory::kTransfer:
      return kMessages;
    case TimeCategory::kBubble:
      return kBubble;
    case TimeCategory::kHost:
      return kHost;
    case TimeCategory::kIdle:
      return kIdle;
  }
  return kIdle;
}

}  // namespace astra
