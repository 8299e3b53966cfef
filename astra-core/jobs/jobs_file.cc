#include "astra-core/jobs/jobs_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/text_reader.h"
#include "astra-core/base/yaml_reader.h"
#include "fmt/core.h"
#include "topology/topology.h"

namespace astra {
namespace {

constexpr std::string_view kMark = "simai_jobs";
constexpr int64_t kVersion = 1;

// Appends the numbers of `text`, such as "8" or "0-3".
absl::Status AppendRange(std::string_view text,
                         std::vector<uint32_t>* numbers) {
  const size_t dash = text.find('-');
  const auto first =
      ParseInteger("", text.substr(0, dash), 0, Topology::kMaxNodes);
  const auto last =
      dash == std::string_view::npos
          ? first
          : ParseInteger("", text.substr(dash + 1), 0, Topology::kMaxNodes);
  if (!first.ok() || !last.ok() || *last < *first) {
    return absl::InvalidArgumentError(
        fmt::format("expected numbers such as 8 or 0-3, not {}", Quoted(text)));
  }
  for (int64_t number = *first; number <= *last; ++number) {
    numbers->push_back(static_cast<uint32_t>(number));
  }
  return absl::OkStatus();
}

std::vector<uint32_t> ReadNumbers(std::string_view key, YamlFields& fields) {
  std::vector<uint32_t> numbers;
  for (const std::string& text : fields.Texts(key)) {
    const absl::Status status = AppendRange(text, &numbers);
    if (!status.ok()) fields.Error(key, std::string(status.message()));
    if (numbers.size() > Topology::kMaxNodes) {
      fields.Error(key, "expected no number twice");
      return {};
    }
  }
  if (fields.has(key) && numbers.empty()) {
    fields.Error(key, "expected at least one number");
  }
  return numbers;
}

TimePs ReadStart(YamlFields& fields) {
  constexpr TimePs kLatest = Microseconds(1'000'000'000);
  const absl::StatusOr<TimePs> start = ParseTime(fields.TextOr("start", "0us"));
  if (start.ok() && *start <= kLatest) return *start;
  fields.Error("start", start.ok() ? "expected at most 1000 s"
                                   : std::string(start.status().message()));
  return {};
}

std::string PlaceOf(std::string_view file, const YamlValue& value) {
  return fmt::format("{}:{}:{}", file, value.line, value.column);
}

// Reads the keys of a job that serves, each of which has one scalar.
std::vector<ServingKey> ReadServing(std::string_view file, YamlFields& job) {
  std::vector<ServingKey> keys;
  YamlFields fields = job.Map("serving", "the serving of a job");
  for (const std::string& key : fields.keys()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    const bool is_known = std::any_of(
        keys.begin(), keys.end(),
        [&](const ServingKey& other) { return other.name == name; });
    if (is_known) fields.Error(key, fmt::format("{} is given twice", name));
    const std::string text = fields.Text(key);
    keys.push_back({std::move(name), text, PlaceOf(file, *fields.Value(key))});
  }
  if (keys.empty()) fields.Error("serving", "expected a model and requests");
  fields.Close();
  return keys;
}

// Reads what a job does: iterations of a workload, or serving.
void ReadWork(std::string_view file, YamlFields& fields, JobSpec& job) {
  constexpr std::string_view kUntilServed = "until_served";
  if (fields.Value("serving") != nullptr) {
    job.serving = ReadServing(file, fields);
    for (const std::string_view key :
         {"workload", "iterations", "checkpoint", "restore", "data"}) {
      if (fields.has(key)) fields.Error(key, "no effect beside serving");
    }
    return;
  }
  job.workload = BesideFile(file, fields.Text("workload"));
  const YamlValue* const iterations = fields.Value("iterations");
  job.until_served = iterations != nullptr && iterations->text == kUntilServed;
  if (!job.until_served) {
    job.iterations = fields.IntegerOr("iterations", 1, 1, kMostIterations);
  }
  // How many iterations there will be until then is not known.
  job.storage = ReadStorageUse(
      job.start, job.until_served ? kMostIterations : job.iterations, fields);
}

JobSpec ReadJob(std::string_view file, YamlFields& fields) {
  JobSpec job;
  job.name = fields.Text("name");
  if (const YamlValue* name = fields.Value("name"); name != nullptr) {
    job.place = PlaceOf(file, *name);
  }
  if (fields.has("name") && !IsFileName(job.name)) {
    fields.Error("name", fmt::format("expected the name of a folder, not {}",
                                     Quoted(job.name)));
  }
  job.start = ReadStart(fields);
  ReadWork(file, fields, job);
  job.servers = ReadNumbers("servers", fields);
  job.gpus_of_server = ReadNumbers("gpus_of_server", fields);
  const std::string rank_file = fields.TextOr("rank_file", "");
  if (fields.has("rank_file")) {
    job.rank_file = BesideFile(file, rank_file);
    for (const std::string_view key : {"servers", "gpus_of_server"}) {
      if (fields.has(key)) fields.Error(key, "no effect beside rank_file");
    }
  }
  fields.Close();
  return job;
}

// Checks that some job serves, if others go on until none does.
void CheckUntilServed(absl::Span<const JobSpec> jobs,
                      std::vector<YamlFields>& maps) {
  if (std::any_of(jobs.begin(), jobs.end(),
                  [](const JobSpec& job) { return !job.serving.empty(); })) {
    return;
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].until_served) continue;
    maps[i].Error("iterations", "expected a number: no job of the file serves");
  }
}

// Checks that some job is placed by the policy, if the file names one.
void CheckPlacement(absl::Span<const JobSpec> jobs, YamlFields& root) {
  const bool has_effect = std::any_of(
      jobs.begin(), jobs.end(),
      [](const JobSpec& job) { return job.servers.empty() && !job.rank_file; });
  if (has_effect || !root.has("placement")) return;
  root.Error("placement", "no effect: every job has servers or a rank_file");
}

}  // namespace

