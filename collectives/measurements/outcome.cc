#include "collectives/measurements/outcome.h"

#include "collectives/measurements/measured_environment.h"

namespace astra {

std::optional<bool> AgreesOnAlgorithm(const MeasuredRow& row,
                                      const Outcome& outcome) {
  if (!row.environment.algorithm || !outcome.ok()) return std::nullopt;
  return AlgorithmNamed(outcome.algorithm) == row.environment.algorithm;
}

}  // namespace astra
