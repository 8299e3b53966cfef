#include "astra-core/planner/internevo/evo_search.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/functional/function_ref.h"
#include "astra-core/planner/internevo/evo_config.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Returns the sizes that are tried for sp and wp, up to `most`.
std::vector<int64_t> GroupSizes(int64_t world, int64_t most) {
  constexpr int64_t kServer = 8;
  most = std::min(most, world);
  std::vector<int64_t> sizes = {1};
  const int64_t fine_end =
      world <= kServer ? most : std::min(most, kServer - 1);
  for (int64_t size = 2; size <= fine_end; size += 2) sizes.push_back(size);
  if (world <= kServer) return sizes;
  for (int64_t size = kServer; size <= most; size += kServer) {
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<int64_t> DivisorsOf(int64_t number) {
  std::vector<int64_t> divisors;
  std::vector<int64_t> large;
  for (int64_t low = 1; low * low <= number; ++low) {
    if (number % low != 0) continue;
    divisors.push_back(low);
    if (low * low != number) large.push_back(number / low);
  }
  divisors.insert(divisors.end(), large.rbegin(), large.rend());
  return divisors;
}

// Calls `visit` with each pair of pp and sp that divides the job.
void ForEachSplit(const EvoModel& model, int64_t seq_len, int64_t world,
                  absl::FunctionRef<void(const EvoLayout&)> visit) {
  for (int64_t pp = 1; pp <= std::min(world, model.layers); pp *= 2) {
    for (const int64_t sp : GroupSizes(world, model.kv_heads)) {
      const EvoLayout layout = {.pipeline = pp, .sequence = sp};
      if (CheckEvoLayout(model, seq_len, world, layout).ok()) visit(layout);
    }
  }
}

// Returns the sequences of a replica; 0 if the tokens do not divide, or make
// fewer than the stages.
int64_t SequencesOf(const EvoLayout& layout, int64_t seq_len, int64_t world,
                    int64_t tokens) {
  const int64_t unit = seq_len * DataReplicas(layout, world);
  if (tokens % unit != 0) return 0;
  const int64_t sequences = tokens / unit;
  return sequences >= layout.pipeline ? sequences : 0;
}

// Calls `visit` with each mode, wp and zp of a split, without micro-batches and
// recomputation.
void ForEachGroups(const EvoModel& model, int64_t seq_len, int64_t world,
                   EvoLayout layout,
                   absl::FunctionRef<void(const EvoLayout&)> visit) {
  const std::vector<int64_t> sizes = GroupSizes(world, world);
  for (const EvoMode mode : kEvoModes) {
    layout.mode = mode;
    for (const int64_t wp : sizes) {
      if (wp > 1 && mode != EvoMode::kIsp) break;
      layout.weight = wp;
      layout.zero = 1;
      if (!CheckEvoLayout(model, seq_len, world, layout).ok()) continue;
      for (const int64_t zp : DivisorsOf(WeightReplicas(layout, world))) {
        layout.zero = zp;
        visit(layout);
      }
    }
  }
}

bool IsBetter(const EvoSolution& a, const EvoSolution& b) {
  if (a.cost.tgs != b.cost.tgs) return a.cost.tgs > b.cost.tgs;
  return a.number < b.number;
}

class Searcher {
 public:
  Searcher(const EvoJob& job, const EvoSearchOptions& options)
      : job_(job), options_(options) {}

  EvoSearchResult Run() {
    ForEachSplit(job_.model, job_.seq_len, job_.cluster.world,
                 [this](const EvoLayout& split) { VisitSplit(split); });
    Trim();
    return std::move(result_);
  }

 private:
  void VisitSplit(const EvoLayout& split) {
    const int64_t world = job_.cluster.world;
    const int64_t sequences =
        SequencesOf(split, job_.seq_len, world, options_.tokens);
    if (sequences == 0) return;
    // Group shapes do not depend on the micro-batch.
    std::vector<std::pair<EvoLayout, bool>> shapes;
    ForEachGroups(
        job_.model, job_.seq_len, world, split, [&](const EvoLayout& layout) {
          std::vector<EvoKey> keys;
          const bool is_even = AppendKeys(layout, job_.cluster, &keys);
          shapes.emplace_back(layout, is_even);
        });
    for (const int64_t micro_bsz : DivisorsOf(sequences)) {
      const int64_t micro_num = sequences / micro_bsz;
      if (micro_num < split.pipeline) break;
      if (micro_bsz > kMostEvoTokens / job_.seq_len) break;
      const EvoWork work = WorkOf(job_, micro_bsz, split.sequence);
      for (auto& [layout, is_even] : shapes) {
        layout.micro_bsz = micro_bsz;
        layout.micro_num = micro_num;
        for (const double checkpoint : {0.0, 1.0}) {
          layout.checkpoint = checkpoint;
          Visit(layout, is_even, work);
        }
      }
    }
  }

  void Visit(const EvoLayout& layout, bool is_even, const EvoWork& work) {
    EvoSolution solution;
    solution.layout = layout;
    solution.number = result_.layouts++;
    if (!is_even) {
      ++result_.uneven;
      return;
    }
    solution.memory =
        MemoryOf(job_.model, job_.seq_len, job_.cluster.world, layout);
    if (!result_.least || solution.memory.total < result_.least->memory.total) {
      result_.least = solution;
    }
    if (solution.memory.total > options_.memory_bytes) {
      ++result_.beyond_memory;
      return;
    }
    ++result_.solved;
    solution.cost = CostOf(job_, layout, work);
    std::optional<EvoSolution>& best =
        result_.best_of_mode[static_cast<size_t>(layout.mode)];
    if (!best || IsBetter(solution, *best)) best = solution;
    result_.solutions.push_back(solution);
    constexpr size_t kSpare = 4096;
    if (result_.solutions.size() >= options_.most + kSpare) Trim();
  }

  // Sorts the solutions, and drops those that cannot be among the first.
  void Trim() {
    std::vector<EvoSolution>& all = result_.solutions;
    std::sort(all.begin(), all.end(), IsBetter);
    if (all.size() > options_.most) all.resize(options_.most);
  }

  const EvoJob& job_;
  const EvoSearchOptions& options_;
  EvoSearchResult result_;
};

}  // namespace

absl::Status CheckEvoBatch(const EvoModel& model, int64_t seq_len,
                           int64_t world, int64_t tokens) {
  int64_t nearest = 0;
  bool is_legal = false;
  ForEachSplit(model, seq_len, world, [&](const EvoLayout& split) {
    if (SequencesOf(split, seq_len, world, tokens) > 0) is_legal = true;
    const int64_t unit = seq_len * DataReplicas(split, world);
    for (const int64_t more : {0, 1}) {
      const int64_t batch =
          unit * std::max(tokens / unit + more, split.pipeline);
      const bool is_nearer =
          std::abs(batch - tokens) < std::abs(nearest - tokens);
      if (nearest == 0 || is_nearer) nearest = batch;
    }
  });
  if (is_legal) return absl::OkStatus();
  if (nearest == 0) {
    return absl::InvalidArgumentError(
        fmt::format("no sizes of groups divide the world size {}", world));
  }
  return absl::InvalidArgumentError(fmt::format(
      "{} tokens make no whole micro-batches on {} ranks: expected a multiple "
      "of seq_len {} x DP, with PP or more sequences for each of the DP "
      "replicas; the nearest is {}",
      tokens, world, seq_len, nearest));
}

std::vector<EvoKey> KeysOfSearch(const EvoModel& model, int64_t seq_len,
                                 const EvoCluster& cluster, int64_t tokens) {
  std::vector<EvoKey> keys;
  ForEachSplit(model, seq_len, cluster.world, [&](const EvoLayout& split) {
    if (SequencesOf(split, seq_len, cluster.world, tokens) == 0) return;
    ForEachGroups(model, seq_len, cluster.world, split,
                  [&](const EvoLayout& layout) {
                    std::vector<EvoKey> some;
                    if (!AppendKeys(layout, cluster, &some)) return;
                    keys.insert(keys.end(), some.begin(), some.end());
                  });
  });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

EvoSearchResult SearchEvo(const EvoJob& job, const EvoSearchOptions& options) {
  return Searcher(job, options).Run();
}

}  // namespace astra
