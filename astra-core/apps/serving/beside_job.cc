#include "astra-core/apps/serving/beside_job.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "astra-core/apps/run_inputs.h"
#include "astra-core/base/append_format.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/jobs/jobs_run.h"
#include "astra-core/jobs/run_together.h"
#include "astra-core/jobs/running_serving.h"
#include "astra-core/jobs/running_training.h"
#include "astra-core/run/pace_network.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

constexpr double kMsPerPs = 1e-9;

// Users of the shared network.
constexpr uint32_t kServing = 0;
constexpr uint32_t kTraining = 1;
constexpr uint32_t kUsers = 2;

double MeanMs(const std::vector<TimePs>& times) {
  double sum = 0;
  for (const TimePs time : times) sum += static_cast<double>(time.count());
  return kMsPerPs * sum /
         static_cast<double>(std::max<size_t>(1, times.size()));
}

absl::StatusOr<Job> ReadJob(const FabricOptions& options,
                            const ServingJob& serving,
                            const ServingCluster& cluster, Warnings* warnings) {
  const Topology& whole = cluster.topology();
  ASTRA_ASSIGN_OR_RETURN(Program program,
                         ReadWorkload(*options.beside, warnings));
  if (const std::optional<std::string> text = TimedForOtherGpus(
          *options.beside, program, *serving.topology_file, whole)) {
    return absl::InvalidArgumentError(*text);
  }
  const int64_t server = whole.gpus_per_server();
  const int64_t first = options.beside_first_gpu.value_or(
      (cluster.end() + server - 1) / server * server);
  const int64_t gpus = program.sizes().num_ranks;
  ASTRA_RETURN_IF_ERROR(cluster.CheckFree(
      first, first + gpus, "the job of --beside", "--beside-first-gpu"));
  absl::StatusOr<ClusterPart> part = RangeOfCluster(
      whole, static_cast<uint32_t>(first), static_cast<uint32_t>(gpus));
  if (!part.ok()) {
    return absl::Status(part.status().code(),
                        fmt::format("--beside {}: {}", *options.beside,
                                    std::string(part.status().message())));
  }
  SimulationOptions simulation;
  simulation.collectives = CollectiveFamily::kNccl;
  ASTRA_ASSIGN_OR_RETURN(SystemSpec system, serving.system
                                                ? LoadSystem(*serving.system)
                                                : DeriveSystem(part->topology));
  simulation.nccl = NcclSystem{std::move(system), serving.nccl};
  return Job{.name = "",
             .work = TrainingWork{.program = std::move(program),
                                  .options = std::move(simulation),
                                  .until_served = true},
             .part = *std::move(part)};
}

}  // namespace

BesideJob::BesideJob(const FabricOptions& options, const Topology& topology,
                     NetworkOptions network_options,
                     std::unique_ptr<NetworkBackend> network, Job job)
    : options_(options),
      topology_(topology),
      network_options_(std::move(network_options)),
      network_(std::move(network)),
      job_(std::move(job)),
      shared_(*network_, topology, kUsers) {
  for (uint32_t i = 0; i < topology.num_nodes(); ++i)
    all_nodes_.emplace_back(i);
}

absl::StatusOr<std::unique_ptr<BesideJob>> BesideJob::Create(
    const FabricOptions& options, const ServingJob& serving,
    const ServingCluster& cluster, NetworkOptions network_options,
    std::unique_ptr<NetworkBackend> network, Warnings* warnings) {
  ASTRA_ASSIGN_OR_RETURN(Job job, ReadJob(options, serving, cluster, warnings));
  return std::unique_ptr<BesideJob>(
      new BesideJob(options, cluster.topology(), std::move(network_options),
                    std::move(network), std::move(job)));
}

std::unique_ptr<NetworkBackend> BesideJob::ViewOfServing() {
  return shared_.ViewFor(kServing, all_nodes_);
}

absl::Status BesideJob::Serve(ServingFabric& fabric) {
  const std::function<absl::Status()> report = [] { return absl::OkStatus(); };
  const ServingWork serving = {.begin = nullptr,
                               .go_on = [&fabric] { return fabric.GoOn(); },
                               .share_done = [] { return 0.0; }};
  std::vector<std::unique_ptr<RunningJob>> jobs;
  jobs.push_back(std::make_unique<RunningServing>(
      serving, TimePs(0), all_nodes_, kServing, shared_, report));
  auto training = std::make_unique<RunningTraining>(
      job_, RunningTraining::Users{.collectives = kTraining}, shared_,
      [&jobs] { return jobs.front()->has_ended(); }, report);
  training->SetPace(
      PaceNetworkOf(options_.fidelity, network_options_, training->routes()));
  const std::vector<JobIteration>& iterations = training->iterations();
  jobs.push_back(std::move(training));
  const std::vector<std::string> names(jobs.size());
  ASTRA_RETURN_IF_ERROR(RunTogether(names, jobs, report, shared_));
  for (const JobIteration& iteration : iterations) {
    iterations_.push_back(iteration.end - iteration.begin);
  }
  outlasts_serving_ = iterations.back().end > *fabric.served_at();
  ASTRA_ASSIGN_OR_RETURN(const JobsResult alone,
                         RunJobs({.jobs = {job_},
                                  .topology = topology_,
                                  .fidelity = options_.fidelity,
                                  .network = network_options_,
                                  .on_progress = nullptr}));
  alone_ = alone.jobs.front().MeanIteration();
  return absl::OkStatus();
}

void BesideJob::Describe(std::string* page) const {
  AppendFormat(
      page,
      "beside     {}: {} iteration{} of {:.3f} ms in the mean{}; {:.3f} "
      "ms alone\n",
      *options_.beside, iterations_.size(), iterations_.size() == 1 ? "" : "s",
      MeanMs(iterations_),
      outlasts_serving_ ? ", which ended after serving" : "",
      kMsPerPs * static_cast<double>(alone_.count()));
}

void BesideJob::AddTo(nlohmann::ordered_json& json) const {
  json["beside"] = {
      {"workload", *options_.beside},
      {"iterations", iterations_.size()},
      {"iteration_ms_mean", MeanMs(iterations_)},
      {"iteration_ms_alone", kMsPerPs * static_cast<double>(alone_.count())},
      {"outlasted_serving", outlasts_serving_}};
}

}  // namespace astra
