// simai_wire: the hosts and the network of a test bed on this machine.

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/apps/testbed/simai_wire_options.h"
#include "astra-core/apps/testbed/wire.h"
#include "astra-core/base/log.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "fmt/core.h"
#include "topology/topology_file.h"

namespace astra {
namespace {

// Returns a descriptor that becomes readable on a signal that asks for the end.
FileDescriptor StopDescriptor() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kStopSignals) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(signalfd(-1, &signals, SFD_CLOEXEC));
}

// Prints a line for each host: number, rate of its links in bits per second,
// and the path of its namespace.
void PrintHosts(const Topology& topology, const Wire& wire) {
  for (uint32_t i = 0; i < topology.num_gpus(); ++i) {
    int64_t rate = 0;
    for (const LinkId link : topology.links_from(NodeId(i))) {
      rate += topology.type(link).bandwidth.count();
    }
    Print(fmt::format("host {} {} /proc/{}/fd/{}\n", i, rate, getpid(),
                      wire.hosts()[i].network_namespace()));
  }
  Print("ready\n");
}

void PrintCounts(const Topology& topology, const Wire& wire) {
  const Wire::Counts& counts = wire.counts();
  Print(fmt::format(
      "trains     {} with {} packets, in {} deliveries\n"
      "left out   {} foreign, {} refused\n"
      "late       p50 {} us, p99 {} us, p99.9 {} us, most {} us\n"
      "busy       {:.3f} s\n",
      counts.trains, counts.packets, counts.deliveries, counts.foreign_pieces,
      counts.refused_pieces, wire.lateness().QuantileUs(0.5),
      wire.lateness().QuantileUs(0.99), wire.lateness().QuantileUs(0.999),
      wire.lateness().QuantileUs(1), ToMicroseconds(counts.busy) * 1e-6));
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    const LinkCounts& link = wire.fabric().counts(LinkId(i));
    if (link.packets + link.dropped_packets == 0) continue;
    Print(fmt::format(
        "link       {}: {} packets, {} bytes, {} dropped, "
        "longest queue {} bytes\n",
        topology.LinkName(LinkId(i)), link.packets, link.bytes.count(),
        link.dropped_packets, link.longest_queue.count()));
  }
}

absl::Status Run(int argc, const char* const* argv) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiWireOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_wire", SimaiWireHelp())) {
    return FlushStdout();
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiWireOptions options,
                         ReadSimaiWireOptions(flags));
  ASTRA_ASSIGN_OR_RETURN(const Topology topology,
                         ReadTopology(options.topology));
  ASTRA_ASSIGN_OR_RETURN(Wire wire, Wire::Create(topology, options.wire));
  const FileDescriptor signals = StopDescriptor();
  PrintHosts(topology, wire);
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  std::vector<int> stops = {signals.number()};
  if (options.until_eof) stops.push_back(STDIN_FILENO);
  ASTRA_RETURN_IF_ERROR(wire.Run(stops));
  PrintCounts(topology, wire);
  return FlushStdout();
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_wire");
  return astra::RunMain(
      log, [&] { return astra::ExitCode(astra::Run(argc, argv), log); });
}
