#include "astra-core/apps/serving/decoding.h"

#include "astra-core/base/status_macros.h"
#include "astra-core/run/fidelity.h"

namespace astra {

absl::StatusOr<std::unique_ptr<Decoding>> DecodingOf(
    const ServingJob& prefill, const std::optional<DecodePool>& pool,
    const FabricOptions& fabric, Warnings* warnings) {
  auto decoding = std::make_unique<Decoding>();
  if (!pool) return decoding;
  ASTRA_ASSIGN_OR_RETURN(decoding->pools,
                         ServingPools::Create(prefill, *pool, warnings));
  decoding->side = std::make_unique<DecodeSide>(decoding->pools->Side());
  if (NetworkOf(fabric.fidelity) == nullptr) return decoding;
  ASTRA_ASSIGN_OR_RETURN(
      decoding->fabric,
      FabricRun::Create(fabric, prefill, *decoding->pools, warnings));
  decoding->fabric->Use(*decoding->side);
  return decoding;
}

}  // namespace astra
