#include "astra-core/sweep/execution/slurm_queue.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "absl/status/status.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Parses a line "JOB_INDEX|STATE|REASON".
absl::StatusOr<SlurmTask> ParseLine(std::string_view line) {
  const std::vector<std::string_view> parts = PartsOf(line, '|');
  const std::vector<std::string_view> ids =
      PartsOf(parts.empty() ? "" : parts.front(), '_');
  SlurmTask task;
  if (parts.size() == 3 && ids.size() == 2 && IsNumber(ids[0]) &&
      IsNumber(ids[1])) {
    const std::string_view index = ids[1];
    const auto [end, error] =
        std::from_chars(index.data(), index.data() + index.size(), task.index);
    if (error == std::errc()) {
      task.job = ids[0];
      task.state = parts[1];
      task.reason = parts[2];
      return task;
    }
  }
  return absl::UnavailableError(
      fmt::format("squeue printed {}: expected a task such as "
                  "123_4|PENDING|Resources",
                  Quoted(line)));
}

}  // namespace

std::vector<std::string_view> PartsOf(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t size = std::min(text.find(separator), text.size());
    if (size > 0) parts.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return parts;
}

absl::StatusOr<SlurmJob> ParseSlurmJob(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const size_t end = line.find(';');
  SlurmJob job = {.id = std::string(line.substr(0, end)), .cluster = ""};
  if (end != line.npos) job.cluster = line.substr(end + 1);
  if (IsNumber(job.id)) return job;
  return absl::FailedPreconditionError(fmt::format(
      "sbatch printed {}: expected the number of a job", Quoted(text)));
}

std::vector<std::string> QueueCommand(absl::Span<const SlurmJob> jobs) {
  std::vector<std::string> ids;
  std::set<std::string> clusters;
  ids.reserve(jobs.size());
  for (const SlurmJob& job : jobs) {
    ids.push_back(job.id);
    if (!job.cluster.empty()) clusters.insert(job.cluster);
  }
  std::vector<std::string> words = {
      "squeue", "--noheader", "--array",
      fmt::format("--jobs={}", fmt::join(ids, ",")), "--format=%i|%T|%r"};
  if (!clusters.empty()) {
    words.push_back(fmt::format("--clusters={}", fmt::join(clusters, ",")));
  }
  return words;
}

absl::StatusOr<std::vector<SlurmTask>> ParseSlurmTasks(
    const CommandResult& result) {
  std::vector<SlurmTask> tasks;
  if (result.exit_code != 0) {
    // Slurm forgets a job some minutes after its end.
    if (result.error.find("Invalid job id specified") != std::string::npos) {
      return tasks;
    }
    return absl::UnavailableError(WhatItSays("squeue", result));
  }
  for (const std::string_view line : PartsOf(result.out, '\n')) {
    ASTRA_ASSIGN_OR_RETURN(SlurmTask task, ParseLine(line));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

bool IsUsualReason(std::string_view reason) {
  constexpr std::string_view kUsual[] = {
      "None",      "Resources", "Priority", "JobArrayTaskLimit", "Dependency",
      "BeginTime", "Licenses",  "Prolog",   "Cleaning",
  };
  return std::find(std::begin(kUsual), std::end(kUsual), reason) !=
         std::end(kUsual);
}

std::string WhatItSays(std::string_view program, const CommandResult& result) {
  const std::vector<std::string_view> lines = PartsOf(result.error, '\n');
  if (lines.empty()) {
    return fmt::format("{}: exit code {}", program, result.exit_code);
  }
  std::string said = fmt::format("{}", fmt::join(lines, "; "));
  std::replace_if(
      said.begin(), said.end(),
      [](char c) {
        return !IsPlain({&c, 1});
      },
      ' ');
  return said.rfind(program, 0) == 0 ? said
                                     : fmt::format("{}: {}", program, said);
}

}  // namespace astra
