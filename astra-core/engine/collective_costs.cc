#include "astra-core/engine/collective_costs.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

std::vector<std::vector<RankId>> AllGroups(const ParallelPlan& plan,
                                           ParallelDimension dimension) {
  std::vector<std::vector<RankId>> groups;
  groups.reserve(plan.NumGroups(dimension));
  for (uint32_t g = 0; g < plan.NumGroups(dimension); ++g) {
    groups.push_back(plan.Ranks(dimension, g));
  }
  return groups;
}

void AddIfUsed(const Communication& what, const ParallelPlan& plan,
               CollectiveSizes& used) {
  if (what.bytes > Bytes(0) && plan.GroupSize(what.dimension) > 1) {
    used[{what.dimension, what.kind}].insert(what.bytes);
  }
}

void AddPipelineMessage(Bytes message, const ParallelPlan& plan,
                        CollectiveSizes& used) {
  AddIfUsed({CollectiveKind::kSendRecv, ParallelDimension::kPipeline, message},
            plan, used);
}

// Fills in what NCCL would do with each of `sizes`.
absl::Status AddNccl(CollectiveKind kind, const std::set<Bytes>& sizes,
                     std::vector<std::vector<RankId>> groups,
                     const NcclSystem& nccl, bool with_messages, Routes& routes,
                     CollectiveCost* cost) {
  const std::vector<Bytes> list(sizes.begin(), sizes.end());
  ASTRA_ASSIGN_OR_RETURN(
      CollectiveTimes times,
      CollectiveTimes::Create(kind, std::move(groups), nccl.system,
                              nccl.options, routes));
  ASTRA_ASSIGN_OR_RETURN(cost->class_of_group, times.Classify(list));
  std::vector<size_t> first_group;  // By class: they are numbered in order.
  for (size_t group = 0; group < cost->class_of_group.size(); ++group) {
    if (cost->class_of_group[group] == first_group.size()) {
      first_group.push_back(group);
    }
  }
  for (const Bytes bytes : list) {
    std::vector<TimedCollective>& timed = cost->sized[bytes];
    for (const size_t group : first_group) {
      ASTRA_ASSIGN_OR_RETURN(timed.emplace_back(), times.Time(group, bytes));
      // Groups that lie differently may choose differently.
      std::vector<double>& link_bytes =
          cost->link_bytes_per_byte[timed.back().registry_name];
      if (link_bytes.empty()) {
        ASTRA_ASSIGN_OR_RETURN(const absl::Span<const double> laid,
                               times.LinkBytesPerByte(group, bytes));
        link_bytes.assign(laid.begin(), laid.end());
      }
      if (!with_messages) continue;
      ASTRA_ASSIGN_OR_RETURN(cost->messages[bytes].emplace_back(),
                             times.Messages(group, bytes));
    }
  }
  return absl::OkStatus();
}

}  // namespace

TimedCollective CollectiveCost::Time(uint32_t group, Bytes bytes) const {
  if (!sized.empty()) return sized.at(bytes)[class_of_group[group]];
  const ClosedForms::Group& form = forms.groups[group];
  TimedCollective timed;
  timed.algorithm = algorithm.name;
  timed.registry_name = timed.algorithm;
  timed.protocol = "-";
  timed.time = form.form.TimeOf(bytes);
  timed.transfer = timed.time - std::min(timed.time, form.form.latency);
  timed.is_latency_bound = form.form.latency + form.form.latency > timed.time;
  timed.bottleneck = form.bottleneck;
  return timed;
}

absl::Span<const double> CollectiveCost::LinkBytesPerByte(
    std::string_view registry_name) const {
  return sized.empty() ? forms.link_bytes_per_byte
                       : link_bytes_per_byte.at(registry_name);
}

