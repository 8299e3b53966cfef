#include "astra-core/apps/run_defaults.h"

namespace astra {
namespace {

constexpr CommandExample kAnalyticalExamples[] = {
    {"simai_analytical -w llama3.yaml -n h100_16.txt",
     "How long an iteration takes on a topology, and why:"},
    {"simai_analytical -w llama3.yaml --system dgx-h100",
     "The same on as many DGX H100 as it needs, below one switch:"},
    {"simai_analytical -w decode.yaml -g 8 -g_p_s 8 -nv 360 -nic 48.5",
     "A decode step on a server that a few rates in GB/s describe:"},
};

constexpr CommandExample kSimulatorExamples[] = {
    {"simai_simulator -w llama3.yaml -n h100_16.txt --fidelity flow --symmetry",
     "An iteration whose messages share links, on one rank of each kind:"},
    {"simai_simulator -w llama3.yaml -n h100_16.txt --estimate",
     "How long it would take packet by packet, with every rank:"},
    {"simai_simulator --pattern incast:bytes=64KiB,senders=8 -n h100_16.txt "
     "\\\n"
     "  --sample 1us --report",
     "Messages of eight senders to one, and the queues before it:"},
};

constexpr RunDefaults kSimaiAnalytical = {
    .program = "simai_analytical",
    .fidelity = Fidelity::kClosedForm,
    .usage =
        "usage: simai_analytical -w FILE (-n FILE | --system NAME |\n"
        "                        -g N -g_p_s N -nv X -nic X)\n"
        "\n"
        "Says how long one iteration of a workload takes on a cluster, and "
        "why.\n"
        "Collectives are formulas (--fidelity closed-form) unless --fidelity "
        "says\n"
        "otherwise.\n",
    .examples = kAnalyticalExamples};

constexpr RunDefaults kSimaiSimulator = {
    .program = "simai_simulator",
    .fidelity = Fidelity::kPacket,
    .usage =
        "usage: simai_simulator -w FILE -n FILE [-c FILE] [-o DIR]\n"
        "       simai_simulator --jobs FILE -n FILE [-c FILE] [-o DIR]\n"
        "       simai_simulator --pattern NAME:KEY=VALUE,... -n FILE [-o DIR]\n"
        "\n"
        "Runs one iteration of a workload, every message of every rank, on a "
        "network\n"
        "that is simulated packet by packet (--fidelity packet) unless "
        "--fidelity says\n"
        "otherwise.\n",
    .examples = kSimulatorExamples};

}  // namespace

const RunDefaults& SimaiAnalyticalDefaults() { return kSimaiAnalytical; }
const RunDefaults& SimaiSimulatorDefaults() { return kSimaiSimulator; }

std::string HelpOf(const RunDefaults& defaults) {
  return HelpText(defaults.usage, RunOptionSpecs()) +
         ExamplesText(defaults.examples);
}

}  // namespace astra
