// Bytes that each rank sends to each other rank in a step, for a heat map.
//
//   all-to-all      a share to every other rank of the group
//   p2p             to the next stage, and back
//   all others      around a ring of the group, as NCCL's rings do: (n - 1) / n
//                   of the buffer for n ranks, twice that for an all-reduce;
//                   broadcasts by all in turn send as much as an all-gather
//
// Every stage reduces and broadcasts as many parameters as the largest, as it
// is priced. InternEvo's simulator spreads every collective over all pairs of
// its group.
//
// Source of the idea: github.com/SolenoidWGT/InternEvo, branch
// feat/new_split_pg, internlm/simulator/profiler/perf_comm.py, draw_heatmap().

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_TRAFFIC_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_TRAFFIC_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_model.h"

namespace astra {

class TrafficMatrix {
 public:
  explicit TrafficMatrix(int64_t ranks)
      : ranks_(ranks), bytes_(static_cast<size_t>(ranks * ranks)) {}

  int64_t ranks() const { return ranks_; }
  double at(int64_t from, int64_t to) const {
    return bytes_[static_cast<size_t>(from * ranks_ + to)];
  }
  void Add(int64_t from, int64_t to, double bytes) {
    bytes_[static_cast<size_t>(from * ranks_ + to)] += bytes;
  }

 private:
  int64_t ranks_;
  std::vector<double> bytes_;  // By sender, then by receiver.
};

// Most ranks of a matrix, which takes 8 bytes for each pair.
constexpr int64_t kMostTrafficRanks = 2048;

// Requires a layout that CheckEvoLayout allows, and at most kMostTrafficRanks
// ranks.
TrafficMatrix TrafficOf(const EvoModel& model, int64_t seq_len, int64_t world,
                        const EvoLayout& layout);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_TRAFFIC_H_
