// Collects what the packet network reports as NetworkStatistics: counters, and
// the records that RecordOptions asks for.

#ifndef NETWORK_FRONTENDS_PACKET_RECORDS_H_
#define NETWORK_FRONTENDS_PACKET_RECORDS_H_

#include <vector>

#include "absl/types/span.h"
#include "astra-core/base/ids.h"
#include "astra-core/base/run_progress.h"
#include "astra-core/base/units.h"
#include "network-frontends/network_statistics.h"
#include "network-frontends/packet/packet.h"
#include "network-frontends/packet/packet_setup.h"
#include "network-frontends/packet/ports.h"
#include "network-frontends/packet/queue_pair.h"

namespace astra {

class Records {
 public:
  // `setup` must outlive the records.
  explicit Records(const PacketSetup& setup);

  // The totals of packets, events and times, for the parts that count them.
  NetworkStatistics& totals() { return statistics_; }
  // See NetworkBackend.
  WorkDone work() const {
    return {statistics_.num_events, statistics_.num_flows};
  }

  // Counts what makes a packet's way depend on more than the packets that it
  // meets: a draw, a shortage of buffers, a loss, a pause, a timeout.
  void CountIrregular() { ++num_irregular_; }
  uint64_t num_irregular() const { return num_irregular_; }

  void CountMark(LinkId link) { ++OfLink(link).marked; }
  // Counts a packet that was dropped for want of buffer before `link`.
  void CountDrop(LinkId link);
  // Counts a packet that was lost on `link`, by an error or because the link is
  // down.
  void CountLoss(LinkId link);

  // Notes that data on `link` is paused or goes on.
  void AddPause(LinkId link, bool is_pause, TimePs now);
  // Notes an acknowledgement of a marked packet.
  void AddMarkedAck(const QueuePair& qp, TimePs now);
  // Hands each message that arrives from now on to `log`.
  void LogArrivals(const ArrivalLog& log) { log_ = log; }
  void CountFlow() { ++statistics_.num_flows; }
  // Returns whether anybody wants to know of messages that arrive.
  bool wants_flows() const { return log_ || options_.flows; }
  // Notes a message that has arrived. kNoId ends its `path`.
  void AddFlow(const QueuePair& qp, const MessageState& message,
               const LinkId* path, TimePs ideal, TimePs now);

  bool captures(LinkId link) const { return link == captured_; }
  // Notes a packet that begins to leave on the captured link. `qp` is its queue
  // pair, or nullptr if it has none.
  void AddCapture(const Packet& packet, const QueuePair* qp, TimePs start);

  // Samples are due at next_sample(), which is kNever if none are asked for.
  TimePs next_sample() const { return next_sample_; }
  void AddSample(LinkId link, const Port& port);
  void AddSample(const QueuePair& qp);
  void EndSample();
  // Skips samples before `up_to` when there is nothing to record.
  void SkipSamples(TimePs up_to);

  // Returns the payload that each link has carried. Requires that all ports are
  // advanced.
  absl::Span<const double> LinkBytes(const Ports& ports);
  // Returns the statistics up to `now`. Requires the same.
  const NetworkStatistics& Finish(const Ports& ports, TimePs now);

 private:
  template <class Record>
  void Append(std::vector<Record>& list, const Record& record) {
    if (list.size() < options_.max_records) {
      list.push_back(record);
    } else {
      ++statistics_.num_lost_records;
    }
  }
  void Keep(FlowRecord record, absl::Span<const LinkId> path);
  LinkRecord& OfLink(LinkId link) { return statistics_.links[link.index()]; }

  const PacketSetup& setup_;
  const RecordOptions& options_;
  const bool has_cnps_;
  const LinkId captured_;
  NetworkStatistics statistics_;
  uint64_t num_irregular_ = 0;
  ArrivalLog log_;  // Empty if nobody listens.
  std::vector<double> link_bytes_;
  TimePs next_sample_ = kNever;
  // Begin of the pause of each link; kNever: not paused.
  std::vector<TimePs> paused_since_;
};

}  // namespace astra

#endif  // NETWORK_FRONTENDS_PACKET_RECORDS_H_
