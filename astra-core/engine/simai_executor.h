// SimAI's executor delays each message before it hands it to the network; this
// file says by how much.
//
// Each message spends 10 ns on a memory bus. 30 ns more are for reading and
// writing what a message of a ring reduces, but which messages those are is a
// matter of counting: a rank counts the messages of each ring in cycles as long
// as the group, whose first message never takes the 30 ns. In a reduce-scatter
// all others do. In an all-reduce one flag, which every cycle of every ring
// turns, says whether they do: with an even number of rings they never do, and
// with an odd one those of the first cycle do.
//
// SimAI works out the length of a cycle of a data-parallel group from the
// number of nodes, in which it includes the NVSwitches.
//
// Source: SimAI v1.6, astra-sim/system: NcclTreeFlowModel.cc (insert_packet),
// PacketBundle.cc, MemBus.cc; and the starts of single messages in its runs on
// ns-3: on 256 GPUs with 32 NVSwitches, rings of 32 have cycles of 36.

#ifndef ASTRA_CORE_ENGINE_SIMAI_EXECUTOR_H_
#define ASTRA_CORE_ENGINE_SIMAI_EXECUTOR_H_

#include <string_view>

#include "astra-core/base/collective_kind.h"
#include "astra-core/base/parallel_dimension.h"
#include "astra-core/engine/message_costs.h"
#include "collectives/group_layout.h"
#include "topology/topology.h"

namespace astra {

// Returns the costs of the messages of a collective that SimAI carries out with
// `algorithm` over a group with `layout`, added to `of_all`, the costs of every
// message.
MessageCosts SimaiExecutorCosts(std::string_view algorithm, CollectiveKind kind,
                                ParallelDimension dimension,
                                const GroupLayout& layout,
                                const Topology& topology, MessageCosts of_all);

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SIMAI_EXECUTOR_H_
