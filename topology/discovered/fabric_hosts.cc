#include "topology/discovered/fabric_hosts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "astra-core/base/field_error.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"
#include "topology/discovered/natural_order.h"

namespace astra {
namespace {

// Warnings of each kind; further ones are counted.
constexpr size_t kMostWarnings = 10;

struct NaturallyLess {
  bool operator()(const std::string& a, const std::string& b) const {
    return IsNaturallyLess(a, b);
  }
};

// Returns host and device of a description, if it has two words.
std::optional<std::pair<std::string, std::string>> HostAndDevice(
    const std::string& description) {
  const size_t blank = description.find(' ');
  if (blank == 0 || blank == std::string::npos ||
      blank + 1 == description.size() ||
      description.find(' ', blank + 1) != std::string::npos) {
    return std::nullopt;
  }
  return std::pair(description.substr(0, blank), description.substr(blank + 1));
}

// Adapters that belong to no host, by their description.
class LeftOut {
 public:
  void Add(const IbNode& node) {
    const auto [found, is_new] =
        count_.try_emplace(IbNodeName(node), node.line, 0);
    ++found->second.second;
  }

  void Warn(std::string_view file, Warnings* warnings) const {
    size_t told = 0;
    for (const auto& [name, lines] : count_) {
      if (++told > kMostWarnings) break;
      warnings->push_back(fmt::format(
          "{}:{}:1: {} named {} {} left out: expected \"HOST DEVICE\", such as "
          "\"node1 mlx5_0\"",
          file, lines.first,
          lines.second == 1 ? "an adapter"
                            : fmt::format("{} adapters", lines.second),
          name, lines.second == 1 ? "is" : "are"));
    }
    if (count_.size() <= kMostWarnings) return;
    warnings->push_back(
        fmt::format("{}: adapters with {} more descriptions are left out", file,
                    count_.size() - kMostWarnings));
  }

