#include "astra-core/engine/link_bytes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "collectives/nccl/collective_time.h"
#include "collectives/registry.h"

namespace astra {
namespace {

// A block of a program is the groups of one stage or, for the pipeline, the
// pairs between two stages.
class VolumeCounter {
 public:
  VolumeCounter(const RankProgram& program, const PipelineWiring& wiring,
                const CollectiveCosts& costs)
      : program_(program), wiring_(wiring), costs_(costs) {}

  LinkVolumes Count() {
    for (uint32_t stage = 0; stage < program_.num_stages(); ++stage) {
      const OpStream next = program_.Begin(stage);
      for (Op op = next(); op.kind != OpKind::kFinish; op = next()) {
        const bool starts =
            op.kind == OpKind::kBlocking || op.kind == OpKind::kLaunch;
        if (starts) Add(stage, op);
      }
    }
    return std::move(volumes_);
  }

 private:
  void Add(uint32_t stage, const Op& op) {
    const auto& [kind, dimension, bytes] = op.communication;
    const CostKey key = {dimension, kind};
    const auto cost = costs_.find(key);
    if (cost == costs_.end() || bytes == Bytes(0)) return;
    uint32_t block = stage;
    if (dimension == ParallelDimension::kPipeline) {
      const auto link =
          std::find_if(wiring_.links.begin(), wiring_.links.end(),
                       [&](const PipelineLink& each) {
                         return each.from == stage && each.send_lane == op.lane;
                       });
      if (link == wiring_.links.end()) return;  // The stage receives it.
      block =
          wiring_.pairs
              .first_pair[static_cast<size_t>(link - wiring_.links.begin())];
    }
    LinkVolume& volume =
        volumes_[{key, cost->second.Time(0, bytes).registry_name}];
    volume.bytes = bytes;
    volume.of_block[block] +=
        static_cast<double>(op.repeats) * static_cast<double>(bytes.count());
  }

  const RankProgram& program_;
  const PipelineWiring& wiring_;
  const CollectiveCosts& costs_;
  LinkVolumes volumes_;
};

// Lays volumes on links.
class VolumeLayer {
 public:
  VolumeLayer(const LinkBlocks& blocks, const CollectiveCosts& costs,
              const std::optional<NcclSystem>& nccl, Routes& routes)
      : blocks_(blocks),
        costs_(costs),
        nccl_(nccl),
        routes_(routes),
        link_bytes_(routes.topology().links().size()) {}

  // Adds the bytes that the groups of each block put on links.
  absl::Status Add(const CostKey& key, std::string_view algorithm,
                   const LinkVolume& volume) {
    // By bytes and size of the groups.
    std::map<std::pair<double, size_t>, std::vector<std::vector<RankId>>> alike;
    for (const auto& [block, bytes] : volume.of_block) {
      std::vector<std::vector<RankId>> groups;
      blocks_.append(key, block, &groups);
      auto& all = alike[{bytes, groups.front().size()}];
      all.insert(all.end(), groups.begin(), groups.end());
    }
    const CollectiveCost& cost = costs_.at(key);
    const bool are_all =
        alike.size() == 1 && volume.of_block.size() == blocks_.count(key);
    if (are_all) {
      Add(alike.begin()->first.first, cost.LinkBytesPerByte(algorithm));
      return absl::OkStatus();
    }
    for (const auto& [of, groups] : alike) {
      ASTRA_RETURN_IF_ERROR(Lay(key, cost, volume.bytes, groups, of.first));
    }
    return absl::OkStatus();
  }

  std::vector<double> Take() { return std::move(link_bytes_); }

 private:
  void Add(double bytes, absl::Span<const double> per_byte) {
    for (size_t link = 0; link < link_bytes_.size(); ++link) {
      link_bytes_[link] += bytes * per_byte[link];
    }
  }

  absl::Status Lay(const CostKey& key, const CollectiveCost& cost, Bytes size,
                   const std::vector<std::vector<RankId>>& groups,
                   double bytes) {
    if (cost.sized.empty()) {
      ASTRA_ASSIGN_OR_RETURN(const std::vector<double> laid,
                             LinkBytesPerByte(cost.algorithm, groups, routes_));
      Add(bytes, laid);
      return absl::OkStatus();
    }
    ASTRA_ASSIGN_OR_RETURN(
        CollectiveTimes times,
        CollectiveTimes::Create(key.second, groups, nccl_->system,
                                nccl_->options, routes_));
    ASTRA_ASSIGN_OR_RETURN(const absl::Span<const double> laid,
                           times.LinkBytesPerByte(0, size));
    Add(bytes, laid);
    return absl::OkStatus();
  }

  const LinkBlocks& blocks_;
  const CollectiveCosts& costs_;
  const std::optional<NcclSystem>& nccl_;
  Routes& routes_;
  std::vector<double> link_bytes_;
};

LinkBlocks BlocksOf(const ParallelPlan& plan, const PipelineWiring& wiring) {
  LinkBlocks blocks;
  blocks.count = [&](const CostKey& key) -> size_t {
    return key.first == ParallelDimension::kPipeline
               ? wiring.pairs.pairs.size() / plan.stage_size()
               : wiring.num_stages;
  };
  blocks.append = [&](const CostKey& key, uint32_t block,
                      std::vector<std::vector<RankId>>* groups) {
    if (key.first == ParallelDimension::kPipeline) {
      const auto first = wiring.pairs.pairs.begin() + block;
      groups->insert(groups->end(), first, first + plan.stage_size());
      return;
    }
    const uint32_t per_stage = plan.NumGroups(key.first) / wiring.num_stages;
    for (uint32_t i = 0; i < per_stage; ++i) {
      groups->push_back(plan.Ranks(key.first, block * per_stage + i));
    }
  };
  return blocks;
}

}  // namespace

absl::StatusOr<std::vector<double>> LayVolumes(
    const LinkVolumes& volumes, const LinkBlocks& blocks,
    const CollectiveCosts& costs, const std::optional<NcclSystem>& nccl,
    Routes& routes) {
  VolumeLayer layer(blocks, costs, nccl, routes);
  for (const auto& [laid, volume] : volumes) {
    ASTRA_RETURN_IF_ERROR(layer.Add(laid.first, laid.second, volume));
  }
  return layer.Take();
}

absl::StatusOr<std::vector<double>> LinkBytes(
    const RankProgram& program, const ParallelPlan& plan,
    const PipelineWiring& wiring, const CollectiveCosts& costs,
    const std::optional<NcclSystem>& nccl, Routes& routes) {
  return LayVolumes(VolumeCounter(program, wiring, costs).Count(),
                    BlocksOf(plan, wiring), costs, nccl, routes);
}

}  // namespace astra
