#include "astra-core/apps/network_tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/csv.h"
#include "astra-core/base/parallel_dimension.h"
#include "fmt/compile.h"
#include "fmt/format.h"

namespace astra {
namespace {

// Finds the collective that a message is of.
class CollectiveFinder {
 public:
  CollectiveFinder(const Topology& topology, const ParallelPlan& plan,
                   const SimulationResult& result)
      : topology_(topology), plan_(plan), result_(result) {
    for (const ParallelDimension dimension : kParallelDimensions) {
      of_group_[IndexOf(dimension)].resize(plan.NumGroups(dimension));
    }
    for (const CollectiveRecord& record : result.collectives) {
      const ParallelDimension dimension = record.communication.dimension;
      of_group_[IndexOf(dimension)][plan.GroupOf(dimension, record.lowest_rank)]
          .push_back(&record);
    }
    for (auto& groups : of_group_) {
      for (auto& records : groups) {
        std::stable_sort(records.begin(), records.end(),
                         [](const auto* a, const auto* b) {
                           return a->first_start < b->first_start;
                         });
      }
    }
  }

  // "" if there is none or several.
  std::string_view NameOf(const FlowRecord& flow) const {
    if (flow.channel == kBackgroundChannel) return "";
    const CollectiveRecord* found = nullptr;
    for (const ParallelDimension dimension : kParallelDimensions) {
      for (const CollectiveRecord* record : RecordsOf(flow, dimension)) {
        if (record->first_start > flow.start) break;
        if (record->start + record->time < flow.finish) continue;
        if (found != nullptr) return "";
        found = record;
      }
    }
    if (found == nullptr) return "";
    return result_.layer_names[found->layer.index()];
  }

 private:
  using Records = std::vector<const CollectiveRecord*>;

  // Those that may contain `flow`, and later ones: of the group of its ends,
  // from the last but one that began before it. No two of one group overlap but
  // neighbours.
  absl::Span<const CollectiveRecord* const> RecordsOf(
      const FlowRecord& flow, ParallelDimension dimension) const {
    const bool from_gpu = IsGpu(flow.source);
    if (!from_gpu && !IsGpu(flow.target)) return {};
    const RankId rank(from_gpu ? flow.source.index() : flow.target.index());
    const uint32_t group = plan_.GroupOf(dimension, rank);
    if (from_gpu && IsGpu(flow.target) &&
        plan_.GroupOf(dimension, RankId(flow.target.index())) != group) {
      return {};
    }
    const Records& records = of_group_[IndexOf(dimension)][group];
    const auto later =
        std::upper_bound(records.begin(), records.end(), flow.start,
                         [](TimePs start, const CollectiveRecord* record) {
                           return start < record->first_start;
                         });
    const auto first =
        std::max<ptrdiff_t>(0, std::distance(records.begin(), later) - 2);
    return absl::MakeConstSpan(records).subspan(static_cast<size_t>(first));
  }

  bool IsGpu(NodeId node) const {
    return topology_.kind(node) == NodeKind::kGpu;
  }

  const Topology& topology_;
  const ParallelPlan& plan_;
  const SimulationResult& result_;
  // By dimension and group.
  std::array<std::vector<Records>, kNumParallelDimensions> of_group_;
};

// Traffic of others has no channel of a collective.
std::string ChannelText(uint32_t channel) {
  if (channel == kBackgroundChannel) return "background";
  return fmt::format(FMT_COMPILE("{}"), channel);
}

void AppendPath(const Topology& topology, const NetworkStatistics& network,
                const FlowRecord& flow, std::string& text) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, FMT_COMPILE("{}"), flow.source.index());
  for (uint32_t i = 0; i < flow.num_links; ++i) {
    const LinkId link = network.paths[flow.path + i];
    fmt::format_to(out, FMT_COMPILE(">{}"), topology.link(link).target.index());
  }
}

}  // namespace

std::string FlowsCsv(const Topology& topology, const ParallelPlan& plan,
                     const SimulationResult& result,
                     const NetworkStatistics& network) {
  const CollectiveFinder finder(topology, plan, result);
  std::string text =
      "collective,source,target,channel,bytes,start_us,finish_us,fct_us,"
      "ideal_us,slowdown,retransmissions,path\n";
  for (const FlowRecord& flow : network.flows) {
    const TimePs fct = flow.finish - flow.start;
    fmt::format_to(
        std::back_inserter(text),
        FMT_COMPILE("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.4f},{},"),
        CsvField(finder.NameOf(flow)), flow.source.index(), flow.target.index(),
        ChannelText(flow.channel), flow.bytes.count(),
        ToMicroseconds(flow.start), ToMicroseconds(flow.finish),
        ToMicroseconds(fct), ToMicroseconds(flow.ideal),
        static_cast<double>(fct.count()) /
            static_cast<double>(flow.ideal.count()),
        flow.retransmissions);
    AppendPath(topology, network, flow, text);
    text += '\n';
  }
  return text;
}

std::string QueuesCsv(const Topology& topology,
                      const NetworkStatistics& network) {
  std::string text = "time_us,link,source,target,queue_bytes\n";
  for (const QueueSample& sample : network.queues) {
    const Link& link = topology.link(sample.link);
    AppendFormat(&text, "{:.6f},{},{},{},{}\n", ToMicroseconds(sample.time),
                 sample.link.index(), link.source.index(), link.target.index(),
                 sample.queue.count());
  }
  return text;
}

std::string RatesCsv(const NetworkStatistics& network) {
  std::string text = "time_us,source,target,channel,rate_Gbps,window_bytes\n";
  for (const RateSample& sample : network.rates) {
    AppendFormat(&text, "{:.6f},{},{},{},{},{}\n", ToMicroseconds(sample.time),
                 sample.source.index(), sample.target.index(),
                 ChannelText(sample.channel), ToGbps(sample.rate),
                 sample.window.count());
  }
  return text;
}

std::string PfcCsv(const Topology& topology, const NetworkStatistics& network) {
  std::string text = "time_us,node,sender,link,event\n";
  for (const PfcRecord& record : network.pfc) {
    const Link& link = topology.link(record.link);
    AppendFormat(&text, "{:.6f},{},{},{},{}\n", ToMicroseconds(record.time),
                 link.source.index(), link.target.index(), record.link.index(),
                 record.is_pause ? "pause" : "resume");
  }
  return text;
}

std::string CnpCsv(const NetworkStatistics& network) {
  std::string text = "time_us,source,target,channel\n";
  for (const CnpRecord& record : network.cnps) {
    AppendFormat(&text, "{:.6f},{},{},{}\n", ToMicroseconds(record.time),
                 record.source.index(), record.target.index(),
                 ChannelText(record.channel));
  }
  return text;
}

}  // namespace astra
