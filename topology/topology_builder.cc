#include "topology/topology_builder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "astra-core/base/check.h"
#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "boost/pending/disjoint_sets.hpp"
#include "fmt/core.h"

namespace astra {
namespace {

// Limits far beyond any real link; sums along a path stay within 63 bits.
constexpr Bandwidth kMaxLinkBandwidth = Gbps(1'000'000);
constexpr TimePs kMaxLinkLatency(1'000'000'000'000'000);

}  // namespace

TopologyBuilder::TopologyBuilder(uint32_t num_gpus, uint32_t gpus_per_server,
                                 std::string gpu_type) {
  topology_.num_gpus_ = num_gpus;
  topology_.gpus_per_server_ = gpus_per_server;
  topology_.gpu_type_ = std::move(gpu_type);
  topology_.kinds_.assign(num_gpus, NodeKind::kGpu);
}

NodeId TopologyBuilder::AddSwitch(NodeKind kind) {
  ASTRA_CHECK(kind == NodeKind::kNvSwitch || kind == NodeKind::kSwitch,
              "GPUs come first, and storage servers are made of switches");
  ASTRA_CHECK(topology_.num_storage_ == 0, "storage servers come last");
  topology_.kinds_.push_back(kind);
  return NodeId(topology_.num_nodes() - 1);
}

absl::Status TopologyBuilder::MakeStorage(uint32_t count) {
  const auto begin =
      topology_.kinds_.end() - std::min(count, topology_.num_nodes());
  if (count > topology_.num_nodes() ||
      std::any_of(begin, topology_.kinds_.end(),
                  [](NodeKind kind) { return kind != NodeKind::kSwitch; })) {
    return absl::InvalidArgumentError(fmt::format(
        "{} storage servers are more than the switches other than NVSwitches "
        "that come last",
        count));
  }
  std::fill(begin, topology_.kinds_.end(), NodeKind::kStorage);
  topology_.num_storage_ = count;
  return absl::OkStatus();
}

absl::StatusOr<LinkTypeId> TopologyBuilder::AddLinkType(
    std::string_view bandwidth, std::string_view latency,
    std::string_view error_rate) {
  std::string text = fmt::format("{} {} {}", bandwidth, latency, error_rate);
  const auto next = static_cast<uint32_t>(topology_.link_types_.size());
  const auto known = type_ids_.find(text);
  if (known != type_ids_.end()) return LinkTypeId(known->second);

  LinkType type;
  ASTRA_ASSIGN_OR_RETURN(type.bandwidth, ParseBandwidth(bandwidth));
  ASTRA_ASSIGN_OR_RETURN(type.latency, ParseTime(latency));
  ASTRA_ASSIGN_OR_RETURN(type.error_rate,
                         ParseNumber("error rate", error_rate, 0, 1));
  if (type.bandwidth > kMaxLinkBandwidth || type.latency > kMaxLinkLatency) {
    return absl::InvalidArgumentError(fmt::format(
        "a link of {} {} is beyond the limits of 1000 Tbps and 1000 "
        "s",
        bandwidth, latency));
  }
  if (type.error_rate == 1) {
    return absl::InvalidArgumentError(
        fmt::format("error rate is {}: such a link delivers nothing; expected "
                    "a probability below 1",
                    Quoted(error_rate)));
  }
  type.text = text;
  topology_.link_types_.push_back(std::move(type));
  type_ids_.emplace(std::move(text), next);
  return LinkTypeId(next);
}

absl::Status TopologyBuilder::AddCable(NodeId a, NodeId b, LinkTypeId type) {
  for (const NodeId end : {a, b}) {
    if (end.index() >= topology_.num_nodes()) {
      return absl::InvalidArgumentError(
          fmt::format("node {} does not exist: the last one is {}", end,
                      int64_t{topology_.num_nodes()} - 1));
    }
  }
  if (a == b) {
    return absl::InvalidArgumentError(
        fmt::format("node {} is linked to itself", a));
  }
  const auto [low, high] = std::minmax({a.index(), b.index()});
  if (!connected_.insert(uint64_t{low} << 32 | high).second) {
    return absl::InvalidArgumentError(
        fmt::format("nodes {} and {} are linked twice", low, high));
  }
  if (static_cast<int64_t>(connected_.size()) > Topology::kMaxCables) {
    return absl::ResourceExhaustedError(
        fmt::format("more than the limit of {} links", Topology::kMaxCables));
  }
  topology_.links_.push_back({.source = a, .target = b, .type = type});
  topology_.links_.push_back({.source = b, .target = a, .type = type});
  return absl::OkStatus();
}

absl::StatusOr<Topology> TopologyBuilder::Build() && {
  if (topology_.num_nodes() > Topology::kMaxNodes) {
    return absl::ResourceExhaustedError(
        fmt::format("{} nodes are more than the limit of {}",
                    topology_.num_nodes(), Topology::kMaxNodes));
  }
  ASTRA_RETURN_IF_ERROR(CheckServers());
  ASTRA_RETURN_IF_ERROR(CheckStorage());
  IndexLinks();
  ASTRA_RETURN_IF_ERROR(CheckConnections());
  FindTiers();
  return std::move(topology_);
}

absl::Status TopologyBuilder::CheckServers() const {
  const uint32_t num_gpus = topology_.num_gpus();
  const uint32_t per_server = topology_.gpus_per_server();
  if (num_gpus == 0) return absl::InvalidArgumentError("there is no GPU");
  if (per_server == 0 || num_gpus % per_server != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} GPUs do not divide into servers of {}", num_gpus, per_server));
  }

  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> gpu_of_switch(topology_.num_nodes(), kNone);
  for (size_t i = 0; i < topology_.links_.size(); ++i) {
    const Link& link = topology_.links_[i];
    if (topology_.kind(link.source) != NodeKind::kGpu ||
        topology_.kind(link.target) != NodeKind::kNvSwitch) {
      continue;
    }
    const uint32_t gpu = link.source.index();
    uint32_t& first = gpu_of_switch[link.target.index()];
    if (first == kNone) first = gpu;
    if (gpu / per_server != first / per_server) {
      return FieldError(
          fmt::format("links.{}", i / 2),
          fmt::format(
              "NVSwitch {} is linked to GPU {} of server {} and to GPU {} of "
              "server {}: an NVSwitch belongs to one server, and servers have "
              "{} "
              "GPUs",
              link.target, first, first / per_server, gpu, gpu / per_server,
              per_server));
    }
  }
  return absl::OkStatus();
}

absl::Status TopologyBuilder::CheckStorage() const {
  for (size_t i = 0; i < topology_.links_.size(); ++i) {
    const auto [storage, other, type] = topology_.links_[i];
    if (topology_.kind(storage) != NodeKind::kStorage ||
        topology_.kind(other) == NodeKind::kSwitch) {
      continue;
    }
    return FieldError(
        fmt::format("links.{}", i / 2),
        fmt::format("storage {} is linked to node {}: expected a switch that "
                    "is no NVSwitch",
                    storage, other));
  }
  return absl::OkStatus();
}

// Groups the links by source, in the order in which they were added.
void TopologyBuilder::IndexLinks() {
  std::vector<uint32_t>& first = topology_.first_link_;
  first.assign(topology_.num_nodes() + 1, 0);
  for (const Link& link : topology_.links_) ++first[link.source.index() + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());

  std::vector<uint32_t> next_slot = first;
  topology_.links_from_.resize(topology_.links_.size());
  for (uint32_t i = 0; i < topology_.links_.size(); ++i) {
    const uint32_t source = topology_.links_[i].source.index();
    topology_.links_from_[next_slot[source]++] = LinkId(i);
  }
}

absl::Status TopologyBuilder::CheckConnections() const {
  const uint32_t num_nodes = topology_.num_nodes();
  boost::disjoint_sets_with_storage<> components(num_nodes);
  for (uint32_t node = 0; node < num_nodes; ++node) components.make_set(node);
  // Storage servers do not forward, so they join nothing.
  for (const Link& link : topology_.links_) {
    if (std::max(link.source, link.target).index() >=
        topology_.first_storage()) {
      continue;
    }
    components.union_set(link.source.index(), link.target.index());
  }
  for (uint32_t i = 0; i < num_nodes; ++i) {
    const NodeId node(i);
    const bool is_gpu = topology_.kind(node) == NodeKind::kGpu;
    const bool is_storage = topology_.kind(node) == NodeKind::kStorage;
    const std::string_view what = is_gpu       ? "GPU"
                                  : is_storage ? "storage"
                                               : "switch";
    if (topology_.links_from(node).empty()) {
      return absl::InvalidArgumentError(
          fmt::format("{} {} has no link", what, node));
    }
    if (is_storage) continue;
    if (components.find_set(i) != components.find_set(0u)) {
      const uint32_t link = topology_.links_from(node).front().index();
      return FieldError(
          fmt::format("links.{}", link / 2),
          fmt::format("{} {} is not connected to GPU 0", what, node));
    }
  }
  return absl::OkStatus();
}

// Finds the tier of each switch by a search from the GPUs up, one link at a
// time.
void TopologyBuilder::FindTiers() {
  constexpr uint8_t kUnknown = std::numeric_limits<uint8_t>::max();
  std::vector<uint8_t>& tiers = topology_.tiers_;
  tiers.assign(topology_.num_nodes(), kUnknown);
  std::fill_n(tiers.begin(), topology_.num_gpus(), uint8_t{0});
  std::vector<NodeId> frontier;
  for (uint32_t i = 0; i < topology_.num_gpus(); ++i) {
    frontier.push_back(NodeId(i));
  }
  for (uint8_t tier = 1; !frontier.empty() && tier < kUnknown; ++tier) {
    std::vector<NodeId> next;
    for (const NodeId node : frontier) {
      if (topology_.kind(node) == NodeKind::kStorage) continue;
      for (const LinkId link : topology_.links_from(node)) {
        const NodeId above = topology_.link(link).target;
        if (tiers[above.index()] != kUnknown) continue;
        tiers[above.index()] = tier;
        next.push_back(above);
      }
    }
    frontier = std::move(next);
  }
  for (uint32_t i = topology_.num_gpus(); i < topology_.num_nodes(); ++i) {
    if (topology_.kinds_[i] != NodeKind::kSwitch) tiers[i] = 0;
  }
}

}  // namespace astra
