#include "astra-core/physical/control_message.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/collective_kind.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/hosts/bytes.h"

namespace astra {
namespace {

void Add(const JoinMessage& message, ByteWriter& writer) {
  writer.Add32(message.rank.index());
  writer.Add32(message.num_ranks);
  writer.AddText(message.digest);
  writer.AddText(message.host);
  writer.AddText(message.boot);
  writer.AddText(message.address);
  writer.Add32(message.port);
}

void Read(ByteReader& reader, JoinMessage& message) {
  message.rank = RankId(reader.Read32());
  message.num_ranks = reader.Read32();
  message.digest = reader.ReadText();
  message.host = reader.ReadText();
  message.boot = reader.ReadText();
  message.address = reader.ReadText();
  message.port = static_cast<uint16_t>(reader.Read32());
}

void Add(const RosterMessage& message, ByteWriter& writer) {
  writer.AddText(message.session);
  writer.Add32(static_cast<uint32_t>(message.ranks.size()));
  for (const Endpoint& rank : message.ranks) {
    writer.AddText(rank.host);
    writer.Add32(rank.port);
  }
}

void Read(ByteReader& reader, RosterMessage& message) {
  message.session = reader.ReadText();
  message.ranks.resize(reader.ReadCount(/*bytes_of_each=*/8));
  for (Endpoint& rank : message.ranks) {
    rank.host = reader.ReadText();
    rank.port = static_cast<uint16_t>(reader.Read32());
  }
}

void Add(const ConnectedMessage& message, ByteWriter& writer) {
  writer.AddText(message.network.provider);
  writer.AddText(message.network.device);
}
void Read(ByteReader& reader, ConnectedMessage& message) {
  message.network.provider = reader.ReadText();
  message.network.device = reader.ReadText();
}

void Add(const FinishMessage&, ByteWriter&) {}
void Read(ByteReader&, FinishMessage&) {}

void Add(const PingMessage& message, ByteWriter& writer) {
  writer.Add32(message.number);
}
void Read(ByteReader& reader, PingMessage& message) {
  message.number = reader.Read32();
}

void Add(const PongMessage& message, ByteWriter& writer) {
  writer.Add32(message.number);
  writer.AddTime(message.clock.count());
}
void Read(ByteReader& reader, PongMessage& message) {
  message.number = reader.Read32();
  message.clock = HostTime(reader.ReadTime());
}

void Add(const BeginMessage& message, ByteWriter& writer) {
  writer.Add32(message.iteration);
  writer.AddTime(message.at.count());
}
void Read(ByteReader& reader, BeginMessage& message) {
  message.iteration = reader.Read32();
  message.at = HostTime(reader.ReadTime());
}

void Add(const AbortMessage& message, ByteWriter& writer) {
  writer.AddText(message.why);
}
void Read(ByteReader& reader, AbortMessage& message) {
  message.why = reader.ReadText();
}

// Number of bytes that Add() writes for MemberTimes.
constexpr size_t kMemberBytes = 39;

void Add(const MemberTimes& times, ByteWriter& writer) {
  writer.Add32(times.communicator);
  writer.Add32(times.number);
  writer.Add32(times.layer.index());
  writer.Add8(static_cast<uint8_t>(times.phase));
  writer.Add8(static_cast<uint8_t>(times.communication.kind));
  writer.Add8(static_cast<uint8_t>(times.communication.dimension));
  writer.AddTime(times.communication.bytes.count());
  writer.AddTime(times.joined.count());
  writer.AddTime(times.result.count());
}

// Reads a name of an enum whose values are those below `num_names`.
template <class Enum>
Enum ReadEnum(ByteReader& reader, size_t num_names, bool& is_known) {
  const uint8_t value = reader.Read8();
  is_known &= value < num_names;
  return static_cast<Enum>(value < num_names ? value : 0);
}

bool Read(ByteReader& reader, MemberTimes& times) {
  bool is_known = true;
  times.communicator = reader.Read32();
  times.number = reader.Read32();
  times.layer = LayerId(reader.Read32());
  times.phase = ReadEnum<Phase>(reader, kNumPhases, is_known);
  times.communication.kind =
      ReadEnum<CollectiveKind>(reader, std::size(kCollectiveKinds), is_known);
  times.communication.dimension =
      ReadEnum<ParallelDimension>(reader, kNumParallelDimensions, is_known);
  times.communication.bytes = Bytes(reader.ReadTime());
  times.joined = TimePs(reader.ReadTime());
  times.result = TimePs(reader.ReadTime());
  return is_known && times.result >= times.joined && times.joined >= TimePs(0);
}

void Add(const ReportMessage& message, ByteWriter& writer) {
  const RankReport& report = message.report;
  writer.Add32(message.iteration);
  writer.AddTime(report.finish.count());
  writer.AddTime(report.compute.count());
  writer.AddTime(report.slowed.count());
  for (const TimePs exposed : report.exposed) writer.AddTime(exposed.count());
  writer.Add32(static_cast<uint32_t>(report.collectives.size()));
  for (const MemberTimes& times : report.collectives) Add(times, writer);
}

bool Read(ByteReader& reader, ReportMessage& message) {
  RankReport& report = message.report;
  message.iteration = reader.Read32();
  report.finish = TimePs(reader.ReadTime());
  report.compute = TimePs(reader.ReadTime());
  report.slowed = TimePs(reader.ReadTime());
  for (TimePs& exposed : report.exposed) exposed = TimePs(reader.ReadTime());
  report.collectives.resize(reader.ReadCount(kMemberBytes));
  bool is_right = true;
  for (MemberTimes& times : report.collectives) {
    is_right &= Read(reader, times);
  }
  return is_right;
}

absl::Status Unknown() {
  return absl::InvalidArgumentError("what arrived is no message of a run");
}

template <class Message>
absl::StatusOr<ControlMessage> Parse(ByteReader& reader) {
  Message message;
  if constexpr (std::is_same_v<Message, ReportMessage>) {
    if (!Read(reader, message)) return Unknown();
  } else {
    Read(reader, message);
  }
  ASTRA_RETURN_IF_ERROR(reader.status());
  return ControlMessage(std::move(message));
}

// Parses the alternative of ControlMessage that has the number `kind`.
template <size_t... kKinds>
absl::StatusOr<ControlMessage> ParseKind(size_t kind, ByteReader& reader,
                                         std::index_sequence<kKinds...>) {
  std::optional<absl::StatusOr<ControlMessage>> parsed;
  (void)((kind == kKinds &&
          (parsed = Parse<std::variant_alternative_t<kKinds, ControlMessage>>(
               reader),
           true)) ||
         ...);
  return parsed ? *std::move(parsed) : Unknown();
}

}  // namespace

std::string Encode(const ControlMessage& message) {
  ByteWriter writer;
  writer.Add8(static_cast<uint8_t>(message.index()));
  std::visit([&writer](const auto& each) { Add(each, writer); }, message);
  return writer.Take();
}

absl::StatusOr<ControlMessage> ParseControlMessage(std::string_view bytes) {
  ByteReader reader(bytes);
  const size_t kind = reader.Read8();
  return ParseKind(
      kind, reader,
      std::make_index_sequence<std::variant_size_v<ControlMessage>>());
}

}  // namespace astra
