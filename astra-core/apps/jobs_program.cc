#include "astra-core/apps/jobs_program.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "astra-core/apps/job_folders.h"
#include "astra-core/apps/jobs_inputs.h"
#include "astra-core/apps/json_parts.h"
#include "astra-core/apps/network_summary.h"
#include "astra-core/apps/run_files.h"
#include "astra-core/apps/run_json.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/apps/run_watch.h"
#include "astra-core/apps/served_job.h"
#include "astra-core/apps/served_report.h"
#include "astra-core/apps/storage_report.h"
#include "astra-core/apps/work_budget.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/command_line/version.h"
#include "astra-core/jobs/jobs_run.h"
#include "astra-core/results/jobs_table.h"
#include "astra-core/results/links_table.h"
#include "astra-core/results/storage_table.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"

namespace astra {
namespace {

// What was run: the jobs together, each without the others, and all without
// storage.
struct JobsRun {
  JobsResult together;
  std::optional<JobsResult> without_storage;  // None if no job uses it.
  std::vector<std::optional<TimePs>> alone;   // Mean iteration, by job.
  // The latencies of jobs that serve, and their files, by job.
  std::vector<std::optional<ServedRow>> served;
  std::vector<std::vector<NamedFile>> served_files;
  Warnings left_out;  // Of these files.
};

// Sets the latencies of the job alone.
void AddAlone(const ServedRow& alone, ServedRow& served) {
  served.end_to_end.alone = alone.end_to_end.beside;
  for (size_t i = 0; i < served.others.size(); ++i) {
    served.others[i].alone = alone.others[i].beside;
  }
}

// Takes what the jobs that serve have served together.
void TakeServed(const JobsInputs& inputs, JobsRun& run) {
  run.served.resize(inputs.jobs.size());
  run.served_files.resize(inputs.jobs.size());
  for (size_t i = 0; i < inputs.jobs.size(); ++i) {
    if (inputs.served[i] == nullptr) continue;
    run.served[i] = inputs.served[i]->Served();
    run.served[i]->end = run.together.jobs[i].end;
    run.served_files[i] = inputs.served[i]->TakeFiles(&run.left_out);
  }
}

// The share of the work is that of all runs, which count alike.
absl::StatusOr<JobsRun> RunAll(const RunOptions& options,
                               const JobsInputs& inputs,
                               const Topology& topology,
                               absl::Span<const OutputFolder> folders) {
  RunWatch watch(options.environment.log_level == LogLevel::kInfo);
  const size_t num_jobs = inputs.jobs.size();
  const bool runs_alone = inputs.file.ComparesAlone();
  const bool uses_storage = UsesStorage(inputs.jobs);
  const double num_runs = static_cast<double>(1 + (runs_alone ? num_jobs : 0) +
                                              (uses_storage ? 1 : 0));
  double num_done = 0;
  JobsRequest request{
      .jobs = inputs.jobs,
      .topology = topology,
      .fidelity = options.fidelity,
      .network = inputs.network,
      .on_progress =
          [&](RunProgress progress) {
            progress.share = (num_done + progress.share) / num_runs;
            return watch.Update(progress);
          },
      .on_collective =
          [&](const CollectiveRecord& record) { watch.End(record); }};
  JobsRun run;
  for (size_t i = 0; i < num_jobs; ++i) {
    if (ServedJob* const served = inputs.served[i].get()) {
      served->RecordNextRun(folders[i]);
    }
  }
  ASTRA_ASSIGN_OR_RETURN(run.together, RunJobs(request));
  TakeServed(inputs, run);
  if (uses_storage) {
    num_done += 1;
    ASTRA_ASSIGN_OR_RETURN(run.without_storage, RunWithoutStorage(request));
  }
  run.alone.resize(num_jobs);
  for (size_t i = 0; runs_alone && i < num_jobs; ++i) {
    num_done += 1;
    ASTRA_ASSIGN_OR_RETURN(const JobsResult alone, RunAlone(request, i));
    if (inputs.served[i] != nullptr) {
      AddAlone(inputs.served[i]->Served(), *run.served[i]);
    } else {
      run.alone[i] = alone.jobs[0].MeanIteration();
    }
  }
  return run;
}

void AddWithoutStorage(const JobResult& without, JobRow& row) {
  row.without_storage = without.MeanIteration();
  // Until a job has served, there may be more or fewer of them.
  const size_t both =
      std::min(row.iterations.size(), without.iterations.size());
  for (size_t i = 0; i < both; ++i) {
    const JobIteration& iteration = without.iterations[i];
    row.iterations[i].without_storage = iteration.end - iteration.begin;
  }
}

std::vector<JobRow> RowsOf(const JobsInputs& inputs, const JobsRun& run) {
  std::vector<JobRow> rows;
  for (size_t i = 0; i < inputs.jobs.size(); ++i) {
    JobRow& row = rows.emplace_back();
    row.name = inputs.jobs[i].name;
    row.workload = inputs.served[i] == nullptr ? inputs.file.jobs[i].workload
                                               : inputs.served[i]->model();
    row.num_gpus = inputs.jobs[i].part.topology.num_gpus();
    row.servers = inputs.servers[i];
    row.start = run.together.jobs[i].start;
    for (const JobIteration& iteration : run.together.jobs[i].iterations) {
      row.iterations.push_back({iteration.begin, iteration.end});
    }
    row.alone = run.alone[i];
    row.served = run.served[i];
    if (run.without_storage && !row.served) {
      AddWithoutStorage(run.without_storage->jobs[i], row);
    }
  }
  return rows;
}

// What the tables of a run say of links: those of all jobs, until the end.
SimulationResult LinksOf(const JobsResult& run) {
  SimulationResult result;
  result.link_bytes = run.link_bytes;
  result.stage_time = run.end;
  return result;
}

Json JobJson(const RunOptions& options, const JobsInputs& inputs, size_t number,
             const JobResult& result, const JobRow& row) {
  const Job& job = inputs.jobs[number];
  const JobSpec& spec = inputs.file.jobs[number];
  const TrainingWork* const work = job.training();
  Json json = {{"name", job.name}};
  if (work != nullptr) {
    json["workload"] =
        WorkloadJson(spec.workload, work->program, options.unroll);
  }
  for (const ServingKey& key : spec.serving) {
    json["serving"][key.name] = key.text;
  }
  json["servers"] = inputs.servers[number];
  json["start_ps"] = job.start.count();
  if (work == nullptr) {
    json["requests"] = row.served->requests;
    return json;
  }
  json["iterations"] = result.iterations.size();
  json["model"] = ModelJson(options, work->options);
  json["result"] = ResultJson(result.result);
  if (row.without_storage) json["storage"] = StorageJson(result, row);
  return json;
}

std::string JobsJson(const RunDefaults& defaults, const RunOptions& options,
                     const JobsInputs& inputs, const Topology& topology,
                     const Warnings& warnings, const JobsRun& run,
                     absl::Span<const JobRow> rows) {
  Json json = {{"program", defaults.program},
               {"version", Version()},
               {"name", options.name},
               {"finished", true},
               {"reason", ""},
               {"jobs_file", *options.jobs_file},
               {"placement",
                kPlacementPolicies[static_cast<size_t>(inputs.file.placement)]},
               {"topology", TopologyJson(*options.topology_file, topology)},
               {"warnings", warnings},
               {"jobs", Json::array()}};
  for (size_t i = 0; i < inputs.jobs.size(); ++i) {
    json["jobs"].push_back(
        JobJson(options, inputs, i, run.together.jobs[i], rows[i]));
  }
  if (options.events_file) {
    json["events"] = {{"file", *options.events_file},
                      {"happened", inputs.events}};
  }
  json["network"] = NetworkJson(options, inputs.network);
  json["simulated"] = SimulatedJson(run.together.network, run.together.end);
  return JsonText(json);
}

std::vector<std::string> NamesOf(absl::Span<const Job> jobs) {
  std::vector<std::string> names;
  names.reserve(jobs.size());
  for (const Job& job : jobs) names.push_back(job.name);
  return names;
}

// Creates the folder of each job.
absl::StatusOr<std::vector<OutputFolder>> JobFolders(
    const RunOptions& options, absl::Span<const Job> jobs) {
  std::vector<OutputFolder> folders;
  for (const Job& job : jobs) {
    ASTRA_ASSIGN_OR_RETURN(
        OutputFolder folder,
        OutputFolder::Create(fmt::format("{}/{}", options.output, job.name)));
    folders.push_back(std::move(folder));
  }
  return folders;
}

// Writes into the folder of each job the files of its last iteration, or of
// serving.
absl::Status WriteJobs(const JobsInputs& inputs, const Topology& topology,
                       absl::Span<const OutputFolder> folders, JobsRun& run) {
  // A job of this name may have served before, or trained.
  const std::vector<std::string_view> stale = JobFileNames();
  for (size_t i = 0; i < inputs.jobs.size(); ++i) {
    const Job& job = inputs.jobs[i];
    const JobResult& result = run.together.jobs[i];
    std::vector<NamedFile> files = std::move(run.served_files[i]);
    if (const TrainingWork* const work = job.training()) {
      files = IterationFiles(job.name, topology, result.result);
      if (result.explanation) {
        AddExplanation(work->program, *result.explanation, result.result,
                       files);
      }
    }
    ASTRA_RETURN_IF_ERROR(folders[i].Write(files, stale));
  }
  return absl::OkStatus();
}

std::string DescribeJob(const JobRow& job) {
  if (job.served) return DescribeServed(job);
  const size_t count = job.iterations.size();
  std::string text = fmt::format(
      "job        {}: {} GPUs on servers {}, {} iteration{} of {:.6f} ms{}",
      job.name, job.num_gpus, job.servers, count, count == 1 ? "" : "s",
      ToMilliseconds(job.mean()), count == 1 ? "" : " on average");
  if (job.alone) {
    text += fmt::format("; alone {:.6f} ms: {:.3f} times as long",
                        ToMilliseconds(*job.alone), job.slowdown());
  }
  return text + '\n';
}

// Those who share links: the jobs, and behind them what jobs wrote to and read
// from storage.
struct LinkUsers {
  std::vector<std::string> names;
  std::vector<std::vector<double>> bytes;  // Of each user, by link.
};

LinkUsers LinkUsersOf(const JobsInputs& inputs, const JobsResult& run) {
  LinkUsers users;
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    users.names.push_back(inputs.jobs[i].name);
    users.bytes.push_back(run.jobs[i].link_bytes);
  }
  for (size_t i = 0; i < run.jobs.size(); ++i) {
    if (run.jobs[i].storage_link_bytes.empty()) continue;
    users.names.push_back(inputs.jobs[i].name + " storage");
    users.bytes.push_back(run.jobs[i].storage_link_bytes);
  }
  return users;
}

std::string DescribeShared(const Topology& topology,
                           absl::Span<const SharedLink> links,
                           absl::Span<const std::string> users,
                           bool uses_storage) {
  if (users.size() < 2) return "";
  if (links.empty()) {
    return fmt::format("shared     the jobs{} have no link in common\n",
                       uses_storage ? " and their storage" : "");
  }
  const SharedLink& most = links.front();
  std::string text = fmt::format(
      "shared     {} link{}; most loaded: {}, {:.3f} GB:", links.size(),
      links.size() == 1 ? "" : "s", topology.LinkName(most.link),
      most.all() * 1e-9);
  std::string_view separator = " ";
  for (size_t i = 0; i < users.size(); ++i) {
    if (most.bytes[i] == 0) continue;
    text += fmt::format("{}{} {:.1f} %", separator, users[i],
                        100 * most.bytes[i] / most.all());
    if (uses_storage) separator = ", ";
  }
  return text + '\n';
}

std::string DescribeJobs(const RunOptions& options, const JobsInputs& inputs,
                         const Topology& topology, const JobsRun& run,
                         absl::Span<const JobRow> rows,
                         absl::Span<const SharedLink> shared,
                         absl::Span<const std::string> users,
                         const std::vector<NamedFile>& files) {
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    text += DescribeJob(rows[i]);
    const TrainingWork* const work = inputs.jobs[i].training();
    if (work == nullptr) continue;
    text += DescribeStorage(work->storage, run.together.jobs[i], rows[i]);
  }
  text += DescribeShared(topology, shared, users, UsesStorage(inputs.jobs));
  for (const std::string& event : inputs.events) {
    text += fmt::format("event      {}\n", event);
  }
  const BackendEntry& network = *NetworkOf(options.fidelity);
  text += DescribeNetworkUse(topology, run.together.network, run.together.end,
                             network.records_packets
                                 ? inputs.network.packet.congestion.name
                                 : std::string_view());
  text += fmt::format("results    {}:", options.output);
  for (const NamedFile& file : files) text += " " + file.name;
  text += ", and a folder for each job\n";
  return text + fmt::format("finished   {}: {:.6f} ms\n", options.name,
                            ToMicroseconds(run.together.end) * 1e-3);
}