 private:
  // First line, and number of adapters.
  std::map<std::string, std::pair<uint32_t, uint32_t>> count_;
};

// Returns the ports of `host` that have the names of the NICs, in their order;
// none if one is missing or a name is there twice, as on the hosts of a rack.
std::vector<HostPort> PortsByName(const FabricHost& host,
                                  const std::vector<ServerNic>& nics,
                                  const IbFabric& fabric) {
  std::vector<HostPort> ports;
  std::set<std::pair<std::string, uint32_t>> seen;
  for (const ServerNic& nic : nics) {
    const auto found = std::find_if(
        host.ports.begin(), host.ports.end(), [&](const HostPort& port) {
          const IbNode& node = fabric.nodes[port.node];
          return port.device == nic.name &&
                 node.ports[port.port].number == nic.port;
        });
    if (found == host.ports.end()) return {};
    if (!seen.emplace(nic.name, nic.port).second) return {};
    ports.push_back(*found);
  }
  return ports;
}

// Returns the number of ports that most hosts have; of several, the largest. 0
// if no host has a port.
size_t PortsOfMostHosts(const std::vector<FabricHost>& hosts) {
  std::map<size_t, size_t> hosts_with;  // By number of ports.
  for (const FabricHost& host : hosts) ++hosts_with[host.ports.size()];
  size_t nics = 0;
  size_t most = 0;
  for (const auto& [ports, count] : hosts_with) {
    if (ports == 0 || count < most) continue;
    nics = ports;
    most = count;
  }
  return nics;
}

std::string NicsText(size_t count) {
  return fmt::format("{} NIC{}", count, count == 1 ? "" : "s");
}

// Returns the first of two ports behind one another that have one device and
// number; the end if there is none.
std::vector<HostPort>::const_iterator PortTwice(
    const std::vector<HostPort>& ports, const IbFabric& fabric) {
  return std::adjacent_find(
      ports.begin(), ports.end(), [&](const HostPort& a, const HostPort& b) {
        return a.device == b.device &&
               fabric.nodes[a.node].ports[a.port].number ==
                   fabric.nodes[b.node].ports[b.port].number;
      });
}

// Adds the first of the warnings of hosts, and says of how many others `what`
// is true.
void TellOfHosts(std::string_view file, Warnings of_hosts,
                 std::string_view what, Warnings* warnings) {
  const size_t told = std::min(of_hosts.size(), kMostWarnings);
  for (size_t i = 0; i < told; ++i) {
    warnings->push_back(std::move(of_hosts[i]));
  }
  if (told == of_hosts.size()) return;
  warnings->push_back(
      fmt::format("{}: {} more hosts {}", file, of_hosts.size() - told, what));
}

}  // namespace

std::vector<FabricHost> FindHosts(std::string_view file, const IbFabric& fabric,
                                  Warnings* warnings) {
  std::map<std::string, std::vector<HostPort>, NaturallyLess> ports_of;
  LeftOut left_out;
  for (uint32_t i = 0; i < fabric.nodes.size(); ++i) {
    const IbNode& node = fabric.nodes[i];
    if (node.kind == IbNodeKind::kSwitch) continue;
    const auto words = HostAndDevice(node.description);
    if (node.kind == IbNodeKind::kRouter || !words) {
      left_out.Add(node);
      continue;
    }
    std::vector<HostPort>& ports = ports_of[words->first];
    for (uint32_t j = 0; j < node.ports.size(); ++j) {
      const IbNode& peer = fabric.nodes[node.ports[j].peer];
      if (peer.kind != IbNodeKind::kSwitch) continue;
      ports.push_back({words->second, i, j});
    }
  }
  left_out.Warn(file, warnings);
  std::vector<FabricHost> hosts;
  Warnings twice;
  for (auto& [name, ports] : ports_of) {
    std::stable_sort(ports.begin(), ports.end(),
                     [&](const HostPort& a, const HostPort& b) {
                       if (a.device != b.device) {
                         return IsNaturallyLess(a.device, b.device);
                       }
                       return fabric.nodes[a.node].ports[a.port].number <
                              fabric.nodes[b.node].ports[b.port].number;
                     });
    const auto first = PortTwice(ports, fabric);
    const bool has_port_twice = first != ports.end();
    if (has_port_twice) {
      const IbPort& port = fabric.nodes[first->node].ports[first->port];
      const HostPort& second = first[1];
      twice.push_back(fmt::format(
          "{}:{}:1: the host {} has port {} of {} twice, here and on line {}: "
          "its NICs are taken in order",
          file, fabric.nodes[second.node].ports[second.port].line, Quoted(name),
          port.number, Quoted(first->device), port.line));
    }
    hosts.push_back({name, std::move(ports), has_port_twice});
  }
  TellOfHosts(file, std::move(twice), "have a port twice", warnings);
  return hosts;
}

absl::StatusOr<std::vector<FabricHost>> ChooseHosts(
    const std::vector<FabricHost>& hosts,
    const std::vector<std::string>& names) {
  std::map<std::string_view, const FabricHost*> by_name;
  std::vector<std::string_view> known;
  for (const FabricHost& host : hosts) {
    by_name[host.name] = &host;
    known.push_back(host.name);
  }
  std::vector<FabricHost> chosen;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = by_name.find(names[i]);
    if (found == by_name.end()) {
      return FieldError(
          fmt::format("{}", i),
          fmt::format("the fabric has no host {}{}", Quoted(names[i]),
                      DidYouMean(names[i], known)));
    }
    if (!seen.insert(names[i]).second) {
      return FieldError(fmt::format("{}", i),
                        fmt::format("{} is there twice", Quoted(names[i])));
    }
    chosen.push_back(*found->second);
  }
  return chosen;
}

absl::StatusOr<std::vector<std::string>> ParseHostNames(
    std::string_view file, std::string_view contents,
    std::vector<uint32_t>* lines) {
  TextReader reader(file, contents);
  std::vector<std::string> names;
  while (reader.NextLine()) {
    if (reader.tokens().empty()) continue;
    const Token& name = reader.tokens().front();
    if (name.text.starts_with('#')) continue;
    if (reader.tokens().size() > 1) {
      return reader.Error(reader.tokens()[1],
                          fmt::format("unexpected {}: expected one host a line",
                                      Quoted(reader.tokens()[1].text)));
    }
    names.emplace_back(name.text);
    lines->push_back(name.line);
  }
  if (names.empty()) {
    return reader.Error({.text = "", .line = 1, .column = 1},
                        "expected the names of hosts, one a line");
  }
  return names;
}

