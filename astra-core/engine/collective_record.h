// What is known of a collective before it runs.

#ifndef ASTRA_CORE_ENGINE_COLLECTIVE_RECORD_H_
#define ASTRA_CORE_ENGINE_COLLECTIVE_RECORD_H_

#include "astra-core/engine/collective_costs.h"
#include "astra-core/engine/collective_lowering.h"
#include "astra-core/engine/collective_service.h"
#include "astra-core/engine/communicators.h"
#include "astra-core/engine/result.h"

namespace astra {

// Returns the record of a call over `group`, without times. `messages` is null
// for a closed form.
CollectiveRecord RecordOf(const Call& call, const Communicator& group,
                          const CollectiveCost& cost,
                          const CollectiveMessages* messages);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_COLLECTIVE_RECORD_H_
