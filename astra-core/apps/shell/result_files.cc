#include "astra-core/apps/shell/result_files.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "astra-core/base/check.h"

namespace astra {
namespace {

// Tells what each result file holds, for help and documentation.
constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
    {"EndToEnd.csv", "The totals, then a line for each layer."},
    {"iteration.csv",
     "What each rank did with the time: computation, waiting by group."},
    {"collectives.csv",
     "Each collective: group, algorithm, bytes, start, time, bandwidths, "
     "what bounds it."},
    {"links.csv",
     "Each direction of each link: rate, bytes carried, utilisation."},
    {"run.json",
     "The inputs as they were understood, warnings, totals in picoseconds."},
    {"breakdown.csv", "Of programs: what each stage did with the iteration."},
    {"critical_path.csv",
     "Of programs: the chain of computations and transfers that is as long "
     "as the iteration."},
    {"memory.csv", "Of programs: the memory of a rank of each stage."},
    {"stages.csv",
     "Of programs: what each stage and chunk computes and holds."},
    {"report.html", "Of --report: all of it on one page."},
    {"changes.csv", "Of --events: collectives with and without them."},
    {"jobs.csv", "Of --jobs: each job, and what it loses to the others."},
    {"shared_links.csv", "Of --jobs: links of several jobs, and their shares."},
    {"storage.csv", "Of --jobs: checkpoints, and data that was read."},
    {"latencies.csv",
     "Of --jobs: latencies of requests, with the other jobs and without."},
    {"iterations.csv", "Of --jobs: when each iteration began and ended."},
    {"ranks.csv", "Of --chakra: what each rank did with the time."},
    {"nodes.csv", "Of --chakra: nodes of the slowest rank, summed by name."},
    {"completions.csv",
     "Of --pattern: how long the messages of each pattern took."},
    {"trace.json", "Of --trace: what each rank did and waited for."},
    {"chart.html", "Of -v: a pie of where the time goes."},
    {"memory_snapshot.pickle",
     "Of --memory-snapshot: allocations and releases of a stage, for "
     "PyTorch's "
     "memory viewer."},
    {"flows.csv", "Messages with their paths and times; sums above a million."},
    {"queues.csv", "Of --sample: queues over time."},
    {"rates.csv", "Of --sample: the rates of senders over time."},
    {"pfc.csv", "Of the packet network: pauses of links."},
    {"cnp.csv", "Of the packet network: congestion notifications."},
    {"capture.pcapng", "Of --capture: the packets of a link."},
    {"cost.json",
     "What the run itself cost: time, memory. The only file that differs "
     "from run to run."},
    {"fct.txt", "Of --simai-files: messages as SimAI writes them."},
    {"pfc.txt", "Of --simai-files: pauses as SimAI writes them."},
};

}  // namespace

std::vector<ShellTerm> ResultFiles(absl::Span<const std::string_view> names) {
  std::vector<ShellTerm> files;
  files.reserve(names.size());
  for (const std::string_view name : names) {
    const auto* file =
        std::find_if(std::begin(kFiles), std::end(kFiles),
                     [name](const auto& entry) { return entry.first == name; });
    ASTRA_CHECK(file != std::end(kFiles), "{} is not described", name);
    files.push_back({"results/NAME/" + std::string(name), ""});
    files.back().help = file->second;
  }
  return files;
}

}  // namespace astra
