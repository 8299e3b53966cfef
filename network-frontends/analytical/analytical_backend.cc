#include "network-frontends/analytical/analytical_backend.h"

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "astra-core/base/check.h"

namespace astra {

const AnalyticalBackend::Path& AnalyticalBackend::PathBetween(NodeId source,
                                                              NodeId target) {
  const uint64_t key = uint64_t{source.index()} << 32 | target.index();
  std::unique_ptr<Path>& path = paths_[key];
  if (path != nullptr) return *path;

  absl::StatusOr<Route> route = routes_.FindNodes(source, target);
  ASTRA_CHECK(route.ok(), "{}", route.status().ToString());
  path = std::make_unique<Path>();
  path->bottleneck = routes_.BottleneckBandwidth(*route);
  Route first_links;
  first_links.first = routes_.FirstLinks(*route);
  path->port = first_links.first.front().link;
  path->port_bandwidth = routes_.BottleneckBandwidth(first_links);
  path->route = *std::move(route);
  return *path;
}

void AnalyticalBackend::CountBytes(const Route& route, Bytes bytes) {
  const auto volume = static_cast<double>(bytes.count());
  const auto add = [&](const LinkShares& links) {
    for (const LinkShare& part : links) {
      link_bytes_[part.link.index()] += volume * part.share;
    }
  };
  add(route.first);
  for (const Route::Part& part : route.parts) {
    for (const LinkRun& run : routes_.fabric_route(part.fabric).links) {
      for (uint32_t i = 0; i < run.count; ++i) {
        link_bytes_[run.link(i).index()] += volume * part.share * run.share;
      }
    }
  }
  add(route.last);
}

void AnalyticalBackend::Send(const Message& message) {
  const Path& path = PathBetween(message.source, message.target);
  CountBytes(path.route, message.bytes);
  TimePs& port_free = port_free_[path.port.index()];
  const TimePs start = std::max(now_, port_free);
  port_free = start + TransferTime(message.bytes, path.port_bandwidth);
  TimePs arrival =
      start + path.route.latency + TransferTime(message.bytes, path.bottleneck);
  // Without this, a short message would overtake a long one behind a slower
  // link.
  if (path.bottleneck < path.port_bandwidth) {
    const uint64_t ends =
        uint64_t{message.source.index()} << 32 | message.target.index();
    TimePs& last = last_arrival_[{ends, message.channel}];
    last = arrival = std::max(arrival, last);
  }
  arrivals_.Push({.time = arrival, .index = message.id.index()});
}

void AnalyticalBackend::AdvanceTo(TimePs limit,
                                  std::vector<MessageId>* arrived) {
  ASTRA_CHECK(limit >= now_, "{} is before {}", limit, now_);
  if (arrivals_.empty() || arrivals_.next().time > limit) {
    now_ = limit;
    return;
  }
  now_ = arrivals_.next().time;
  while (!arrivals_.empty() && arrivals_.next().time == now_) {
    arrived->push_back(MessageId(arrivals_.Pop().index));
  }
}

const NetworkStatistics& AnalyticalBackend::statistics() {
  statistics_.links.resize(link_bytes_.size());
  for (size_t i = 0; i < link_bytes_.size(); ++i) {
    statistics_.links[i].bytes = link_bytes_[i];
  }
  return statistics_;
}

}  // namespace astra
