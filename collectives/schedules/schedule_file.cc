#include "collectives/schedules/schedule_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "astra-core/base/yaml_text.h"
#include "collectives/schedules/schedule_check.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

// Finds what a step waits for if it does not say so.
class DataDependencies {
 public:
  // Returns the earlier steps that bring `flow` something to send.
  std::vector<uint32_t> Of(const ScheduleFlow& flow) const {
    std::vector<uint32_t> after;
    for (uint32_t i = 0; i < flow.num_chunks; ++i) {
      const auto found = arrivals_.find(KeyOf(flow.source, flow, i));
      if (found == arrivals_.end()) continue;
      after.insert(after.end(), found->second.begin(), found->second.end());
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    return after;
  }

  // Adds `flow` as the step `position`.
  void Add(uint32_t position, const ScheduleFlow& flow) {
    for (uint32_t i = 0; i < flow.num_chunks; ++i) {
      std::vector<uint32_t>& arrivals = arrivals_[KeyOf(flow.target, flow, i)];
      if (flow.op == FlowOp::kCopy) arrivals.clear();
      arrivals.push_back(position);
    }
  }

 private:
  static uint64_t KeyOf(GroupRank rank, const ScheduleFlow& flow, uint32_t i) {
    return uint64_t{rank.index()} << 32 | (flow.first_chunk.index() + i);
  }

  // By rank and chunk: the arrivals from the last copy on.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> arrivals_;
};

class Parser {
 public:
  Parser(std::string_view file, std::string_view contents)
      : document_(file, contents) {}

  absl::StatusOr<CustomSchedule> Parse() {
    YamlFields fields = document_.Root("a schedule");
    const std::string name = fields.Text("name");
    ReadCollective(fields);
    const YamlValue* steps = fields.Value("steps");
    if (steps == nullptr) {
      fields.Error("steps", "a schedule has no \"steps\"");
    }
    steps_ = fields.Maps("steps", "a step");
    fields.Close();
    ASTRA_RETURN_IF_ERROR(document_.status());
    ASTRA_RETURN_IF_ERROR(ReadSteps());
    if (const auto fault =
            CustomSchedule::FindFault(name, collective_, flows_)) {
      return FaultAt(fields, *fault);
    }
    ASTRA_ASSIGN_OR_RETURN(
        CustomSchedule schedule,
        CustomSchedule::Create(name, collective_, std::move(flows_)));
    if (const auto fault = FindWrongContents(schedule)) {
      return FaultAt(fields, *fault);
    }
    return schedule;
  }

 private:
  void ReadCollective(YamlFields& fields) {
    std::vector<std::string_view> kinds;
    for (const CollectiveKind kind : kCollectiveKinds) {
      kinds.push_back(Name(kind));
    }
    collective_.kind = kCollectiveKinds[fields.Choice("kind", kinds)];
    collective_.num_ranks = static_cast<uint32_t>(
        fields.Integer("ranks", 2, CustomSchedule::kMaxRanks));
    collective_.num_chunks = static_cast<uint32_t>(
        fields.Integer("chunks", 1, CustomSchedule::kMaxChunks));
    num_channels_ =
        fields.IntegerOr("channels", 1, 1, CollectiveRequest::kMaxChannels);
    collective_.root = static_cast<uint32_t>(
        fields.IntegerOr("root", 0, 0, CustomSchedule::kMaxRanks - 1));
    if (!collective_.is_rooted() && fields.has("root")) {
      fields.Error("root",
                   fmt::format("no {} has a root", Name(collective_.kind)));
    }
  }

  absl::Status ReadSteps() {
    size_t num_moves = 0;
    size_t num_dependencies = 0;
    for (YamlFields& fields : steps_) {
      ScheduleFlow flow = ReadFlow(fields);
      num_moves += flow.num_chunks;
      num_dependencies += flow.after.size();
      if (num_moves > CustomSchedule::kMaxMoves ||
          num_dependencies > CustomSchedule::kMaxDependencies) {
        fields.Error("send", fmt::format("more than {} chunks are sent or {} "
                                         "steps waited for",
                                         CustomSchedule::kMaxMoves,
                                         CustomSchedule::kMaxDependencies));
      }
      ASTRA_RETURN_IF_ERROR(document_.status());
      data_.Add(static_cast<uint32_t>(flows_.size()), flow);
      flows_.push_back(std::move(flow));
    }
    return absl::OkStatus();
  }

