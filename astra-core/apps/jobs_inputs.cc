#include "astra-core/apps/jobs_inputs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/run_estimate.h"
#include "astra-core/apps/run_inputs.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/jobs/part_network.h"
#include "astra-core/jobs/placement.h"
#include "astra-core/jobs/storage_messages.h"
#include "astra-core/jobs/storage_use.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "topology/cluster_part.h"
#include "topology/routes.h"
#include "workload/parallel_plan.h"
#include "workload/program.h"

namespace astra {
namespace {

absl::Status Named(const JobSpec& spec, const absl::Status& status) {
  return absl::Status(status.code(),
                      fmt::format("{}: job {}: {}", spec.place, spec.name,
                                  std::string(status.message())));
}

// What a job does, before it has a place: one of the two.
struct UnplacedJob {
  std::optional<Program> program;
  std::unique_ptr<ServedJob> served;
};

absl::StatusOr<UnplacedJob> ReadUnplaced(const JobSpec& spec,
                                         const RunOptions& options,
                                         const Topology& topology,
                                         ReadServedJob read_served,
                                         Warnings* warnings) {
  UnplacedJob job;
  if (spec.serving.empty()) {
    absl::StatusOr<Program> program = ReadWorkload(spec.workload, warnings);
    if (!program.ok()) return Named(spec, program.status());
    job.program = *std::move(program);
    return job;
  }
  if (read_served == nullptr) {
    return Named(spec, absl::InvalidArgumentError(
                           "only simai_simulator runs jobs that serve"));
  }
  ASTRA_ASSIGN_OR_RETURN(job.served,
                         read_served(spec, options, topology, warnings));
  return job;
}

absl::StatusOr<PlacementWish> WishOf(const JobSpec& spec,
                                     const UnplacedJob& job,
                                     const Topology& topology) {
  const uint32_t server =
      spec.gpus_of_server.empty()
          ? topology.gpus_per_server()
          : static_cast<uint32_t>(spec.gpus_of_server.size());
  PlacementWish wish{
      .name = spec.name,
      .place = spec.place,
      .num_ranks = job.program
                       ? static_cast<uint32_t>(job.program->sizes().num_ranks)
                       : job.served->NumGpus(server),
      .servers = spec.servers,
      .gpus_of_server = spec.gpus_of_server,
      .gpu_of_rank = {}};
  if (!spec.rank_file) return wish;
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(*spec.rank_file));
  ASTRA_ASSIGN_OR_RETURN(wish.gpu_of_rank,
                         ParseRankFile(*spec.rank_file, contents));
  return wish;
}

// The servers of a place, such as "0-3 8".
std::string ServersText(const JobPlace& place, const Topology& topology) {
  std::vector<uint32_t> servers;
  for (size_t i = 0; i < place.gpus.size(); i += place.gpus_per_server) {
    servers.push_back(topology.ServerOf(RankId(place.gpus[i])));
  }
  std::string text;
  for (size_t i = 0; i < servers.size();) {
    size_t end = i + 1;
    while (end < servers.size() && servers[end] == servers[end - 1] + 1) ++end;
    if (i > 0) text += ' ';
    text += fmt::format("{}", servers[i]);
    if (end - i > 1) text += fmt::format("-{}", servers[end - 1]);
    i = end;
  }
  return text;
}

// The changes of GPUs on which the job runs, by its ranks.
std::vector<SpeedChange> SpeedsOf(const RunEvents& events,
                                  const ClusterPart& part) {
  std::vector<SpeedChange> speeds;
  for (const SpeedChange& change : events.speeds) {
    const auto end = part.nodes.begin() + part.topology.num_gpus();
    const auto node =
        std::find(part.nodes.begin(), end, Topology::NodeOf(change.rank));
    if (node == end) continue;
    SpeedChange& of_job = speeds.emplace_back(change);
    of_job.rank = RankId(static_cast<uint32_t>(node - part.nodes.begin()));
  }
  return speeds;
}

// Adds what a run of `request`, `times` times, takes.
void AddWork(const RunRequest& request, int64_t times, WorkBudget& budget) {
  const absl::StatusOr<RunEstimate> estimate = EstimateRun(request);
  if (!estimate.ok()) return;  // The run itself reports this error.
  budget.seconds += static_cast<double>(times) * estimate->seconds;
  budget.memory_bytes += estimate->memory_bytes;
}

// Returns the seconds of wall-clock time that moving `amount` once takes.
absl::StatusOr<double> SecondsOf(const StorageAmount& amount, const Job& job,
                                 const RunOptions& options,
                                 const NicOptions& nic, Routes& routes) {
  ASTRA_ASSIGN_OR_RETURN(const ParallelPlan plan,
                         ParallelPlan::Create(job.training()->program.sizes()));
  const std::vector<StorageMessage> messages =
      StorageMessagesOf(amount, plan, job.part.topology);
  if (!NetworkOf(options.fidelity)->records_packets) {
    return static_cast<double>(messages.size()) / kFlowMessagesPerSecond;
  }
  double hops = 0;
  for (const StorageMessage& message : messages) {
    ASTRA_ASSIGN_OR_RETURN(const Route route,
                           routes.FindNodes(message.rank, message.storage));
    const double packets = static_cast<double>(message.bytes.count()) /
                           static_cast<double>(nic.payload.count());
    hops += packets * (1 + 1.0 / nic.packets_per_ack) * route.num_hops;
  }
  return hops / kPacketHopsPerSecond;
}

// Adds what the job does with storage in `times` runs.
absl::Status AddStorageWork(const RunOptions& options, const Job& job,
                            int64_t times, JobsInputs& inputs) {
  if (!job.uses_storage()) return absl::OkStatus();
  const TrainingWork& work = *job.training();
  Routes routes(job.part.topology);
  const NicOptions& nic = inputs.network.packet.nic;
  double seconds = 0;
  for (const StorageMoves& moves : MovesOf(work.storage, work.iterations)) {
    ASTRA_ASSIGN_OR_RETURN(const double once,
                           SecondsOf(moves.amount, job, options, nic, routes));
    seconds += static_cast<double>(moves.count) * once;
  }
  inputs.budget.seconds += static_cast<double>(times) * seconds;
  return absl::OkStatus();
}

// Checks that the storage servers of `whole`, which `file` names, suffice for a
// job on `part`.
absl::Status CheckStorage(const StorageUse& use, const std::string& file,
                          const Topology& whole, const Topology& part) {
  const std::vector<StorageMoves> uses = MovesOf(use, /*iterations=*/1);
  if (uses.empty()) return absl::OkStatus();
  const uint32_t servers = part.num_storage();
  if (servers == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{} needs storage servers, and {} has none{}: see gen_topo --storage",
        uses.front().key, file,
        whole.num_storage() > 0 ? " that GPUs of the job reach" : ""));
  }
  uint32_t stripes = 1;
  for (const StorageMoves& moves : uses) {
    stripes = std::max(stripes, moves.amount.stripes);
  }
  if (stripes <= servers) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("stripes is {}, but {} has {} storage server{}", stripes,
                  file, servers, servers == 1 ? "" : "s"));
}

