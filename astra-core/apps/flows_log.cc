#include "astra-core/apps/flows_log.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "astra-core/results/network_tables.h"
#include "fmt/core.h"

namespace astra {

FlowsLog::FlowsLog(FlowsFile form, std::string path,
                   std::vector<std::string> layers, const Topology& topology,
                   uint64_t most_messages)
    : form_(form),
      path_(std::move(path)),
      layers_(std::move(layers)),
      topology_(topology),
      most_messages_(most_messages) {}

void FlowsLog::BeginNetwork() {
  files_ = {};
  collectives_.clear();
  background_ = {};
  ++num_networks_;
  if (form_ != FlowsFile::kSummary) {
    files_.each = std::make_shared<TemporaryFile>(
        path_, fmt::format("each{}", num_networks_));
    // Close() returns the error, if there is one.
    files_.each->Open().IgnoreError();
    files_.each->Append(FlowsHeader());
  }
  if (form_ != FlowsFile::kEach) {
    files_.sums = std::make_shared<TemporaryFile>(
        path_, fmt::format("sums{}", num_networks_));
    files_.sums->Open().IgnoreError();
    files_.sums->Append(MessageSumsHeader());
  }
}

void FlowsLog::EndNetwork(TimePs now) {
  if (files_.sums != nullptr) {
    std::vector<uint32_t> left;
    for (const auto& [number, _] : collectives_) left.push_back(number);
    std::sort(left.begin(), left.end());
    for (const uint32_t number : left) EndCollective(number);
    WriteSums(background_, {});
  }
  files_.end = now;
  const bool is_first = num_networks_ == 1;
  if (is_first || now > longest_.end) longest_ = std::move(files_);
  files_ = {};
}

void FlowsLog::BeginCollective(uint32_t collective,
                               const CollectiveRecord& record) {
  collectives_[collective].record = record;
}

void FlowsLog::EndCollective(uint32_t collective) {
  const auto ended = collectives_.find(collective);
  if (files_.sums != nullptr) {
    auto& [record, sums] = ended->second;
    WriteSums(sums,
              {layers_[record.layer.index()], &record, record.first_start});
  }
  collectives_.erase(ended);
}

void FlowsLog::Arrive(const FlowRecord& message, absl::Span<const LinkId> path,
                      uint32_t collective) {
  ++files_.num_messages;
  if (form_ == FlowsFile::kAuto && files_.num_messages > most_messages_) {
    files_.each = nullptr;
  }
  if (files_.each != nullptr) WriteEach(message, path, collective);
  if (files_.sums == nullptr) return;
  if (collective == kNone) {
    background_.Add(message, TimePs());
  } else {
    Collective& owner = collectives_.at(collective);
    owner.sums.Add(message, owner.record.first_start);
  }
}

void FlowsLog::WriteEach(const FlowRecord& message,
                         absl::Span<const LinkId> path, uint32_t collective) {
  text_.clear();
  std::string_view layer;
  if (collective != kNone) {
    layer = layers_[collectives_.at(collective).record.layer.index()];
  }
  AppendFlow(message, path, layer, topology_, &text_);
  files_.each->Append(text_);
}

void FlowsLog::WriteSums(MessageSums& sums, const SummedMessages& messages) {
  sums.Sort();
  for (const PairSum& sum : sums.all()) {
    text_.clear();
    AppendMessageSum(sum, messages, &text_);
    files_.sums->Append(text_);
  }
}

}  // namespace astra