void AddNicsOfMostHosts(const std::vector<FabricHost>& hosts,
                        ServerSpec* server) {
  if (!server->nics.empty()) return;
  const size_t nics = PortsOfMostHosts(hosts);
  server->nics.resize(nics);
  const size_t more = std::max<size_t>(nics, server->gpus);
  for (size_t i = 0; i < more && nics > 0; ++i) {
    server->nics[i * nics / more].gpus.push_back(
        static_cast<uint32_t>(i * server->gpus / more));
  }
}

std::vector<FabricHost> JoinHostsOfRacks(std::vector<FabricHost> hosts,
                                         size_t nics, std::string_view file,
                                         Warnings* warnings) {
  const size_t per_host = PortsOfMostHosts(hosts);
  if (per_host == 0 || nics <= per_host || nics % per_host != 0) return hosts;
  std::vector<FabricHost> joined;
  std::vector<FabricHost> others;
  std::vector<FabricHost> rack;
  for (FabricHost& host : hosts) {
    if (host.ports.size() != per_host) {
      others.push_back(std::move(host));
      continue;
    }
    rack.push_back(std::move(host));
    if (rack.size() * per_host < nics) continue;
    FabricHost server = {
        fmt::format("{} to {}", rack.front().name, rack.back().name), {}};
    for (const FabricHost& each : rack) {
      server.ports.insert(server.ports.end(), each.ports.begin(),
                          each.ports.end());
    }
    joined.push_back(std::move(server));
    rack.clear();
  }
  if (!joined.empty()) {
    warnings->push_back(fmt::format(
        "{}: {} successive hosts with {} each are a server, such as {}", file,
        nics / per_host, NicsText(per_host), joined.front().name));
  }
  joined.insert(joined.end(), std::make_move_iterator(others.begin()),
                std::make_move_iterator(others.end()));
  joined.insert(joined.end(), std::make_move_iterator(rack.begin()),
                std::make_move_iterator(rack.end()));
  return joined;
}

absl::StatusOr<std::vector<FabricHost>> MatchNics(
    std::vector<FabricHost> hosts, const ServerType& type, bool is_chosen,
    std::string_view file, const IbFabric& fabric, Warnings* warnings) {
  const std::vector<ServerNic>& nics = type.server.nics;
  const size_t most = PortsOfMostHosts(hosts);
  std::vector<FabricHost> matched;
  Warnings left_out;
  bool is_told = false;
  for (FabricHost& host : hosts) {
    std::vector<HostPort> named = PortsByName(host, nics, fabric);
    if (!named.empty()) {
      host.ports = std::move(named);
    } else if (host.ports.size() != nics.size()) {
      const std::string message =
          fmt::format("{}: the host {} has {} in the fabric, and {} has {}",
                      file, Quoted(host.name), NicsText(host.ports.size()),
                      type.name, nics.size());
      if (is_chosen) return absl::InvalidArgumentError(message);
      left_out.push_back(message + ": it is left out");
      continue;
    } else if (!nics.empty() && !nics.front().name.empty() &&
               !host.has_port_twice && !is_told) {
      is_told = true;
      warnings->push_back(fmt::format(
          "{}: the host {} has no NICs of the names in {}: they are taken in "
          "order",
          file, Quoted(host.name), type.name));
    }
    matched.push_back(std::move(host));
  }
  if (matched.empty() || nics.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: no host has {}, most have {}: adapters of hosts are "
                    "described as \"HOST DEVICE\"",
                    file, nics.empty() ? "NICs" : NicsText(nics.size()), most));
  }
  TellOfHosts(file, std::move(left_out), "are left out", warnings);
  return matched;
}

}  // namespace astra
