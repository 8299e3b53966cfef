#include "topology/path_rule.h"

#include <algorithm>

namespace astra {

Attachments::Attachments(const Topology& topology, const FabricGraph& graph)
    : topology_(topology) {
  for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
    const NodeId node(i);
    first_.push_back(static_cast<uint32_t>(attachments_.size()));
    if (topology.IsHost(node)) {
      Attach(node, graph);
    } else {
      attachments_.push_back({graph.component(node), SetOf({node})});
    }
  }
  first_.push_back(static_cast<uint32_t>(attachments_.size()));
}

void Attachments::Attach(NodeId host, const FabricGraph& graph) {
  std::vector<std::pair<uint32_t, LinkId>> links;  // Fabric and link.
  for (const LinkId link : topology_.links_from(host)) {
    const NodeId next = topology_.link(link).target;
    if (topology_.kind(next) == NodeKind::kGpu) {
      has_cables_between_gpus_ = true;
    } else {
      links.emplace_back(graph.component(next), link);
    }
  }
  std::stable_sort(
      links.begin(), links.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NodeId> switches;
  for (size_t i = 0; i < links.size();) {
    const uint32_t fabric = links[i].first;
    const auto first_link = static_cast<uint32_t>(links_.size());
    switches.clear();
    for (; i < links.size() && links[i].first == fabric; ++i) {
      switches.push_back(topology_.link(links[i].second).target);
      links_.push_back(Reverse(links[i].second));
    }
    attachments_.push_back({fabric, SetOf(switches), first_link,
                            static_cast<uint32_t>(switches.size())});
  }
}

SwitchSetId Attachments::SetOf(const std::vector<NodeId>& switches) {
  const SwitchSetId next_id(static_cast<uint32_t>(switch_sets_.size()));
  const auto [entry, is_new] = switch_set_ids_.try_emplace(switches, next_id);
  if (is_new) switch_sets_.push_back(&entry->first);
  return entry->second;
}

const LinkId* Attachments::LinkFrom(NodeId fabric_switch,
                                    const Attachment& attachment) const {
  const absl::Span<const LinkId> links = LinksTo(attachment);
  const std::vector<NodeId>& all = switches(attachment.switches);
  for (size_t i = 0; i < links.size(); ++i) {
    if (all[i] == fabric_switch) return &links[i];
  }
  return nullptr;
}

// Searches the end with fewer links, since a GPU has few.
std::optional<LinkId> Attachments::FindLink(NodeId source,
                                            NodeId target) const {
  if (!has_cables_between_gpus_ && topology_.kind(source) == NodeKind::kGpu &&
      topology_.kind(target) == NodeKind::kGpu) {
    return std::nullopt;
  }
  const bool is_forward = topology_.links_from(source).size() <=
                          topology_.links_from(target).size();
  const NodeId from = is_forward ? source : target;
  const NodeId to = is_forward ? target : source;
  for (const LinkId link : topology_.links_from(from)) {
    if (topology_.link(link).target != to) continue;
    return is_forward ? link : Reverse(link);
  }
  return std::nullopt;
}

}  // namespace astra
