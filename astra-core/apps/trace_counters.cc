#include "astra-core/apps/trace_counters.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "astra-core/apps/rank_computations.h"
#include "astra-core/base/ids.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "workload/memory_events.h"

namespace astra {
namespace {

constexpr size_t kNumLinks = 16;  // Links that are shown of each kind.
constexpr size_t kNumBins = 256;  // Bins of time.

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

// Returns the links whose sampled queues were longest; of equal links, the
// lowest come first.
std::vector<LinkId> LongestQueues(const NetworkStatistics& network) {
  std::map<LinkId, int64_t> longest;
  for (const QueueSample& sample : network.queues) {
    int64_t& bytes = longest[sample.link];
    bytes = std::max(bytes, sample.queue.count());
  }
  std::vector<LinkId> links;
  links.reserve(longest.size());
  for (const auto& [link, bytes] : longest) links.push_back(link);
  std::stable_sort(links.begin(), links.end(), [&](LinkId a, LinkId b) {
    return longest.at(a) > longest.at(b);
  });
  links.resize(std::min(kNumLinks, links.size()));
  return links;
}

}  // namespace

void AddLinks(const Topology& topology, const NetworkStatistics& network,
              uint64_t process, TraceEvents& events) {
  if (network.flows.empty()) return;
  events.NameProcess(process, "links");
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
      events.Rate(process, name, static_cast<double>(bin) * width_us,
                  kGbpsPerBytePerUs * bytes[row * kNumBins + bin] / width_us);
    }
  }
}

void AddQueues(const Topology& topology, const NetworkStatistics& network,
               TimePs interval, uint64_t process, TraceEvents& events) {
  if (network.queues.empty()) return;
  events.NameProcess(process, "queues");
  constexpr double kKbPerByte = 1e-3;
  for (const LinkId link : LongestQueues(network)) {
    const std::string name = topology.LinkName(link);
    const auto add = [&](TimePs time, double kb) {
      events.Counter(process, name, time, {{"kB", kb}});
    };
    std::optional<TimePs> next;
    for (const QueueSample& sample : network.queues) {
      if (sample.link != link) continue;
      if (next && sample.time > *next) add(*next, 0);
      add(sample.time, kKbPerByte * static_cast<double>(sample.queue.count()));
      next = sample.time + interval;
    }
    if (next) add(*next, 0);
  }
}

int64_t AddMemory(const Program& program,
                  absl::Span<const StageMemory> memories,
                  const SimulationResult& result, uint64_t process,
                  TraceEvents& events) {
  if (memories.empty() || result.timeline.empty()) return 0;
  events.NameProcess(process, "memory");
  size_t left_out = 0;
  for (const StageMemory& memory : memories) {
    const RankComputations computations(result, memory.stage);
    const MemoryEvents changes = MemoryEventsOf(
        program, memory.stage, computations.MicroBatches(program),
        kMaxMemoryChanges / memories.size());
    left_out += changes.left_out;
    const std::string name = fmt::format("stage {}", memory.stage);
    TimePs now;
    int64_t bytes = 0;
    const auto add = [&] {
      events.Counter(process, name, now, {{"GiB", ToGib(Bytes(bytes))}});
    };
    for (const MemoryEvent& change : changes.events) {
      const TimePs time = computations.TimeOf(change, now);
      if (time != now) add();
      now = time;
      bytes += (change.is_release ? -1 : 1) * change.bytes.count();
    }
    add();
  }
  return static_cast<int64_t>(left_out);
}

}  // namespace astra