// Returns the tables of all jobs, and what the run was.
std::vector<NamedFile> FilesOf(
    const RunDefaults& defaults, const RunOptions& options,
    const JobsInputs& inputs, const Topology& topology,
    const Warnings& warnings, const JobsRun& run, absl::Span<const JobRow> rows,
    absl::Span<const SharedLink> shared, absl::Span<const std::string> users) {
  const SimulationResult links = LinksOf(run.together);
  std::vector<NamedFile> files = {{"jobs.csv", JobsCsv(rows)},
                                  {"iterations.csv", IterationsCsv(rows)}};
  files.push_back({"links.csv", LinksCsv(topology, links, run.together.network,
                                         run.together.end)});
  files.push_back(
      {"shared_links.csv", SharedLinksCsv(topology, shared, users)});
  if (const std::string latencies = LatenciesCsv(rows); !latencies.empty()) {
    files.push_back({"latencies.csv", latencies});
  }
  if (UsesStorage(inputs.jobs)) {
    files.push_back({"storage.csv", StorageCsv(StorageRowsOf(
                                        inputs.jobs, run.together.jobs))});
  }
  if (NetworkOf(options.fidelity)->records_packets) {
    AddPacketTables(inputs.network.packet.record, topology,
                    run.together.network, files);
  }
  files.push_back({"run.json", JobsJson(defaults, options, inputs, topology,
                                        warnings, run, rows)});
  return files;
}