std::string BesideFile(std::string_view file, const std::string& path) {
  return (std::filesystem::path(FolderOf(std::string(file))) / path).string();
}

absl::StatusOr<JobsFile> ParseJobs(std::string_view file,
                                   std::string_view contents) {
  YamlDocument document(file, contents);
  YamlFields root = document.Root("a file of jobs");
  root.Integer(kMark, kVersion, kVersion);
  JobsFile jobs;
  jobs.placement = static_cast<PlacementPolicy>(
      root.ChoiceOr("placement", 0, kPlacementPolicies));
  jobs.runs_alone = root.BoolOr("alone", true);
  std::vector<YamlFields> maps = root.Maps("jobs", "a job");
  for (YamlFields& fields : maps) {
    JobSpec job = ReadJob(file, fields);
    const bool is_known = std::any_of(
        jobs.jobs.begin(), jobs.jobs.end(),
        [&](const JobSpec& other) { return other.name == job.name; });
    if (is_known) {
      fields.Error("name", fmt::format("two jobs are named {}", job.name));
    }
    jobs.jobs.push_back(std::move(job));
  }
  CheckUntilServed(jobs.jobs, maps);
  CheckPlacement(jobs.jobs, root);
  if (jobs.jobs.empty() || jobs.jobs.size() > kMostJobs) {
    root.Error("jobs",
               fmt::format("expected a list of 1 to {} jobs", kMostJobs));
  }
  root.Close();
  if (!document.status().ok()) return document.status();
  return jobs;
}

absl::StatusOr<std::vector<uint32_t>> ParseRankFile(std::string_view file,
                                                    std::string_view contents) {
  std::vector<uint32_t> gpus;
  TextReader reader(file, contents);
  while (reader.NextLine()) {
    const absl::Span<const Token> tokens = reader.tokens();
    if (tokens.empty() || tokens[0].text.starts_with('#')) continue;
    const absl::StatusOr<int64_t> gpu =
        ParseInteger("", tokens[0].text, 0, Topology::kMaxNodes);
    if (!gpu.ok()) {
      return reader.Error(
          tokens[0], fmt::format("expected the number of the GPU of rank {}, "
                                 "not {}",
                                 gpus.size(), Quoted(tokens[0].text)));
    }
    if (tokens.size() > 1) {
      return reader.Error(tokens[1], fmt::format("expected one number a line, "
                                                 "not {} behind it",
                                                 Quoted(tokens[1].text)));
    }
    gpus.push_back(static_cast<uint32_t>(*gpu));
  }
  if (gpus.empty()) return reader.ErrorAtEnd("expected the GPU of rank 0");
  return gpus;
}

}  // namespace astra
