// Writes flows.csv while a run goes on, so that memory does not grow with the
// messages that have arrived.
//
//   FlowsLog log(FlowsFile::kAuto, "results/flows.csv", layers, topology);
//   request.simulation.message_log = &log;
//   ... Run(request) ...
//   files.push_back({"flows.csv", "", log.file()});
//
// With FlowsFile::kAuto both forms of the file are written. The one with a line
// for each message is dropped once there are more than kMostMessages, and the
// one with sums is dropped at the end if there are not.
//
// If there are several networks, the file tells of the one that was simulated
// longest, and of the first of equals. Lines of messages come in the order of
// arrival, those of one instant by source, target and channel. Sums come in the
// order in which their collectives ended; those of collectives that did not end
// and of background traffic come last.

#ifndef ASTRA_CORE_APPS_FLOWS_LOG_H_
#define ASTRA_CORE_APPS_FLOWS_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "astra-core/base/files.h"
#include "astra-core/base/units.h"
#include "astra-core/engine/message_log.h"
#include "astra-core/results/message_sums.h"
#include "astra-core/results/message_times.h"
#include "network-frontends/network_statistics.h"
#include "topology/topology.h"

namespace astra {

class FlowsLog final : public MessageLog {
 public:
  // Most messages that kAuto lists one by one.
  static constexpr uint64_t kMostMessages = 1'000'000;

  // `form` is not kNone. `path` is that of the file; `layers` are the names of
  // layers or modules. `topology` must outlive the log.
  FlowsLog(FlowsFile form, std::string path, std::vector<std::string> layers,
           const Topology& topology, uint64_t most_messages = kMostMessages);

  void BeginNetwork() override;
  void EndNetwork(TimePs now) override;
  void BeginCollective(uint32_t collective,
                       const CollectiveRecord& record) override;
  void EndCollective(uint32_t collective) override;
  void Arrive(const FlowRecord& message, absl::Span<const LinkId> path,
              uint32_t collective) override;
  void Repeat(const RepeatedMessages& messages, uint32_t collective) override;
  void Settle(TimePs until) override;

  // Also counts the times of messages, for times(). Requires that no network
  // has begun.
  void KeepTimes() { keeps_times_ = true; }

  // These describe the network that was simulated longest, the last of several,
  // once it has ended.
  uint64_t num_messages() const { return longest_.num_messages; }
  const MessageTimes& times() const { return longest_.times; }
  bool has_each_message() const { return longest_.each != nullptr; }
  const std::shared_ptr<TemporaryFile>& file() const {
    return has_each_message() ? longest_.each : longest_.sums;
  }

 private:
  struct Collective {
    CollectiveRecord record;
    MessageSums sums;
    std::vector<PairSum> repeated;  // Instead, of one that is counted again.
  };
  // The files of a network; null if they are not written.
  struct Files {
    std::shared_ptr<TemporaryFile> each;
    std::shared_ptr<TemporaryFile> sums;
    uint64_t num_messages = 0;
    MessageTimes times;  // Empty unless KeepTimes() was called.
    TimePs end;
  };
  // The line of a message that others may have to come before.
  struct PendingLine {
    TimePs finish;
    // Source, target, channel, start and size of the message.
    std::tuple<NodeId, NodeId, uint32_t, TimePs, Bytes> message;
    uint64_t number = 0;  // In the order in which messages were told.
    std::string text;

    friend bool operator>(const PendingLine& a, const PendingLine& b) {
      return std::tie(a.finish, a.message, a.number) >
             std::tie(b.finish, b.message, b.number);
    }
  };
  // The sums of a sequence of messages, from its own begin. They are the same
  // wherever it is repeated, but for source and target.
  struct SequenceSums {
    std::vector<PairSum> sums;
    std::vector<uint32_t> connections;  // One of each pair.
    MessageTimes times;                 // Empty unless they are kept.
  };

  void Count(uint64_t num_messages);
  void WriteEach(const FlowRecord& message, absl::Span<const LinkId> path,
                 uint32_t collective);
  void WriteEach(const RepeatedMessages& messages, uint32_t collective);
  const SequenceSums& SumsOf(const RepeatedMessages& messages);
  void WriteSums(absl::Span<const PairSum> sums,
                 const SummedMessages& messages);

  const FlowsFile form_;
  const std::string path_;
  const std::vector<std::string> layers_;
  const Topology& topology_;
  const uint64_t most_messages_;
  bool keeps_times_ = false;
  uint32_t num_networks_ = 0;
  Files files_;    // Of the present network.
  Files longest_;  // Of the network that was simulated longest.
  // Collectives that have begun and not ended; for look-up only.
  absl::flat_hash_map<uint32_t, Collective> collectives_;
  MessageSums background_;
  std::vector<PendingLine> pending_;  // A heap, the first to arrive on top.
  uint64_t num_told_ = 0;
  // For look-up only.
  absl::flat_hash_map<std::shared_ptr<const MessageSequence>, SequenceSums>
      sums_of_;
  std::string text_;  // Scratch.
};

}  // namespace astra

#endif  // ASTRA_CORE_APPS_FLOWS_LOG_H_
