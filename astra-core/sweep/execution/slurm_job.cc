#include "astra-core/sweep/execution/slurm_job.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "astra-core/base/files.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/shell_word.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/sweep/execution/captured_command.h"
#include "fmt/core.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

std::string SubmissionsFolder(const SweepFolder& folder) {
  return folder.path() + "/slurm";
}

absl::Status CannotWrite(const std::string& path, std::string_view reason) {
  return absl::PermissionDeniedError(fmt::format("{}: {}", path, reason));
}

size_t PointsPerTask(size_t num_points, int64_t points_per_task) {
  if (points_per_task > 0) return static_cast<size_t>(points_per_task);
  constexpr auto kTasks = static_cast<size_t>(kMaxTasks);
  return (num_points + kTasks - 1) / kTasks;
}

// Creates the first of slurm/1, slurm/2, ... that does not exist.
absl::StatusOr<std::string> MakeFolder(const SweepFolder& folder) {
  const std::string parent = SubmissionsFolder(folder);
  // A backslash in the path turns off sbatch's patterns: all tasks would share
  // a log.
  if (parent.find('\\') != parent.npos) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: Slurm takes no folder with a backslash in its name", parent));
  }
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return CannotWrite(parent, error.message());
  for (size_t number = 1;; ++number) {
    std::string path = fmt::format("{}/{}", parent, number);
    if (mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) return CannotWrite(path, std::strerror(errno));
  }
}

// Writes the files that the tasks read.
absl::Status WriteFiles(const SweepRun& run, const SchedulerOptions& options,
                        const std::string& folder) {
  const std::vector<std::vector<uint32_t>> tasks =
      TasksOf(run.points, options.slurm.points_per_task);
  std::string lists;
  std::string keys;
  auto point = run.points.begin();
  for (const std::vector<uint32_t>& numbers : tasks) {
    lists += PointList(numbers) + '\n';
    for (size_t i = 0; i < numbers.size(); ++i, ++point) {
      keys += (i == 0 ? "" : " ") + (*point)->key();
    }
    keys += '\n';
  }
  ASTRA_RETURN_IF_ERROR(WriteFile(folder + "/sweep.yaml", run.sweep_text));
  ASTRA_RETURN_IF_ERROR(WriteFile(folder + "/tasks", lists));
  ASTRA_RETURN_IF_ERROR(WriteFile(folder + "/keys", keys));
  return WriteFile(folder + "/job.sh",
                   JobScript(run, options, folder, tasks.size()));
}

// Submits the array with sbatch.
absl::StatusOr<SlurmSubmission> SubmitFolder(const SweepRun& run,
                                             const SlurmOptions& options,
                                             const std::string& folder) {
  ASTRA_ASSIGN_OR_RETURN(
      CapturedCommand sbatch,
      CapturedCommand::Start(SubmitCommand(run, options, folder), ""));
  const StopSignals signals;  // sbatch may wait long for a controller.
  ASTRA_ASSIGN_OR_RETURN(const CommandResult result, sbatch.Wait(signals));
  if (result.exit_code != 0) {
    return absl::FailedPreconditionError(WhatItSays("sbatch", result));
  }
  ASTRA_ASSIGN_OR_RETURN(SlurmJob job, ParseSlurmJob(result.out));
  SlurmSubmission submission = {
      .folder = folder, .job = std::move(job), .warning = ""};
  if (!result.error.empty()) submission.warning = WhatItSays("sbatch", result);
  // The array exists now, even if a later call cannot find it for lack of this
  // file.
  const absl::Status status = WriteFile(folder + "/job", result.out);
  if (!status.ok()) submission.warning = std::string(status.message());
  return submission;
}

}  // namespace

std::vector<std::vector<uint32_t>> TasksOf(
    absl::Span<const PreparedPoint* const> points, int64_t points_per_task) {
  const size_t size = PointsPerTask(points.size(), points_per_task);
  std::vector<std::vector<uint32_t>> tasks;
  tasks.reserve((points.size() + size - 1) / size);
  for (size_t i = 0; i < points.size(); ++i) {
    if (i % size == 0) tasks.emplace_back();
    tasks.back().push_back(points[i]->point.number);
  }
  return tasks;
}

std::string PointList(absl::Span<const uint32_t> numbers) {
  std::string list;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint32_t first = numbers[i];
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
    if (!list.empty()) list += ',';
    list += first == numbers[i] ? fmt::format("{}", first)
                                : fmt::format("{}-{}", first, numbers[i]);
  }
  return list;
}

