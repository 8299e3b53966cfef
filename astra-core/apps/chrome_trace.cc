#include "astra-core/apps/chrome_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "astra-core/apps/iteration_trace.h"
#include "astra-core/apps/trace_events.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

enum Process : uint64_t {
  kRanks = 1,
  kCollectives = 2,
  kLinks = 3,
  kFirstOfIteration = 4,
};

constexpr size_t kNumLinks = 16;  // Links that are shown.
constexpr size_t kNumBins = 256;  // Bins of time.

// Adds slices of collectives until kMaxTraceSlices is reached.
class CollectiveSlices {
 public:
  explicit CollectiveSlices(TraceEvents& events) : events_(events) {}

  void Add(const TraceTrack& track, std::string_view name,
           const CollectiveRecord& record) {
    if (++num_slices_ > kMaxTraceSlices) return;
    events_.Slice(track, name, record.first_start, record.start + record.time,
                  {{"op", Name(record.communication.kind)},
                   {"bytes", record.communication.bytes.count()},
                   {"ranks", record.num_ranks},
                   {"algorithm", record.algorithm}});
  }

  int64_t num_left_out() const {
    return std::max<int64_t>(0, num_slices_ - kMaxTraceSlices);
  }

 private:
  TraceEvents& events_;
  int64_t num_slices_ = 0;
};

// Adds the collectives. Returns how many slices were left out.
int64_t AddCollectives(const ParallelPlan& plan, const SimulationResult& result,
                       TraceEvents& events) {
  events.NameProcess(kRanks, "ranks");
  events.NameProcess(kCollectives, "collectives");
  for (uint32_t rank = 0; rank < plan.num_ranks(); ++rank) {
    events.NameThread({kRanks, rank}, fmt::format("rank {}", rank));
  }
  CollectiveSlices slices(events);
  std::map<std::pair<ParallelDimension, RankId>, uint64_t> track_of_group;
  for (const CollectiveRecord& record : result.collectives) {
    const ParallelDimension dimension = record.communication.dimension;
    const auto [track, is_new] = track_of_group.try_emplace(
        {dimension, record.lowest_rank}, track_of_group.size());
    if (is_new) {
      events.NameThread({kCollectives, track->second},
                        fmt::format("{} of rank {}", Name(dimension),
                                    record.lowest_rank.index()));
    }
    const std::string& name = result.layer_names[record.layer.index()];
    slices.Add({kCollectives, track->second}, name, record);
    const uint32_t group = plan.GroupOf(dimension, record.lowest_rank);
    for (const RankId rank : plan.Ranks(dimension, group)) {
      slices.Add({kRanks, rank.index()}, name, record);
    }
  }
  return slices.num_left_out();
}

// Returns the links that carry most; of equal links, the lowest come first.
std::vector<LinkId> BusyLinks(const NetworkStatistics& network) {
  std::vector<LinkId> links(network.links.size());
  for (uint32_t i = 0; i < links.size(); ++i) links[i] = LinkId(i);
  const auto num_shown =
      static_cast<ptrdiff_t>(std::min(kNumLinks, links.size()));
  std::partial_sort(links.begin(), links.begin() + num_shown, links.end(),
                    [&](LinkId a, LinkId b) {
                      const double bytes_a = network.links[a.index()].bytes;
                      const double bytes_b = network.links[b.index()].bytes;
                      return std::tuple(-bytes_a, a) < std::tuple(-bytes_b, b);
                    });
  links.resize(static_cast<size_t>(num_shown));
  return links;
}

// Spreads `bytes` evenly from `begin` to `end`, in units of bins, over `bins`.
void Spread(double bytes, double begin, double end, double* bins) {
  const double length = std::max(end - begin, 1e-9);
  const auto last = std::min(static_cast<size_t>(end), kNumBins - 1);
  for (size_t bin = static_cast<size_t>(begin); bin <= last; ++bin) {
    const double left = std::max(begin, static_cast<double>(bin));
    const double right = std::min(end, static_cast<double>(bin + 1));
    bins[bin] += bytes * std::max(right - left, 0.0) / length;
  }
}

void AddLinks(const Topology& topology, const NetworkStatistics& network,
              TraceEvents& events) {
  if (network.flows.empty()) return;
  events.NameProcess(kLinks, "links");
  const std::vector<LinkId> links = BusyLinks(network);
  std::map<LinkId, size_t> row_of;
  for (const LinkId link : links) row_of.emplace(link, row_of.size());
  TimePs end;
  for (const FlowRecord& flow : network.flows) end = std::max(end, flow.finish);
  const double width_us = ToMicroseconds(end) / kNumBins;
  std::vector<double> bytes(links.size() * kNumBins);
  for (const FlowRecord& flow : network.flows) {
    for (uint32_t i = 0; i < flow.num_links; ++i) {
      const auto row = row_of.find(network.paths[flow.path + i]);
      if (row == row_of.end()) continue;
      Spread(static_cast<double>(flow.bytes.count()),
             ToMicroseconds(flow.start) / width_us,
             ToMicroseconds(flow.finish) / width_us,
             &bytes[row->second * kNumBins]);
    }
  }
  constexpr double kGbpsPerBytePerUs = 8e-3;
  for (size_t row = 0; row < links.size(); ++row) {
    const std::string name = topology.LinkName(links[row]);
    for (size_t bin = 0; bin < kNumBins; ++bin) {
      events.Rate(kLinks, name, static_cast<double>(bin) * width_us,
                  kGbpsPerBytePerUs * bytes[row * kNumBins + bin] / width_us);
    }
  }
}

}  // namespace

std::string ChromeTrace(const Topology& topology, const ParallelPlan& plan,
                        const SimulationResult& result,
                        const NetworkStatistics& network) {
  TraceEvents events;
  TraceEvents::Arguments remarks;
  if (result.timeline.empty()) {
    remarks["slices left out"] = AddCollectives(plan, result, events);
  } else {
    remarks = AddIteration(result, {}, kFirstOfIteration, events);
  }
  AddLinks(topology, network, events);
  return std::move(events).Text(remarks);
}

}  // namespace astra
