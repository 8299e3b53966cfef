#include "topology/topology_svg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/core.h"

namespace astra {
namespace {

// Up to this many boxes, each server and switch has its own.
constexpr size_t kMostBoxes = 48;

constexpr double kBoxWidth = 120;
constexpr double kBoxHeight = 40;
constexpr double kGap = 24;
constexpr double kRowHeight = 150;
constexpr double kMargin = 30;

constexpr std::string_view kStyle = R"(<style>
.topology { font: 11px system-ui, sans-serif; color: #1b1f24; }
.topology text { fill: currentColor; text-anchor: middle; }
.topology .label { paint-order: stroke; stroke: var(--paper, none);
  stroke-width: 4px; }
.topology .box { fill: #eef2f7; stroke: #57606a; }
.topology .server { fill: #e6f4ea; }
.topology .link { stroke: #57606a; stroke-opacity: .6; fill: none; }
@media (prefers-color-scheme: dark) {
  .topology { color: #e6edf3; }
  .topology .box { fill: #21262d; stroke: #8b949e; }
  .topology .server { fill: #1a3a26; }
  .topology .link { stroke: #8b949e; }
}
</style>
)";

// Colours of loads, each up to the share that follows it.
struct LoadColour {
  std::string_view colour;
  double most;
};
constexpr LoadColour kLoadColours[] = {{"#9ecae1", 0.1},
                                       {"#4292c6", 0.3},
                                       {"#e69f00", 0.6},
                                       {"#d55e00", 0.85},
                                       {"#8b0000", 2}};

std::string_view ColourOf(double load) {
  for (const LoadColour& each : kLoadColours) {
    if (load <= each.most) return each.colour;
  }
  return kLoadColours[std::size(kLoadColours) - 1].colour;
}

// One box: servers, storage servers, or switches of one tier.
struct Box {
  uint32_t tier = 0;  // 0: servers and storage servers.
  bool is_storage = false;
  std::vector<uint32_t> members;  // Servers, or nodes; increasing.
  double x = 0;                   // Of its middle.
  double y = 0;
};

// All cables between two boxes.
struct Line {
  uint32_t cables = 0;
  double gbps = 0;
  double load = 0;  // The highest.
};

// A topology in which each server, each switch of the fabric and each storage
// server is a part.
class Parts {
 public:
  Parts(const Topology& topology, absl::Span<const double> loads)
      : topology_(topology), loads_(loads) {
    part_of_.resize(topology.num_nodes());
    tiers_.assign(topology.num_servers(), 0);
    for (uint32_t i = 0; i < topology.num_nodes(); ++i) {
      const NodeKind kind = topology.kind(NodeId(i));
      if (kind != NodeKind::kSwitch && kind != NodeKind::kStorage) continue;
      part_of_[i] = size();
      nodes_.push_back(i);
      tiers_.push_back(topology.tier(NodeId(i)));
    }
    for (uint32_t gpu = 0; gpu < topology.num_gpus(); ++gpu) {
      part_of_[gpu] = topology.ServerOf(RankId(gpu));
    }
    for (size_t i = 0; i < topology.links().size(); i += 2) Add(i);
  }

  uint32_t size() const { return static_cast<uint32_t>(tiers_.size()); }
  uint32_t tier(uint32_t part) const { return tiers_[part]; }
  bool is_storage(uint32_t part) const {
    return part >= topology_.num_servers() && tiers_[part] == 0;
  }
  // The server or node that a part is.
  uint32_t Number(uint32_t part) const {
    return part < topology_.num_servers()
               ? part
               : nodes_[part - topology_.num_servers()];
  }
  const std::map<std::pair<uint32_t, uint32_t>, Line>& lines() const {
    return lines_;
  }

 private:
  void Add(size_t cable) {
    const Link& link = topology_.links()[cable];
    const auto is_inside = [&](NodeId node) {
      return topology_.kind(node) == NodeKind::kNvSwitch;
    };
    if (is_inside(link.source) || is_inside(link.target)) return;
    const uint32_t a = part_of_[link.source.index()];
    const uint32_t b = part_of_[link.target.index()];
    if (a == b) return;  // Within a server.
    Line& line = lines_[std::minmax(a, b)];
    ++line.cables;
    line.gbps +=
        ToGbps(topology_.type(LinkId(static_cast<uint32_t>(cable))).bandwidth);
    if (loads_.empty()) return;
    line.load = std::max({line.load, loads_[cable], loads_[cable + 1]});
  }

  const Topology& topology_;
  const absl::Span<const double> loads_;
  std::vector<uint32_t> part_of_;  // By node; of NVSwitches without meaning.
  std::vector<uint32_t> nodes_;    // Of the parts behind the servers.
  std::vector<uint32_t> tiers_;    // By part; 0 of both kinds of servers.
  std::map<std::pair<uint32_t, uint32_t>, Line> lines_;
};

using Neighbours = std::vector<std::set<uint32_t>>;

Neighbours NeighboursOf(const Parts& parts) {
  Neighbours neighbours(parts.size());
  for (const auto& [ends, line] : parts.lines()) {
    neighbours[ends.first].insert(ends.second);
    neighbours[ends.second].insert(ends.first);
  }
  return neighbours;
}

// Splits `group` until all parts of a group have neighbours in the same groups.
// Source: colour refinement (1-dimensional Weisfeiler-Leman).
void Refine(const Neighbours& neighbours, std::vector<uint32_t>& group) {
  for (size_t count = 0;;) {
    std::map<std::pair<uint32_t, std::set<uint32_t>>, uint32_t> ids;
    std::vector<uint32_t> next(group.size());
    for (size_t i = 0; i < group.size(); ++i) {
      std::set<uint32_t> seen;
      for (const uint32_t other : neighbours[i]) seen.insert(group[other]);
      const auto id = static_cast<uint32_t>(ids.size());
      next[i] = ids.try_emplace({group[i], std::move(seen)}, id).first->second;
    }
    group = std::move(next);
    if (ids.size() == count) return;
    count = ids.size();
  }
}

// Numbers the parts by group, where each box is to be drawn once: servers below
// the same switches, and switches that cannot be told apart. If that is still
// too much, all servers are alike.
std::vector<uint32_t> GroupsOf(const Parts& parts, uint32_t num_servers) {
  const Neighbours neighbours = NeighboursOf(parts);
  std::vector<uint32_t> coarse(parts.size());
  constexpr uint32_t kStorageGroup = ~uint32_t{0};
  for (uint32_t i = 0; i < parts.size(); ++i) {
    coarse[i] = parts.is_storage(i) ? kStorageGroup : parts.tier(i);
  }
  std::vector<uint32_t> group = coarse;
  std::map<std::set<uint32_t>, uint32_t> sets;  // Of switches above servers.
  for (uint32_t i = 0; i < num_servers; ++i) {
    const auto id = static_cast<uint32_t>(parts.size() + sets.size());
    group[i] = sets.try_emplace(neighbours[i], id).first->second;
  }
  Refine(neighbours, group);
  const std::set<uint32_t> all(group.begin(), group.end());
  if (all.size() <= kMostBoxes) return group;
  Refine(neighbours, coarse);
  return coarse;
}

std::string NameOf(const Box& box) {
  const uint32_t first = box.members.front();
  const std::string kind = box.is_storage  ? "storage"
                           : box.tier == 0 ? "server"
                                           : fmt::format("tier {}", box.tier);
  if (box.members.size() == 1) {
    return box.tier == 0 ? fmt::format("{} {}", kind, first)
                         : fmt::format("switch {}", first);
  }
  return fmt::format("{} x {}", box.members.size(), kind);
}

std::string TitleOf(const Box& box, const Topology& topology) {
  const std::string what =
      box.is_storage  ? "storage servers"
      : box.tier == 0 ? fmt::format("{} GPUs each", topology.gpus_per_server())
                      : fmt::format("switches of tier {}", box.tier);
  const uint32_t first = box.members.front();
  const uint32_t last = box.members.back();
  return first == last
             ? fmt::format("{}: {}", NameOf(box), what)
             : fmt::format("{}, {} to {}: {}", NameOf(box), first, last, what);
}

class Picture {
 public:
  Picture(const Topology& topology, absl::Span<const double> loads)
      : topology_(topology),
        has_loads_(!loads.empty()),
        parts_(topology, loads) {
    std::vector<uint32_t> group;
    if (parts_.size() > kMostBoxes) {
      group = GroupsOf(parts_, topology.num_servers());
    } else {
      for (uint32_t i = 0; i < parts_.size(); ++i) group.push_back(i);
    }
    MakeBoxes(group);
    PlaceBoxes();
  }

  std::string Draw() const {
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"topology\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n"
        "<title>{2} GPUs in {3} servers, {4} switches, {5} "
        "cables</title>\n",
        width_, height_, topology_.num_gpus(), topology_.num_servers(),
        parts_.size() - topology_.num_servers() - topology_.num_storage(),
        topology_.links().size() / 2);
    text += kStyle;
    for (const auto& [ends, line] : lines_) {
      text += DrawLine(boxes_[ends.first], boxes_[ends.second], line);
    }
    for (const Box& box : boxes_) text += DrawBox(box);
    if (boxes_.size() < parts_.size()) {
      for (const auto& [ends, line] : lines_) {
        text += DrawLabel(boxes_[ends.first], boxes_[ends.second], line);
      }
    }
    return text + "</svg>\n";
  }

 private:
  void MakeBoxes(const std::vector<uint32_t>& group) {
    std::map<uint32_t, uint32_t> box_of;  // By group.
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      const auto next = static_cast<uint32_t>(boxes_.size());
      const auto [known, is_new] = box_of.try_emplace(group[i], next);
      if (is_new) {
        boxes_.emplace_back();
        boxes_.back().tier = parts_.tier(i);
        boxes_.back().is_storage = parts_.is_storage(i);
      }
      boxes_[known->second].members.push_back(parts_.Number(i));
    }
    for (const auto& [ends, line] : parts_.lines()) {
      Line& sum = lines_[std::minmax(box_of.at(group[ends.first]),
                                     box_of.at(group[ends.second]))];
      sum.cables += line.cables;
      sum.gbps += line.gbps;
      sum.load = std::max(sum.load, line.load);
    }
  }

  // A row for each tier, the highest on top, each in the middle.
  void PlaceBoxes() {
    std::map<uint32_t, std::vector<Box*>> rows;
    for (Box& box : boxes_) rows[box.tier].push_back(&box);
    size_t most = 0;
    for (const auto& [tier, row] : rows) most = std::max(most, row.size());
    width_ = static_cast<double>(most) * (kBoxWidth + kGap) + 2 * kMargin;
    const uint32_t top = rows.rbegin()->first;
    height_ = kRowHeight * top + kBoxHeight + 2 * kMargin;
    for (auto& [tier, row] : rows) {
      const double step =
          (width_ - 2 * kMargin) / static_cast<double>(row.size());
      for (size_t i = 0; i < row.size(); ++i) {
        row[i]->x = kMargin + step * (static_cast<double>(i) + 0.5);
        row[i]->y = kMargin + kBoxHeight / 2 + kRowHeight * (top - tier);
      }
    }
    double highest = 0;  // Of the arcs above the boxes.
    for (const auto& [ends, line] : lines_) {
      const double bend = BendOf(boxes_[ends.first], boxes_[ends.second]);
      highest = std::max(highest, bend - boxes_[ends.first].y + kMargin);
    }
    for (Box& box : boxes_) box.y += highest;
    height_ += highest;
  }

  // How far the arc of a line within a row stands above its ends; a line
  // between rows is straight.
  static double BendOf(const Box& a, const Box& b) {
    if (a.tier != b.tier) return 0;
    return kBoxHeight / 2 + 20 + 0.08 * std::abs(a.x - b.x);
  }

  std::string DrawLine(const Box& a, const Box& b, const Line& line) const {
    const double width = std::clamp(std::log10(line.gbps) - 1, 0.75, 6.0);
    const double middle = (a.y + b.y) / 2 - 2 * BendOf(a, b);
    const double side = &a == &b ? kBoxWidth / 4 : 0;
    std::string style;
    std::string load;
    if (has_loads_) {
      style = fmt::format(" style=\"stroke:{};stroke-opacity:1\"",
                          ColourOf(line.load));
      load = fmt::format(", {:.1f} % used", 100 * line.load);
    }
    return fmt::format(
        "<path class=\"link\"{} stroke-width=\"{:.2f}\" d=\"M{:.1f} {:.1f} "
        "Q{:.1f} {:.1f} {:.1f} {:.1f}\"><title>{} to {}: {} cable{}, {:g} Gbps "
        "in all{}</title></path>\n",
        style, width, a.x - side, a.y, (a.x + b.x) / 2, middle, b.x + side, b.y,
        NameOf(a), NameOf(b), line.cables, line.cables == 1 ? "" : "s",
        line.gbps, load);
  }

  // What the lines between groups stand for, in two short lines; near the lower
  // end, where lines to one box are apart.
  static std::string DrawLabel(const Box& a, const Box& b, const Line& line) {
    constexpr double kGbpsPerTbps = 1000;
    const double to_a = a.tier == b.tier ? 0.5 : a.tier < b.tier ? 0.75 : 0.25;
    return fmt::format(
        "<text class=\"label\" y=\"{1:.1f}\"><tspan x=\"{0:.1f}\">{2} "
        "cables</tspan><tspan x=\"{0:.1f}\" dy=\"14\">{3:g} Tbps</tspan>"
        "</text>\n",
        to_a * a.x + (1 - to_a) * b.x,
        to_a * a.y + (1 - to_a) * b.y - BendOf(a, b) - 4, line.cables,
        line.gbps / kGbpsPerTbps);
  }

  std::string DrawBox(const Box& box) const {
    return fmt::format(
        "<g><title>{}</title><rect class=\"box{}\" x=\"{:.1f}\" y=\"{:.1f}\" "
        "width=\"{:g}\" height=\"{:g}\" rx=\"5\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text></g>\n",
        TitleOf(box, topology_), box.tier == 0 ? " server" : "",
        box.x - kBoxWidth / 2, box.y - kBoxHeight / 2, kBoxWidth, kBoxHeight,
        box.x, box.y + 4, NameOf(box));
  }

  const Topology& topology_;
  const bool has_loads_;
  const Parts parts_;
  std::vector<Box> boxes_;
  std::map<std::pair<uint32_t, uint32_t>, Line> lines_;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace

std::string TopologySvg(const Topology& topology,
                        absl::Span<const double> loads) {
  return Picture(topology, loads).Draw();
}

}  // namespace astra