// Removes the result files of an earlier run, which would pass for those of
// this one, where this one had begun; prints why it has not finished, where
// that is no error of the input.
absl::Status EndUnfinished(const RunOptions& options, const JobsInputs& inputs,
                           const OutputFolder& folder,
                           const absl::Status& status) {
  const bool is_stuck = status.code() == absl::StatusCode::kAborted ||
                        status.code() == absl::StatusCode::kInternal;
  if (is_stuck || absl::IsResourceExhausted(status)) {
    ASTRA_RETURN_IF_ERROR(EmptyJobFolders(options.output));
    ASTRA_RETURN_IF_ERROR(folder.Write({}, kResultFiles));
  }
  if (is_stuck) {
    std::string text;
    for (const std::string& event : inputs.events) {
      text += fmt::format("event      {}\n", event);
    }
    Print(text + fmt::format("not finished {}: {}\n", options.name,
                             std::string(status.message())));
    ASTRA_RETURN_IF_ERROR(FlushStdout());
  }
  return status;
}

}  // namespace

absl::Status RunJobsProgram(const RunDefaults& defaults,
                            const RunOptions& options,
                            ReadServedJob read_served, Warnings warnings,
                            const Log& log) {
  using Clock = std::chrono::steady_clock;
  ASTRA_ASSIGN_OR_RETURN(const RunCluster cluster, ReadCluster(options, 0));
  const Topology& topology = cluster.topology;
  ASTRA_ASSIGN_OR_RETURN(
      JobsInputs inputs,
      ReadJobsInputs(options, topology, read_served, &warnings));
  if (options.environment.log_level != LogLevel::kError) log.Report(warnings);
  ASTRA_RETURN_IF_ERROR(AnnounceWork(inputs.budget, options.force));
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.output));
  ASTRA_ASSIGN_OR_RETURN(const std::vector<OutputFolder> folders,
                         JobFolders(options, inputs.jobs));
  const Clock::time_point begin = Clock::now();
  absl::StatusOr<JobsRun> all = RunAll(options, inputs, topology, folders);
  if (!all.ok()) {
    inputs.served.clear();  // Removes the files that these jobs have begun.
    return EndUnfinished(options, inputs, folder, all.status());
  }
  JobsRun& run = *all;
  if (options.environment.log_level != LogLevel::kError) {
    log.Report(run.left_out);
  }
  const std::chrono::duration<double> wall = Clock::now() - begin;
  const std::vector<JobRow> rows = RowsOf(inputs, run);
  const LinkUsers users = LinkUsersOf(inputs, run.together);
  const std::vector<SharedLink> shared = SharedLinks(topology, users.bytes);
  std::vector<NamedFile> files =
      FilesOf(defaults, options, inputs, topology, warnings, run, rows, shared,
              users.names);
  RunResult cost;
  cost.network = run.together.network;
  files.push_back({"cost.json", CostJson(options, cost, wall.count())});
  ASTRA_RETURN_IF_ERROR(EmptyJobFolders(options.output, NamesOf(inputs.jobs)));
  ASTRA_RETURN_IF_ERROR(WriteJobs(inputs, topology, folders, run));
  ASTRA_RETURN_IF_ERROR(folder.Write(files, kResultFiles));
  Print(DescribeJobs(options, inputs, topology, run, rows, shared, users.names,
                     files));
  return FlushStdout();
}

}  // namespace astra
