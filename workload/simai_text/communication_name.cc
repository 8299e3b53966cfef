#include "workload/simai_text/communication_name.h"

#include "fmt/core.h"

namespace astra {
namespace {

struct TypeName {
  std::string_view text;
  CollectiveKind kind;
};
constexpr TypeName kTypes[] = {
    {"ALLREDUCE", CollectiveKind::kAllReduce},
    {"ALLGATHER", CollectiveKind::kAllGather},
    {"REDUCESCATTER", CollectiveKind::kReduceScatter},
    {"ALLTOALL", CollectiveKind::kAllToAll},
};

// A suffix of the type names the group. Without a suffix, weight gradients are
// exchanged over DP, and the data of the other phases over TP.
struct GroupSuffix {
  std::string_view text;
  ParallelDimension dimension;
};
constexpr GroupSuffix kSuffixes[] = {
    {"_EP", ParallelDimension::kExpert},
    {"_DP_EP", ParallelDimension::kDataExpert},
};

ParallelDimension DefaultDimension(Phase phase) {
  return phase == Phase::kWeightGradient ? ParallelDimension::kData
                                         : ParallelDimension::kTensor;
}

}  // namespace

std::vector<std::string> CommunicationNames() {
  std::vector<std::string> names = {std::string(kNoCommunication)};
  for (const TypeName& type : kTypes) {
    names.emplace_back(type.text);
    for (const GroupSuffix& suffix : kSuffixes) {
      names.push_back(fmt::format("{}{}", type.text, suffix.text));
    }
  }
  return names;
}

std::optional<Communication> FindCommunication(std::string_view text,
                                               Phase phase) {
  for (const TypeName& type : kTypes) {
    if (text.substr(0, type.text.size()) != type.text) continue;
    const std::string_view rest = text.substr(type.text.size());
    if (rest.empty()) return {{type.kind, DefaultDimension(phase), Bytes(0)}};
    for (const GroupSuffix& suffix : kSuffixes) {
      if (rest == suffix.text) return {{type.kind, suffix.dimension, Bytes(0)}};
    }
  }
  return std::nullopt;
}

std::string NameOf(const Communication& communication, Phase phase) {
  std::string text;
  for (const TypeName& type : kTypes) {
    if (type.kind == communication.kind) text = type.text;
  }
  if (communication.dimension == DefaultDimension(phase)) return text;
  for (const GroupSuffix& suffix : kSuffixes) {
    if (suffix.dimension == communication.dimension) text += suffix.text;
  }
  return text;
}

}  // namespace astra
