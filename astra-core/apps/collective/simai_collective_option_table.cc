// The option table of simai_collective, and its --help.

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "astra-core/apps/collective/simai_collective_options.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai_collective --system NAME [--op NAME] [-b SIZE] [-e SIZE]\n"
    "\n"
    "Says how long collectives take on a system, as nccl-tests would measure\n"
    "it. Sizes are rounded down as nccl-tests does: to whole elements and, "
    "where\n"
    "each rank has a part of the buffer, to parts of a multiple of 16 bytes.\n";

constexpr CommandExample kExamples[] = {
    {"simai_collective --system dgx-h100 --servers 4 --op all_reduce \\\n"
     "  -b 1M -e 1G -f 32",
     "All-reduces among the 32 GPUs of four servers:"},
    {"simai_collective --compare two_gpus.log --system dgx-h100",
     "A log of nccl-tests beside the prediction:"},
};

constexpr OptionSpec kOptions[] = {
    {"op", "", "NAME", "Collective",
     "all_reduce (default), all_gather, reduce_scatter, alltoall, sendrecv, "
     "broadcast, reduce, gather, scatter, dispatch or combine"},
    {"min-bytes", "b minbytes", "SIZE", "Collective",
     "smallest size, such as 1024, 1K, 8M, 1G (default 1K)"},
    {"max-bytes", "e maxbytes", "SIZE", "Collective",
     "largest size (default 8G)"},
    {"step-factor", "f stepfactor", "N", "Collective",
     "each size is N times the one before (default 2)"},
    {"step-bytes", "i stepbytes", "SIZE", "Collective",
     "each size is that much above the one before"},
    {"datatype", "d", "NAME", "Collective",
     "int8 uint8 int32 uint32 int64 uint64 half float (default) double "
     "bfloat16 f8e4m3 f8e5m2"},
    {"redop", "", "NAME", "Collective",
     "sum (default), prod, min, max or avg; NVSwitches do not add up all"},
    {"root", "r", "RANK", "Collective",
     "of broadcast, reduce, gather, scatter (default 0)"},

    {"system", "", "NAME|FILE", "Cluster",
     "a name of --list-systems, or a YAML file"},
    {"servers", "nodes", "N", "Cluster",
     "servers, or NVLink domains (default 1)"},
    {"gpus-per-server", "g gpus-per-node", "N", "Cluster",
     "GPUs used of each (default all)"},
    {"gpus", "", "N", "Cluster", "all GPUs, in place of --servers"},
    {"topology", "n network_topo", "FILE", "Cluster",
     "in SimAI's format, in place of the three above"},
    {"ranks", "", "LIST", "Cluster",
     "the group, in its order, such as 0-7 or 0,8,16 (default all GPUs)"},
    {"list-systems", "", "", "Cluster", "print the systems known and stop"},

    {"nccl", "", "LIST", "NCCL",
     "its variables, such as NCCL_ALGO=Ring,NCCL_PROTO=LL or "
     "NCCL_VERSION=2.27"},
    {"nccl-file", "", "FILE", "NCCL", "the same, one on each line"},
    {"launch", "", "NAME", "NCCL",
     "host (default): as nccl-tests does; graph: from a CUDA graph; queued: "
     "behind other work, which hides it",
     "cuda-graph"},
    {"engine", "", "NAME", "NCCL",
     "whose all-reduce kernels go before NCCL's within a server: vllm, sglang, "
     "trtllm, or a release such as vllm@0.14, or none (default)"},
    {"dispatcher", "", "NAME", "NCCL",
     "for --op dispatch and combine, in place of its all-to-all: deepep, "
     "deepep-ll, nvlink-one-sided, nvlink-two-sided, or a file"},
    {"routing", "", "KEY=VALUE,...", "NCCL",
     "of the tokens: experts, top_k, groups, top_groups, dispatch_bytes and "
     "combine_bytes of a copy of a token, even"},
    {"measured", "", "FILE,...", "NCCL",
     "measured times, which go before the model: tables, logs of nccl-tests, "
     "lines of NCCL's inspector"},
    {"symmetric", "", "", "NCCL", "buffers in symmetric memory"},
    {"tuning", "", "", "NCCL",
     "print what NCCL chooses among, and what it predicts for each"},

    {"network", "c network_conf", "FILE", "Algorithm",
     "of --fidelity flow or packet: SimAI.conf, or YAML (default: built in)"},
    {"fidelity", "", "NAME", "Algorithm",
     "closed-form (default): a formula; analytical, flow or packet: every "
     "message on such a network (default with the next two: analytical)",
     "backend"},
    {"threads", "t", "N", "Algorithm",
     "with --fidelity packet: simulate up to N zones of the cluster at once, 1 "
     "(default) to 1024; the results are the same"},
    {"algorithm", "", "NAME|FILE", "Algorithm",
     "run every message of this one, in place of what NCCL chooses; a file is "
     "an algorithm of your own: MSCCL's .xml, or .yaml",
     "schedule"},
    {"flows", "", "FILE", "Algorithm",
     "write every message of one size as CSV, with what it waits for"},

    {"compare", "", "LOG", "Measurements",
     "set a log of nccl-tests against the prediction"},
    {"compare-table", "", "FILE", "Measurements",
     "the same of a CSV table; its rows say what they ran on; with "
     "--system: only rows of its links, with its constants"},
    {"calibrate", "", "SOURCE", "Measurements",
     "fit the constants of --system, write it as a system: to a log of "
     "nccl-tests, a CSV table, lines of NCCL's inspector, or a folder of "
     "simai_physical",
     "calibrate-table"},
    {"in-place", "", "", "Measurements", "take the in-place times of a log"},

    {"output", "o out", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "", "NAME", "Output",
     "name of the run (default that of --op, or of what is read)"},
};

}  // namespace

absl::Span<const OptionSpec> SimaiCollectiveOptionSpecs() { return kOptions; }

std::string SimaiCollectiveHelp() {
  return HelpText(kUsage, kOptions) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiCollectiveExamples() { return kExamples; }

}  // namespace astra