CollectiveSizes UsedCollectives(const Program& program,
                                const ParallelPlan& plan) {
  CollectiveSizes used;
  AddPipelineMessage(StageMessageBytes(program), plan, used);
  for (const ProgramModule& module : program.modules()) {
    for (const std::vector<Step>& steps : module.passes) {
      for (const Step& step : steps) AddIfUsed(step.communication, plan, used);
    }
  }
  return used;
}

namespace {

// `status` with the collective that it is about.
absl::Status Named(const absl::Status& status, const Communication& what,
                   const std::vector<RankId>& ranks) {
  return absl::Status(
      status.code(),
      fmt::format("the {} of {} over {}, {} ranks from rank {}: {}",
                  Name(what.kind), what.bytes, Name(what.dimension),
                  ranks.size(), ranks.front(), std::string(status.message())));
}

// The algorithm that forms are laid out for.
absl::StatusOr<CollectiveAlgorithm> AlgorithmOf(
    const CostKey& key, const std::vector<std::vector<RankId>>& groups,
    const CostSetting& setting, const Topology& topology) {
  const auto [dimension, kind] = key;
  if (setting.family != CollectiveFamily::kSimai) {
    return DefaultCollectiveAlgorithm(kind);
  }
  std::optional<CollectiveAlgorithm> common;
  for (const std::vector<RankId>& ranks : groups) {
    ASTRA_ASSIGN_OR_RETURN(
        const CollectiveAlgorithm chosen,
        SimaiAlgorithm(kind, dimension, GroupLayout::Of(ranks, topology),
                       setting.simai));
    if (common && common->name != chosen.name) {
      return absl::UnimplementedError(fmt::format(
          "SimAI would run the {} of some {} groups as {} and of others as {}",
          Name(kind), Name(dimension), common->name, chosen.name));
    }
    common = chosen;
  }
  return *common;
}

// Sets what the collective costs over `groups` without anything that software
// adds.
absl::Status LayForms(const CostKey& key,
                      const std::vector<std::vector<RankId>>& groups,
                      const CostSetting& setting, Routes& routes,
                      CollectiveCost& cost) {
  ASTRA_ASSIGN_OR_RETURN(cost.algorithm,
                         AlgorithmOf(key, groups, setting, routes.topology()));
  ASTRA_ASSIGN_OR_RETURN(cost.forms,
                         LayOnLinks(cost.algorithm, groups, routes));
  return absl::OkStatus();
}

// The cost over `groups`, all of which run the collective at once.
absl::StatusOr<CollectiveCost> CostOf(
    const CostKey& key, const std::set<Bytes>& sizes,
    const std::vector<std::vector<RankId>>& groups, const CostSetting& setting,
    Routes& routes) {
  const auto [dimension, kind] = key;
  CollectiveCost cost;
  if (const absl::Status status = LayForms(key, groups, setting, routes, cost);
      !status.ok()) {
    return setting.family == CollectiveFamily::kSimai
               ? Named(status, {kind, dimension, *sizes.begin()},
                       groups.front())
               : status;
  }
  const std::optional<double> gb_per_s = setting.measured.Find(dimension, kind);
  if (!gb_per_s && setting.family == CollectiveFamily::kNccl) {
    ASTRA_RETURN_IF_ERROR(AddNccl(kind, sizes, groups, *setting.nccl,
                                  setting.with_messages, routes, &cost));
  }
  if (!gb_per_s) return cost;
  cost.is_measured = true;
  const auto size = static_cast<uint32_t>(groups.front().size());
  for (ClosedForms::Group& group : cost.forms.groups) {
    group.form = AtBusBandwidth(kind, size, *gb_per_s);
  }
  return cost;
}

void AddTo(std::vector<double>& sums, absl::Span<const double> values) {
  sums.resize(std::max(sums.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

// Adds `more`, the cost over the groups with the numbers `numbers`.
void Merge(CollectiveCost more, absl::Span<const uint32_t> numbers,
           CollectiveCost& cost) {
  cost.algorithm = more.algorithm;
  cost.is_measured = more.is_measured;
  const auto first_class = static_cast<uint32_t>(
      cost.sized.empty() ? 0 : cost.sized.begin()->second.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    cost.forms.groups[numbers[i]] = more.forms.groups[i];
    if (more.sized.empty()) continue;
    cost.class_of_group.resize(cost.forms.groups.size());
    cost.class_of_group[numbers[i]] = first_class + more.class_of_group[i];
  }
  AddTo(cost.forms.link_bytes_per_byte, more.forms.link_bytes_per_byte);
  for (auto& [bytes, timed] : more.sized) {
    std::move(timed.begin(), timed.end(),
              std::back_inserter(cost.sized[bytes]));
  }
  for (auto& [bytes, messages] : more.messages) {
    std::move(messages.begin(), messages.end(),
              std::back_inserter(cost.messages[bytes]));
  }
  for (const auto& [algorithm, per_byte] : more.link_bytes_per_byte) {
    AddTo(cost.link_bytes_per_byte[algorithm], per_byte);
  }
}

}  // namespace

std::vector<std::vector<uint32_t>> WavesOf(
    absl::Span<const std::vector<RankId>> pairs) {
  struct Wave {
    std::vector<bool> sends;     // By rank.
    std::vector<bool> receives;  // By rank.
    std::vector<uint32_t> numbers;
  };
  uint32_t num_ranks = 0;
  for (const std::vector<RankId>& pair : pairs) {
    num_ranks = std::max(
        {num_ranks, pair.front().index() + 1, pair.back().index() + 1});
  }
  std::vector<Wave> waves;
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    const uint32_t sender = pairs[i].front().index();
    const uint32_t receiver = pairs[i].back().index();
    auto wave = std::find_if(waves.begin(), waves.end(), [&](const Wave& each) {
      return !each.sends[sender] && !each.receives[receiver];
    });
    if (wave == waves.end()) {
      const std::vector<bool> none(num_ranks);
      wave = waves.insert(wave, Wave{none, none, {}});
    }
    wave->sends[sender] = true;
    wave->receives[receiver] = true;
    wave->numbers.push_back(i);
  }
  std::vector<std::vector<uint32_t>> numbers;
  numbers.reserve(waves.size());
  for (Wave& wave : waves) numbers.push_back(std::move(wave.numbers));
  return numbers;
}

absl::StatusOr<CollectiveCost> CostOfWaves(
    const CostKey& key, const std::set<Bytes>& sizes,
    absl::Span<const std::vector<RankId>> groups,
    absl::Span<const std::vector<uint32_t>> waves, const CostSetting& setting,
    Routes& routes) {
  CollectiveCost cost;
  cost.forms.groups.resize(groups.size());
  for (const std::vector<uint32_t>& wave : waves) {
    std::vector<std::vector<RankId>> at_once;
    at_once.reserve(wave.size());
    for (const uint32_t number : wave) at_once.push_back(groups[number]);
    ASTRA_ASSIGN_OR_RETURN(CollectiveCost more,
                           CostOf(key, sizes, at_once, setting, routes));
    Merge(std::move(more), wave, cost);
  }
  return cost;
}

absl::StatusOr<CollectiveCosts> FindCosts(const CollectiveSizes& used,
                                          const ParallelPlan& plan,
                                          const PipelinePairs& pairs,
                                          const CostSetting& setting,
                                          Routes& routes) {
  CollectiveCosts costs;
  for (const auto& [key, sizes] : used) {
    if (key.first != ParallelDimension::kPipeline) {
      ASTRA_ASSIGN_OR_RETURN(
          costs[key],
          CostOf(key, sizes, AllGroups(plan, key.first), setting, routes));
    } else if (!pairs.pairs.empty()) {
      ASTRA_ASSIGN_OR_RETURN(
          costs[key], CostOfWaves(key, sizes, pairs.pairs, WavesOf(pairs.pairs),
                                  setting, routes));
    }
  }
  return costs;
}

}  // namespace astra
