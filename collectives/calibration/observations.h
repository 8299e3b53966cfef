// Predicts the times of collectives that were measured.

#ifndef COLLECTIVES_CALIBRATION_OBSERVATIONS_H_
#define COLLECTIVES_CALIBRATION_OBSERVATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/units.h"
#include "collectives/calibration/calibrated_constants.h"
#include "collectives/nccl/nccl_options.h"
#include "collectives/systems/system_spec.h"

namespace astra {

// A collective of all `num_gpus` GPUs that was timed.
struct Observation {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  uint32_t num_gpus = 2;
  uint32_t gpus_per_server = 1;
  NcclOptions options;
  Bytes bytes;
  double time_us = 0;
};

// Returns a number for each observation: observations that differ only in their
// time have the same one. Numbers count from 0, in the order in which they
// first occur.
std::vector<size_t> MeasurementIds(absl::Span<const Observation> observations);

// Returns one observation for each measurement, with the median of its times:
// of an even number of times, the lower of the two in the middle. They are in
// the order of MeasurementIds.
std::vector<Observation> MediansOf(absl::Span<const Observation> observations);

struct Prediction {
  double log_error = 0;  // log(predicted / measured).
  // Pattern of the algorithm; see CalibratedConstant.
  std::string_view pattern;
};

// Predicts observations on systems that differ only in their constants. Lays
// out each cluster once, and each algorithm once for all sizes.
class Predictor {
 public:
  // `observations` must outlive the object.
  //
  // Errors: InvalidArgument "observation N: ..." (from 1) for one with fewer
  // than 2 GPUs, less than 1 byte, or a time that is not above 0, and with the
  // errors of BuildSystemTopology.
  static absl::StatusOr<Predictor> Create(
      const SystemSpec& system, absl::Span<const Observation> observations);
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) = delete;

  // Returns the predictions by observation.
  //
  // Errors: "observation N: ..." with the errors of CollectiveTimes.
  absl::StatusOr<std::vector<Prediction>> Predict(const SystemSpec& system);

  // Updates the predictions on which `constant` can have an effect.
  absl::Status PredictAgain(const SystemSpec& system,
                            const CalibratedConstant& constant,
                            std::vector<Prediction>* predictions);

 private:
  struct Cluster;
  // Observations that differ only in size and time.
  struct Sweep {
    Cluster* cluster;
    std::vector<size_t> members;
  };

  explicit Predictor(absl::Span<const Observation> observations);
  absl::StatusOr<Cluster*> ClusterOf(const SystemSpec& system,
                                     const Observation& observation);
  bool CanMatter(const CalibratedConstant& constant, size_t i,
                 const Prediction& prediction) const;
  absl::Status PredictMembers(const SystemSpec& system, const Sweep& sweep,
                              const std::vector<size_t>& members,
                              std::vector<Prediction>* predictions);

  absl::Span<const Observation> observations_;
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Cluster>> clusters_;
  std::vector<Sweep> sweeps_;
};

}  // namespace astra

#endif  // COLLECTIVES_CALIBRATION_OBSERVATIONS_H_
