#include "astra-core/apps/serving/decoding.h"

#include "astra-core/apps/serving/simai_serving_options.h"
#include "astra-core/base/status_macros.h"

namespace astra {

absl::StatusOr<std::unique_ptr<Decoding>> DecodingOf(
    const SimaiServingOptions& options, Warnings* warnings) {
  auto decoding = std::make_unique<Decoding>();
  if (!options.decode) return decoding;
  ASTRA_ASSIGN_OR_RETURN(
      decoding->pools,
      ServingPools::Create(options.job, *options.decode, warnings));
  decoding->side = std::make_unique<DecodeSide>(decoding->pools->Side());
  if (NetworkOf(options.fabric.fidelity) == nullptr) return decoding;
  ASTRA_ASSIGN_OR_RETURN(decoding->fabric,
                         FabricRun::Create(options.fabric, options.job,
                                           *decoding->pools, warnings));
  decoding->fabric->Use(*decoding->side);
  return decoding;
}

}  // namespace astra
