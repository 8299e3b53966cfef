#include "astra-core/apps/testbed/wire.h"

#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// What a NIC holds of a host's data; the rest waits in the host's kernel.
constexpr Bytes kNicRoom = KiB(128);

// The tag of descriptors that stop the wire; hosts have their numbers.
constexpr uint32_t kStop = UINT32_MAX;

TimePs Now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return TimePs(time.tv_sec * 1'000'000'000'000 + time.tv_nsec * 1'000);
}

absl::Status CallFailed(std::string_view what) {
  return absl::UnavailableError(fmt::format("{}: {}", what, strerror(errno)));
}

absl::Status Watch(int epoll, int descriptor, uint32_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = tag;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) < 0) {
    return CallFailed("epoll_ctl");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Wire> Wire::Create(const Topology& topology,
                                  const Options& options) {
  if (topology.num_gpus() > kMaxHosts) {
    return absl::InvalidArgumentError(
        fmt::format("{} GPUs: expected at most {}, each is a host of the bed",
                    topology.num_gpus(), kMaxHosts));
  }
  ASTRA_ASSIGN_OR_RETURN(EmulatedFabric fabric,
                         EmulatedFabric::Create(topology, options.fabric));
  std::vector<HostDevice> hosts;
  for (uint32_t i = 0; i < topology.num_gpus(); ++i) {
    ASTRA_ASSIGN_OR_RETURN(HostDevice host, HostDevice::Create());
    hosts.push_back(std::move(host));
  }
  return Wire(topology, options, std::move(hosts), std::move(fabric));
}

absl::Status Wire::Run(absl::Span<const int> stops) {
  const FileDescriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (epoll.number() < 0) return CallFailed("epoll_create1");
  for (const int stop : stops) {
    ASTRA_RETURN_IF_ERROR(Watch(epoll.number(), stop, kStop));
  }
  for (uint32_t i = 0; i < hosts_.size(); ++i) {
    ASTRA_RETURN_IF_ERROR(Watch(epoll.number(), hosts_[i].device(), i));
  }
  std::array<epoll_event, kMaxHosts + 1> ready{};
  TimePs last_traffic = Now();
  while (true) {
    const TimePs begin = Now();
    const bool delivers = Deliver(begin);
    if (delivers) counts_.busy += Now() - begin;
    if (delivers || fabric_.is_busy()) last_traffic = begin;
    const bool sleeps = begin > last_traffic + kSpin && holds_.empty();
    const int count =
        epoll_wait(epoll.number(), ready.data(), static_cast<int>(ready.size()),
                   sleeps ? -1 : 0);
    if (count < 0 && errno != EINTR) return CallFailed("epoll_wait");
    if (sleeps) last_traffic = Now();
    for (int i = 0; i < count; ++i) {
      const uint32_t tag = ready[static_cast<size_t>(i)].data.u32;
      if (tag == kStop) return absl::OkStatus();
      const TimePs now = Now();
      if (ReadFrom(now, RankId(tag))) counts_.busy += Now() - now;
    }
  }
}

// Hands over what has arrived by `now`. Returns whether anything has happened.
bool Wire::Deliver(TimePs now) {
  outcomes_.clear();
  fabric_.AdvanceTo(now, &outcomes_);
  for (const PacketOutcome& outcome : outcomes_) Handle(now, outcome);
  while (!holds_.empty() && holds_.front().until <= now) {
    const Hold hold = holds_.front();
    holds_.pop_front();
    Carried& carried = trains_[hold.train.index()];
    if (carried.run_number == hold.run_number) {
      HandOver(&carried, RankId(carried.train->target() - kFirstAddress));
    }
  }
  return !outcomes_.empty();
}

void Wire::Handle(TimePs now, const PacketOutcome& outcome) {
  const WirePacket& packet = outcome.packet;
  Carried& carried = trains_[packet.train.index()];
  --carried.unfinished;
  if (!outcome.is_dropped) {
    if (carried.run_end != packet.index) HandOver(&carried, packet.target);
    if (carried.run_begin == carried.run_end) {
      carried.run_begin = packet.index;
      holds_.push_back(
          {outcome.time + options_.hold, packet.train, carried.run_number});
    }
    carried.run_end = packet.index + 1;
  }
  if (carried.unfinished > 0) return;
  lateness_.Add(now - outcome.time);
  HandOver(&carried, packet.target);
  Release(packet.train);
}

// Hands the run of `carried` to its host, and begins the next run.
void Wire::HandOver(Carried* carried, RankId target) {
  const uint32_t count = carried->run_end - carried->run_begin;
  if (count == 0) return;
  const absl::Span<const uint8_t> piece(carried->buffer->data(), carried->size);
  const TcpTrain::Run run =
      carried->train->Cut(piece, carried->run_begin, count);
  ++counts_.deliveries;
  if (!hosts_[target.index()].Write(
          absl::MakeConstSpan(run.headers).first(run.headers_size),
          piece.subspan(run.payload_begin, run.payload_size))) {
    ++counts_.refused_pieces;
  }
  carried->run_begin = carried->run_end;
  ++carried->run_number;
}

// Takes the next piece of `host` if its NIC has room. Returns whether there was
// one.
bool Wire::ReadFrom(TimePs now, RankId host) {
  const LinkId uplink = topology_.links_from(Topology::NodeOf(host)).front();
  if (fabric_.UplinkBacklog(now, host) >
      TransferTime(kNicRoom, topology_.type(uplink).bandwidth)) {
    return false;
  }
  const TrainId id = TakeTrain();
  Carried& carried = trains_[id.index()];
  const std::optional<size_t> size =
      hosts_[host.index()].Read(absl::MakeSpan(*carried.buffer));
  if (!size) {
    Release(id);
    return false;
  }
  carried.size = *size;
  Carry(now, host, id);
  return true;
}

void Wire::Carry(TimePs now, RankId source, TrainId id) {
  Carried& carried = trains_[id.index()];
  const auto train = TcpTrain::Parse({carried.buffer->data(), carried.size});
  const uint32_t target =
      train.ok() ? train->target() - kFirstAddress : UINT32_MAX;
  if (target >= hosts_.size() || target == source.index()) {
    ++counts_.foreign_pieces;
    Release(id);
    return;
  }
  carried.train = *train;
  carried.unfinished = train->num_packets();
  carried.run_begin = carried.run_end = 0;
  ++counts_.trains;
  counts_.packets += train->num_packets();
  for (uint32_t i = 0; i < train->num_packets(); ++i) {
    fabric_.Send(now, {source, RankId(target), id, i, train->WireBytes(i)});
  }
}

TrainId Wire::TakeTrain() {
  if (free_trains_.empty()) {
    free_trains_.push_back(TrainId(static_cast<uint32_t>(trains_.size())));
    trains_.emplace_back();
    trains_.back().buffer = std::make_unique<Buffer>();
  }
  const TrainId id = free_trains_.back();
  free_trains_.pop_back();
  return id;
}

void Wire::Release(TrainId id) {
  ++trains_[id.index()].run_number;
  free_trains_.push_back(id);
}

}  // namespace astra
