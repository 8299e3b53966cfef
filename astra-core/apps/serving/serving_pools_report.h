// Describes a deployment with separate pools in the page and in run.json.

#ifndef ASTRA_CORE_APPS_SERVING_SERVING_POOLS_REPORT_H_
#define ASTRA_CORE_APPS_SERVING_SERVING_POOLS_REPORT_H_

#include <cstdint>
#include <string>

#include "astra-core/apps/serving/serving_pool_options.h"
#include "astra-core/apps/serving/serving_run.h"
#include "astra-core/serving/step_prices.h"
#include "nlohmann/json_fwd.hpp"
#include "workload/serving/batching_options.h"

namespace astra {

// Returns "TP 8, PP 2"; sizes of 1 other than TP are left out.
std::string LayoutText(const ServingLayout& layout);

// Returns the blocks of a cache: "9629 blocks of 16", and how many of them each
// sequence takes beside those of its positions.
std::string BlocksText(const BatchingOptions& options);

// Adds the same to run.json or plan.json.
void AddBlocks(int64_t num_blocks, const HeldBlocks& held,
               nlohmann::ordered_json& json);

// Appends the line that describes the replicas which decode.
void AppendDecodePool(const DecodePool& pool, std::string* page);

// Appends what the steps and caches of each pool did.
void AppendPoolUse(const ServingRun& run, std::string* page);

// Adds the pool, and what the steps and caches of each pool did, to run.json.
void AddPools(const DecodePool& pool, const ServingRun& run,
              nlohmann::ordered_json& json);

}  // namespace astra

#endif  // ASTRA_CORE_APPS_SERVING_SERVING_POOLS_REPORT_H_