absl::StatusOr<Job> TrainingOn(ClusterPart part, const RunOptions& options,
                               const JobSpec& spec, Program program,
                               const Topology& topology,
                               const RunEvents& events, int64_t times,
                               JobsInputs& inputs, Warnings* warnings) {
  RunOptions of_job = options;
  of_job.workload_file = spec.workload;
  RunCluster cluster{part.topology, std::nullopt};
  if (options.system) {
    ASTRA_ASSIGN_OR_RETURN(cluster.system, LoadSystem(*options.system));
  }
  ASTRA_ASSIGN_OR_RETURN(
      RunRequest request,
      RequestOn(of_job, std::move(program), std::move(cluster), inputs.network,
                warnings));
  AddWork(request, times, inputs.budget);
  request.simulation.speed_changes = SpeedsOf(events, part);
  ASTRA_RETURN_IF_ERROR(CheckStorage(spec.storage, *options.topology_file,
                                     topology, part.topology));
  return Job{.name = spec.name,
             .work = TrainingWork{.program = std::move(request.program),
                                  .options = std::move(request.simulation),
                                  .iterations = spec.iterations,
                                  .until_served = spec.until_served,
                                  .storage = spec.storage},
             .part = std::move(part),
             .start = spec.start};
}

// Lays a job that serves on its part. `healthy` is the network without the
// events of links.
absl::StatusOr<Job> ServingOn(ClusterPart part, const RunOptions& options,
                              const JobSpec& spec, ServedJob& served,
                              const RunEvents& events,
                              const NetworkOptions& healthy, Routes& routes,
                              Warnings* warnings) {
  const std::vector<SpeedChange> speeds = SpeedsOf(events, part);
  if (!speeds.empty()) {
    return Named(spec, absl::InvalidArgumentError(fmt::format(
                           "{} changes the speed of its GPUs, which a job that "
                           "serves does not know",
                           *options.events_file)));
  }
  const NetworkFactory new_idle = [fidelity = options.fidelity, healthy,
                                   &routes, nodes = part.nodes] {
    return std::make_unique<PartNetwork>(
        NetworkOf(fidelity)->make(healthy, routes), nodes);
  };
  ASTRA_RETURN_IF_ERROR(served.Place(part, new_idle, warnings));
  return Job{.name = spec.name,
             .work = served.work(),
             .part = std::move(part),
             .start = spec.start};
}