  ScheduleFlow ReadFlow(YamlFields& fields) {
    const int64_t last_rank = int64_t{collective_.num_ranks} - 1;
    const int64_t num_chunks = collective_.num_chunks;
    ScheduleFlow flow;
    flow.source =
        GroupRank(static_cast<uint32_t>(fields.Integer("send", 0, last_rank)));
    flow.target =
        GroupRank(static_cast<uint32_t>(fields.Integer("to", 0, last_rank)));
    flow.first_chunk = ChunkId(
        static_cast<uint32_t>(fields.Integer("chunk", 0, num_chunks - 1)));
    flow.num_chunks = static_cast<uint32_t>(
        fields.IntegerOr("count", 1, 1, num_chunks - flow.first_chunk.index()));
    flow.op = fields.BoolOr("reduce", false) ? FlowOp::kReduce : FlowOp::kCopy;
    flow.channel = static_cast<uint16_t>(
        fields.IntegerOr("channel", 0, 0, num_channels_ - 1));
    flow.after =
        fields.Value("after") == nullptr ? data_.Of(flow) : ReadAfter(fields);
    fields.Close();
    return flow;
  }

  std::vector<uint32_t> ReadAfter(YamlFields& fields) {
    std::vector<uint32_t> after;
    const YamlValue* list = fields.Value("after");
    if (list->kind != YamlValue::Kind::kList) {
      fields.Error("after", "after is no list: expected positions of steps");
      return {};
    }
    if (list->children.empty()) return {};
    if (flows_.empty()) {
      fields.Error("after", "the first step has none to wait for");
      return {};
    }
    for (const std::string& text : fields.Texts("after")) {
      const absl::StatusOr<int64_t> position =
          ParseInteger("the step to wait for", text, 0,
                       static_cast<int64_t>(flows_.size()) - 1);
      if (!position.ok()) {
        fields.Error("after", std::string(position.status().message()));
        return {};
      }
      after.push_back(static_cast<uint32_t>(*position));
    }
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    return after;
  }

  absl::Status FaultAt(YamlFields& fields, const ScheduleFault& fault) {
    if (fault.flow) {
      steps_[*fault.flow].Error("send", fault.message);
    } else {
      fields.Error("steps", fault.message);
    }
    return document_.status();
  }

  YamlDocument document_;
  ChunkedCollective collective_;
  int64_t num_channels_ = 1;
  std::vector<YamlFields> steps_;
  std::vector<ScheduleFlow> flows_;
  DataDependencies data_;
};

std::string FormatFlow(const ScheduleFlow& flow, const DataDependencies& data) {
  std::string text = fmt::format("  - {{send: {}, to: {}, chunk: {}",
                                 flow.source, flow.target, flow.first_chunk);
  if (flow.num_chunks > 1) AppendFormat(&text, ", count: {}", flow.num_chunks);
  if (flow.op == FlowOp::kReduce) text += ", reduce: true";
  if (flow.channel > 0) AppendFormat(&text, ", channel: {}", flow.channel);
  if (flow.after != data.Of(flow)) {
    AppendFormat(&text, ", after: [{}]", fmt::join(flow.after, ", "));
  }
  return text + "}\n";
}

}  // namespace

absl::StatusOr<CustomSchedule> ParseSchedule(std::string_view file,
                                             std::string_view contents) {
  return Parser(file, contents).Parse();
}

absl::StatusOr<CustomSchedule> ReadSchedule(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseSchedule(path, contents);
}

absl::StatusOr<std::string> WriteSchedule(const CustomSchedule& schedule) {
  if (const auto fault = FindWrongContents(schedule)) {
    return absl::FailedPreconditionError(
        fmt::format("schedule {} has more than one copy of a chunk on a rank, "
                    "or else is wrong: {}",
                    YamlQuoted(schedule.name()), fault->message));
  }
  const ChunkedCollective& collective = schedule.collective();
  uint16_t last_channel = 0;
  for (const ScheduleFlow& flow : schedule.flows()) {
    last_channel = std::max(last_channel, flow.channel);
  }
  std::string text = fmt::format(
      "name: {}\nkind: {}\nranks: {}\nchunks: {}\nchannels: {}\n",
      YamlQuoted(schedule.name()), Name(collective.kind), collective.num_ranks,
      collective.num_chunks, last_channel + 1);
  if (collective.is_rooted()) {
    AppendFormat(&text, "root: {}\n", collective.root);
  }
  text += schedule.flows().empty() ? "steps: []\n" : "steps:\n";
  DataDependencies data;
  uint32_t position = 0;
  for (const ScheduleFlow& flow : schedule.flows()) {
    text += FormatFlow(flow, data);
    data.Add(position++, flow);
  }
  return text;
}

}  // namespace astra
