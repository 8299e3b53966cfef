#include "absl/types/span.h"
#include "astra-core/apps/run_options.h"

namespace astra {
namespace {

constexpr OptionSpec kOptions[] = {
    {"workload", "w", "FILE", "Input",
     "workload in SimAI's format, or a program"},
    {"jobs", "", "FILE", "Input",
     "several jobs that train or serve requests, and where they run, in place "
     "of -w: YAML that begins with simai_jobs; with -n and --fidelity flow or "
     "packet"},
    {"chakra", "", "PREFIX", "Input",
     "an execution trace in place of -w: the files PREFIX.0.et, PREFIX.1.et, "
     "... of Chakra, one for each GPU"},
    {"pattern", "", "NAME:KEY=VALUE,...", "Input",
     "traffic in place of -w: incast:bytes=64KiB,senders=8, permutation, "
     "all-to-all; several with \"+\" between them; with --fidelity analytical, "
     "flow or packet"},
    {"comm-groups", "", "FILE", "Input",
     "with --chakra: the ranks of each process group, as JSON (default: "
     "PREFIX.json, if there is one)"},
    {"topology", "n network_topo", "FILE", "Input",
     "topology in SimAI's format, as gen_topo writes it"},
    {"network", "c network_conf", "FILE", "Input",
     "NICs and switches, with --fidelity flow and packet: SimAI.conf, or YAML "
     "that begins with simai_network"},
    {"network-set", "", "KEY=VALUE,...", "Input",
     "values of -c, or of the default network, to change: "
     "fabric.latency=300ns,congestion.name=dctcp"},
    {"events", "", "FILE", "Input",
     "what happens during the run: links and NICs that fail or slow down, slow "
     "and dead GPUs; YAML that begins with simai_events"},
    {"busbw", "bus_bandwidth", "FILE", "Input",
     "bus bandwidths that take the place of the topology's; closed form only"},
    {"gpus", "g", "N", "Input",
     "GPUs; checked against both files, required without -n"},
    {"gpu-type", "g_type", "NAME", "Input",
     "checked against -n; without, H100 H20 H800 A100 A800 have rates"},
    {"gpu-mismatch", "", "", "Input",
     "run a program that is timed for another GPU than the topology names"},

    {"gpus-per-server", "g_p_s", "N", "Cluster without -n", "GPUs of a server"},
    {"nic-per-server", "n_p_s", "N", "Cluster without -n",
     "NICs of a server (default: as many as GPUs)"},
    {"nvlink", "nv", "GBps", "Cluster without -n",
     "GB/s of a GPU's NVLinks (default: that of --gpu-type)"},
    {"nic-busbw", "nic", "GBps", "Cluster without -n",
     "GB/s of a NIC (default: that of --nic-type)"},
    {"nic-type", "nic_t", "NAME", "Cluster without -n",
     "cx6, cx7 (default) or bf3"},

    {"fidelity", "", "NAME", "Model",
     "closed-form: a formula; analytical: each message by itself; flow: "
     "messages share links fairly; packet: every packet",
     "backend lowering"},
    {"collectives", "", "NAME", "Model",
     "nccl (default): what NCCL chooses on --system, with its latencies and "
     "protocols; ring: rings and direct messages; simai: SimAI's"},
    {"system", "", "NAME|FILE", "Model",
     "for nccl: dgx-h100, a file, ... (default: that of the topology's GPUs); "
     "without -n also the cluster: its servers below one switch"},
    {"nccl", "", "KEY=VALUE", "Model",
     "NCCL's variables, such as NCCL_ALGO=Ring,NCCL_PROTO=Simple"},
    {"measured", "", "FILE,...", "Model",
     "measured times of collectives, which go before NCCL's model: tables, "
     "logs "
     "of nccl-tests, lines of NCCL's inspector"},
    {"algorithm", "", "FILE[:MIN-MAX],...", "Model",
     "algorithms of your own, MSCCL's .xml or .yaml, for the collectives that "
     "they fit: by kind, ranks and bytes (a.xml:1MiB-64MiB); with messages"},
    {"engine", "", "NAME", "Model",
     "whose all-reduce kernels inference uses within a server: vllm (default), "
     "sglang, trtllm, a release (vllm@0.14), or none: NCCL's"},
    {"dispatcher", "", "NAME", "Model",
     "takes tokens to their experts and back: deepep, deepep-ll, "
     "nvlink-one-sided, nvlink-two-sided, deepep@24 with 24 SMs, or a file "
     "(default: NCCL's all-to-all)"},
    {"launch", "", "NAME", "Model",
     "of NCCL's collectives: queued (default), behind other work, which hides "
     "it; graph: from a CUDA graph; host: one after the other"},
    {"dp-overlap", "dp_o dp_overlap_ratio", "X", "Model",
     "share of DP and DP_EP communication that is hidden, 0 (default) to 1; "
     "closed form only"},
    {"tp-overlap", "tp_o tp_overlap_ratio", "X", "Model", "the same for TP"},
    {"ep-overlap", "ep_o ep_overlap_ratio", "X", "Model", "the same for EP"},
    {"pp-overlap", "pp_o pp_overlap_ratio", "X", "Model",
     "the same for pipeline messages"},
    {"send-latency", "", "TIME", "Model",
     "passes before each message leaves, such as 6us (default 0, or "
     "AS_SEND_LAT)"},
    {"start-step", "", "TIME", "Model",
     "collectives start at multiples of it, such as 20ns, on each rank, with "
     "messages (default: whenever they can)"},
    {"contention", "", "X", "Model",
     "share of its speed that computation loses beside a collective (default: "
     "what the program says, or 0)"},
    {"jitter", "", "X", "Model",
     "computations take longer at random, by this share on average"},
    {"seed", "", "N", "Model",
     "of paths, marks, losses, --jitter and random placement (default: that of "
     "-c, or 1)"},
    {"stop-at", "", "TIME", "Model",
     "end the run at this simulated time, such as 10ms"},
    {"unroll", "", "", "Model",
     "run every micro-batch of a program, not only until they are alike; the "
     "results are the same"},
    {"symmetry", "", "", "Model",
     "with --fidelity flow and a program: run one of the ranks that do the "
     "same; collectives of different dimensions share links as in closed form"},

    {"accelerate", "", "off|exact|bounded", "Run",
     "with --fidelity flow or packet, exact (default): collectives that go as "
     "they did before are counted again; the results are the same. bounded: so "
     "are those that go nearly as before"},
    {"error-bound", "", "PERCENT", "Run",
     "with --accelerate bounded: by how much of its time a collective may end "
     "too early or too late, 0 to 20 (default 1)"},
    {"exact-events", "", "N", "Run",
     "with --accelerate bounded: simulate so many events before any of these "
     "errors is accepted (default 40000000, which take seconds)"},
    {"threads", "t", "N", "Run",
     "1 (default) to 1024, for commands of SimAI: without effect"},
    {"estimate", "", "", "Run",
     "print how much there is to simulate, and how long it may take, and stop"},
    {"force", "", "", "Run",
     "run even if the estimate of the memory is above what is free"},

    {"output", "o", "DIR", "Output", "folder (default ./results/NAME)"},
    {"result", "r name", "NAME", "Output",
     "name of the run (default: that of the workload file)"},
    {"result-folder", "r_f", "NAME", "Output", "folder ./results/NAME/RESULT"},
    {"visual", "v", "[0|1]", "Output",
     "write chart.html, a pie of where the time goes"},
    {"lang", "l", "en|ja", "Output", "language of chart.html (default en)"},
    {"sample", "", "TIME", "Output",
     "write queues.csv and rates.csv, at this interval"},
    {"capture", "", "SOURCE-TARGET", "Output",
     "write what leaves on one link, by node ids, as capture.pcapng"},
    {"report", "", "", "Output",
     "write report.html: time, timeline, collectives, links, memory on one "
     "page"},
    {"trace", "", "", "Output",
     "write trace.json for Perfetto or chrome://tracing"},
    {"memory-snapshot", "", "", "Output",
     "write memory_snapshot.pickle for PyTorch's memory viewer"},
    {"snapshot-stage", "", "N", "Output",
     "stage of --memory-snapshot (default: the one that needs most memory)"},
    {"simai-files", "", "", "Output", "write fct.txt and pfc.txt as SimAI has"},
    {"columns", "", "", "Output",
     "print what the result columns mean and stop"},
};

}  // namespace

absl::Span<const OptionSpec> RunOptionSpecs() { return kOptions; }

}  // namespace astra
