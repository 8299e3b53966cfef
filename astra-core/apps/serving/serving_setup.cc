#include "astra-core/apps/serving/serving_setup.h"

#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/run/fidelity.h"
#include "nlohmann/json.hpp"

namespace astra {

absl::StatusOr<std::unique_ptr<ServingSetup>> ServingSetup::Create(
    const ServingJob& job, const std::optional<DecodePool>& decode,
    const FabricOptions& options, Warnings* warnings, FabricNetwork network) {
  auto setup = std::make_unique<ServingSetup>();
  const bool has_network = NetworkOf(options.fidelity) != nullptr;
  if (!decode && !has_network && !options.load_weights) return setup;
  const DecodePool* const pool = decode ? &*decode : nullptr;
  const StorageServer storage = {options.storage_first_gpu};
  ASTRA_ASSIGN_OR_RETURN(
      setup->cluster_,
      ServingCluster::Create(
          job, pool,
          options.load_weights == WeightSource::kStorage ? &storage : nullptr));
  if (decode) {
    ASTRA_ASSIGN_OR_RETURN(
        setup->pools_,
        ServingPools::Create(job, *decode, *setup->cluster_, warnings));
    setup->side_ = std::make_unique<DecodeSide>(setup->pools_->Side());
  }
  if (options.load_weights) {
    ASTRA_ASSIGN_OR_RETURN(
        setup->weights_,
        WeightsRun::Create(*options.load_weights, job, pool, *setup->cluster_));
  }
  if (!has_network) return setup;
  ASTRA_ASSIGN_OR_RETURN(
      setup->fabric_,
      FabricRun::Create(options, job, *setup->cluster_, setup->pools_.get(),
                        std::move(network), warnings));
  if (decode) setup->fabric_->Use(*setup->side_);
  if (setup->weights_) setup->fabric_->Load(setup->weights_->loads());
  return setup;
}

ServingParts ServingSetup::parts() {
  ServingParts parts{.decode = side_.get(), .network = fabric_.get()};
  if (weights_ == nullptr) return parts;
  parts.load_weights =
      fabric_ == nullptr ? weights_->ClosedForm() : fabric_->StartOfWeights();
  return parts;
}

absl::Status ServingSetup::status() const {
  if (pools_ != nullptr) ASTRA_RETURN_IF_ERROR(pools_->status());
  return fabric_ == nullptr ? absl::OkStatus() : fabric_->status();
}

void ServingSetup::Describe(std::string* page) const {
  if (weights_ != nullptr) {
    weights_->Describe(
        fabric_ == nullptr ? absl::Span<const TimePs>() : fabric_->load_times(),
        page);
  }
  if (fabric_ != nullptr) fabric_->Describe(page);
}

void ServingSetup::AddTo(nlohmann::ordered_json& json) const {
  if (weights_ != nullptr) {
    weights_->AddTo(
        fabric_ == nullptr ? absl::Span<const TimePs>() : fabric_->load_times(),
        json);
  }
  if (fabric_ != nullptr) fabric_->AddTo(json);
}

}  // namespace astra
