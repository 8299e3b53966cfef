// Searches all layouts with which InternEvo can train, as its simulator does:
//
// clang-format off
//   pp     powers of two, up to the ranks and the layers
//   sp     1, 2, 4, 6, 8, 16, 24, ... up to the ranks and the key heads; with
//          eight ranks or fewer all even numbers
//   wp     the same, up to the ranks; 1 but in isp
//   zp     all divisors of the replicas
//   ckpt   0 or 1
//   micro  all (micro_bsz, micro_num) that make the batch, with as many
//          micro-batches as stages at least
// clang-format on
//
// of those whose sizes divide one another (CheckEvoLayout). The batch is in
// tokens. The best has the most tokens per GPU and second (TGS); of equal ones
// the first in the order above wins.
//
// InternEvo's simulator keeps the solution with the least TGS as its best, in
// its final answer and for each mode; only its list of the first six is right.
// It also tries zp that do not divide the replicas, which cannot run.
//
// Source: github.com/SolenoidWGT/InternEvo, branch feat/new_split_pg,
// simulation_train_formulaic.py (run_loop); CokeDong/InternEvo, branch
// simulator, internlm/simulator/utils.py.

#ifndef ASTRA_CORE_PLANNER_INTERNEVO_EVO_SEARCH_H_
#define ASTRA_CORE_PLANNER_INTERNEVO_EVO_SEARCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/planner/internevo/evo_cost.h"
#include "astra-core/planner/internevo/evo_layout.h"
#include "astra-core/planner/internevo/evo_memory.h"

namespace astra {

struct EvoSolution {
  EvoLayout layout;
  EvoCost cost;
  EvoMemory memory;
  int64_t number = 0;  // In the order of the search.
};

struct EvoSearchOptions {
  int64_t tokens = 0;       // Of a step.
  double memory_bytes = 0;  // That a GPU has for a layout.
  size_t most = 1;          // Solutions to return.
};

struct EvoSearchResult {
  std::vector<EvoSolution> solutions;  // The most TGS first.
  std::array<std::optional<EvoSolution>, std::size(kEvoModes)> best_of_mode;
  // The layout with the least memory, priced or not; its cost is not set.
  std::optional<EvoSolution> least;
  // Numbers of layouts whose sizes divide one another; they add up to
  // `layouts`.
  int64_t layouts = 0;
  int64_t uneven = 0;  // With a group that lies unevenly on servers.
  int64_t beyond_memory = 0;
  int64_t solved = 0;
};

// Checks that the tokens of a step make whole micro-batches for at least one
// layout.
//
// Errors: InvalidArgument that names the rule and the nearest batch that does.
absl::Status CheckEvoBatch(const EvoModel& model, int64_t seq_len,
                           int64_t world, int64_t tokens);

// Returns the tables that the search reads, sorted, none twice.
std::vector<EvoKey> KeysOfSearch(const EvoModel& model, int64_t seq_len,
                                 const EvoCluster& cluster, int64_t tokens);

// The profile of `job` must have all KeysOfSearch().
EvoSearchResult SearchEvo(const EvoJob& job, const EvoSearchOptions& options);

}  // namespace astra

#endif  // ASTRA_CORE_PLANNER_INTERNEVO_EVO_SEARCH_H_