absl::StatusOr<JobsFile> ReadJobsFile(const std::string& path) {
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(path));
  return ParseJobs(path, contents);
}

// Reads the jobs of the file, and where they want to run.
absl::Status ReadWork(const RunOptions& options, const Topology& topology,
                      ReadServedJob read_served,
                      absl::Span<const JobSpec> specs,
                      std::vector<UnplacedJob>& jobs,
                      std::vector<PlacementWish>& wishes, Warnings* warnings) {
  for (const JobSpec& spec : specs) {
    if (std::find(std::begin(kResultFiles), std::end(kResultFiles),
                  spec.name) != std::end(kResultFiles)) {
      return Named(spec,
                   absl::InvalidArgumentError(
                       "expected a name other than that of a result file"));
    }
    ASTRA_ASSIGN_OR_RETURN(
        jobs.emplace_back(),
        ReadUnplaced(spec, options, topology, read_served, warnings));
    absl::StatusOr<PlacementWish> wish = WishOf(spec, jobs.back(), topology);
    if (!wish.ok()) return Named(spec, wish.status());
    wishes.push_back(*std::move(wish));
  }
  return absl::OkStatus();
}

// Returns how often each job is run: with all others, alone, and without
// storage.
int64_t NumRuns(const JobsFile& file) {
  const bool uses_storage =
      std::any_of(file.jobs.begin(), file.jobs.end(),
                  [](const JobSpec& spec) { return !spec.storage.empty(); });
  return 1 + (file.ComparesAlone() ? 1 : 0) + (uses_storage ? 1 : 0);
}

}  // namespace

absl::StatusOr<JobsInputs> ReadJobsInputs(const RunOptions& options,
                                          const Topology& topology,
                                          ReadServedJob read_served,
                                          Warnings* warnings) {
  JobsInputs inputs;
  ASTRA_ASSIGN_OR_RETURN(inputs.file, ReadJobsFile(*options.jobs_file));
  ASTRA_ASSIGN_OR_RETURN(const NetworkOptions healthy,
                         ReadNetworkOptions(options, topology, warnings));
  ASTRA_ASSIGN_OR_RETURN(const RunEvents events,
                         ReadEvents(options, topology, healthy));
  inputs.network = WithEvents(healthy, events);
  inputs.events = events.texts;
  inputs.idle_routes = std::make_unique<Routes>(topology);
  std::vector<UnplacedJob> unplaced;
  std::vector<PlacementWish> wishes;
  ASTRA_RETURN_IF_ERROR(ReadWork(options, topology, read_served,
                                 inputs.file.jobs, unplaced, wishes, warnings));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<JobPlace> places,
                         PlaceJobs(topology, wishes, inputs.file.placement,
                                   inputs.network.packet.seed));
  for (size_t i = 0; i < unplaced.size(); ++i) {
    const JobSpec& spec = inputs.file.jobs[i];
    absl::StatusOr<ClusterPart> part =
        PartOfCluster(topology, places[i].gpus, places[i].gpus_per_server);
    if (!part.ok()) return Named(spec, part.status());
    inputs.servers.push_back(ServersText(places[i], topology));
    inputs.served.push_back(std::move(unplaced[i].served));
    if (ServedJob* const served = inputs.served.back().get()) {
      ASTRA_ASSIGN_OR_RETURN(
          Job job, ServingOn(*std::move(part), options, spec, *served, events,
                             healthy, *inputs.idle_routes, warnings));
      inputs.jobs.push_back(std::move(job));
      continue;
    }
    absl::StatusOr<Job> job =
        TrainingOn(*std::move(part), options, spec,
                   *std::move(unplaced[i].program), topology, events,
                   NumRuns(inputs.file) * spec.iterations, inputs, warnings);
    if (!job.ok()) return Named(spec, job.status());
    const absl::Status added = AddStorageWork(
        options, *job, inputs.file.ComparesAlone() ? 2 : 1, inputs);
    if (!added.ok()) return Named(spec, added);
    inputs.jobs.push_back(*std::move(job));
  }
  return inputs;
}

}  // namespace astra
