#include "astra-core/apps/chrome_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

enum Process : int { kRanks = 1, kCollectives = 2, kLinks = 3 };

constexpr size_t kNumLinks = 16;  // That are shown.
constexpr size_t kNumBins = 256;  // Of time.

std::string JsonString(std::string_view text) {
  using Json = nlohmann::json;
  return Json(std::string(text))
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Appends events to a list.
class EventList {
 public:
  void Name(Process process, std::string_view name) {
    Begin();
    fmt::format_to(Out(),
                   R"({{"ph":"M","name":"process_name","pid":{},"args":{{)"
                   R"("name":{}}}}})",
                   static_cast<int>(process), JsonString(name));
  }
  void NameTrack(Process process, uint64_t track, std::string_view name) {
    Begin();
    fmt::format_to(Out(),
                   R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},)"
                   R"("args":{{"name":{}}}}})",
                   static_cast<int>(process), track, JsonString(name));
  }
  void Slice(Process process, uint64_t track, std::string_view name,
             const CollectiveRecord& record) {
    if (++num_slices_ > kMaxTraceSlices) return;
    Begin();
    fmt::format_to(
        Out(),
        R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},)"
        R"("args":{{"op":"{}","bytes":{},"ranks":{},"algorithm":"{}"}}}})",
        JsonString(name), static_cast<int>(process), track,
        ToMicroseconds(record.first_start),
        ToMicroseconds(record.start + record.time - record.first_start),
        astra::Name(record.communication.kind),
        record.communication.bytes.count(), record.num_ranks, record.algorithm);
  }
  void Counter(std::string_view name, double us, double gbps) {
    Begin();
    fmt::format_to(Out(),
                   R"({{"ph":"C","name":{},"pid":{},"ts":{:.6f},)"
                   R"("args":{{"Gbps":{:.3f}}}}})",
                   JsonString(name), static_cast<int>(kLinks), us, gbps);
  }

  std::string Text() && {
    const int64_t lost = std::max<int64_t>(0, num_slices_ - kMaxTraceSlices);
    return fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"slices left out\":{}}},"
        "\"traceEvents\":[\n{}\n]}}\n",
        lost, text_);
  }

 private:
  std::back_insert_iterator<std::string> Out() {
    return std::back_inserter(text_);
  }
  void Begin() {
    if (!text_.empty()) text_ += ",\n";
  }

  std::string text_;
  int64_t num_slices_ = 0;
};

void AddCollectives(const ParallelPlan& plan, const SimulationResult& result,
                    EventList& events) {
  std::map<std::pair<ParallelDimension, RankId>, uint64_t> track_of_group;
  for (const CollectiveRecord& record : result.collectives) {
    const ParallelDimension dimension = record.communication.dimension;
    const auto [track, is_new] = track_of_group.try_emplace(
        {dimension, record.lowest_rank}, track_of_group.size());
    if (is_new) {
      events.NameTrack(kCollectives, track->second,
                       fmt::format("{} of rank {}", Name(dimension),
                                   record.lowest_rank.index()));
    }
    const std::string& name = result.layer_names[record.layer.index()];
    events.Slice(kCollectives, track->second, name, record);
    const uint32_t group = plan.GroupOf(dimension, record.lowest_rank);
    for (const RankId rank : plan.Ranks(dimension, group)) {
      events.Slice(kRanks, rank.index(), name, record);
    }
  }
}

// The links that carry most, the lowest of equals first.
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

// Spreads `bytes` evenly from `begin` to `end` over bins of `width`, in bins.
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
              EventList& events) {
  if (network.flows.empty()) return;
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
      events.Counter(
          name, static_cast<double>(bin) * width_us,
          kGbpsPerBytePerUs * bytes[row * kNumBins + bin] / width_us);
    }
  }
}

}  // namespace

std::string ChromeTrace(const Topology& topology, const ParallelPlan& plan,
                        const SimulationResult& result,
                        const NetworkStatistics& network) {
  EventList events;
  events.Name(kRanks, "ranks");
  events.Name(kCollectives, "collectives");
  events.Name(kLinks, "links");
  for (uint32_t rank = 0; rank < plan.num_ranks(); ++rank) {
    events.NameTrack(kRanks, rank, fmt::format("rank {}", rank));
  }
  AddCollectives(plan, result, events);
  AddLinks(topology, network, events);
  return std::move(events).Text();
}

}  // namespace astra