std::string JobScript(const SweepRun& run, const SchedulerOptions& options,
                      const std::string& folder, size_t num_tasks) {
  const int64_t throttle = options.slurm.throttle;
  std::string timeout;
  if (options.timeout) {
    timeout = fmt::format(" --timeout {}ms", options.timeout->count());
  }
  return fmt::format(
      R"(#!/bin/bash
#SBATCH --array=1-{tasks}{throttle}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1

set -euo pipefail

echo "task $SLURM_ARRAY_TASK_ID of job $SLURM_ARRAY_JOB_ID," \
  "restart ${{SLURM_RESTART_COUNT:-0}}, on ${{SLURMD_NODENAME:-$HOSTNAME}}"
folder={folder}
points=$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" "$folder/tasks")

# In place of this shell, so that Slurm's signals reach it.
exec {program} run "$folder/sweep.yaml" --point "$points" \
  {name} \
  --relative-to {origin} \
  --output {output} \
  --programs {programs} \
  --keep {keep}B{timeout} --jobs 1 --quiet
)",
      fmt::arg("tasks", num_tasks),
      fmt::arg("throttle", throttle > 0 ? fmt::format("%{}", throttle) : ""),
      fmt::arg("folder", ShellWord(folder)),
      fmt::arg("program", ShellWord(run.sweep_program)),
      fmt::arg("name", ShellWord("--name=" + run.name)),
      fmt::arg("origin", ShellWord(run.origin)),
      fmt::arg("output", ShellWord(run.folder.path())),
      fmt::arg("programs", ShellWord(run.program_folder)),
      fmt::arg("keep", run.keep_bytes), fmt::arg("timeout", timeout));
}

std::vector<std::string> SubmitCommand(const SweepRun& run,
                                       const SlurmOptions& options,
                                       const std::string& folder) {
  std::string log_folder;
  for (const char c : folder) log_folder += c == '%' ? "%%" : std::string{c};
  std::vector<std::string> words = {
      "sbatch", "--parsable", fmt::format("--job-name={}", run.name),
      fmt::format("--chdir={}", folder),
      fmt::format("--output={}/%a.log", log_folder)};
  const std::pair<std::string_view, const std::string&> values[] = {
      {"partition", options.partition},
      {"account", options.account},
      {"time", options.time},
      {"mem", options.memory},
  };
  for (const auto& [name, value] : values) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", name, value));
  }
  for (const std::string_view word : PartsOf(options.sbatch, ' ')) {
    words.emplace_back(word);
  }
  words.push_back(folder + "/job.sh");
  return words;
}

absl::StatusOr<SlurmSubmission> Submit(const SweepRun& run,
                                       const SchedulerOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const std::string folder, MakeFolder(run.folder));
  absl::Status status = WriteFiles(run, options, folder);
  if (status.ok()) {
    absl::StatusOr<SlurmSubmission> submission =
        SubmitFolder(run, options.slurm, folder);
    if (submission.ok()) return submission;
    status = submission.status();
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return status;
}

std::vector<SlurmSubmission> ReadSubmissions(const SweepFolder& folder) {
  std::error_code error;
  // Submissions by number.
  std::map<int64_t, SlurmSubmission> submissions;
  for (std::filesystem::directory_iterator it(SubmissionsFolder(folder), error);
       !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const std::string path = it->path().string();
    const absl::StatusOr<int64_t> number =
        ParseInteger("submission", it->path().filename().string(), 1);
    const absl::StatusOr<std::string> text = ReadFile(path + "/job");
    // This folder was never submitted.
    if (!number.ok() || !text.ok()) continue;
    const absl::StatusOr<SlurmJob> job = ParseSlurmJob(*text);
    if (!job.ok()) continue;
    submissions[*number] = {.folder = path, .job = *job, .warning = ""};
  }
  std::vector<SlurmSubmission> sorted;
  sorted.reserve(submissions.size());
  for (auto& [number, submission] : submissions) {
    sorted.push_back(std::move(submission));
  }
  return sorted;
}

std::vector<std::vector<std::string>> ReadTaskKeys(
    const SlurmSubmission& submission) {
  std::vector<std::vector<std::string>> tasks;
  const absl::StatusOr<std::string> text =
      ReadFile(submission.folder + "/keys");
  if (!text.ok()) return tasks;
  for (const std::string_view line : PartsOf(*text, '\n')) {
    const std::vector<std::string_view> keys = PartsOf(line, ' ');
    tasks.emplace_back(keys.begin(), keys.end());
  }
  return tasks;
}

std::string LogFile(const SlurmSubmission& submission, uint32_t index) {
  return fmt::format("{}/{}.log", submission.folder, index);
}

}  // namespace astra
