#include "astra-core/results/jobs_table.h"

#include <cstddef>
#include <string_view>

namespace astra {
namespace {

constexpr std::string_view kJobsFile = "jobs.csv";
constexpr std::string_view kIterationsFile = "iterations.csv";
constexpr int kDecimals = 6;

constexpr Column<JobRow> kJobsColumns[] = {
    {"job", "", "name",
     [](const JobRow& job, std::string* text) { AppendField(job.name, text); }},
    {"workload", "", "file",
     [](const JobRow& job, std::string* text) {
       AppendField(job.workload, text);
     }},
    {"gpus", "", "number of its GPUs",
     [](const JobRow& job, std::string* text) {
       AppendInteger(job.num_gpus, text);
     }},
    {"servers", "", "servers of the topology, in the order of its ranks",
     [](const JobRow& job, std::string* text) {
       AppendField(job.servers, text);
     }},
    {"begin_us", "us", "when its first iteration began",
     [](const JobRow& job, std::string* text) {
       AppendUs(job.iterations.front().begin, text);
     }},
    {"end_us", "us", "when its last iteration ended",
     [](const JobRow& job, std::string* text) {
       AppendUs(job.iterations.back().end, text);
     }},
    {"iterations", "", "how many it ran",
     [](const JobRow& job, std::string* text) {
       AppendInteger(static_cast<int64_t>(job.iterations.size()), text);
     }},
    {"iteration_us", "us", "mean time of an iteration",
     [](const JobRow& job, std::string* text) { AppendUs(job.mean(), text); }},
    {"alone_us", "us",
     "the same without the other jobs; empty if they never ran without",
     [](const JobRow& job, std::string* text) {
       if (job.alone) AppendUs(*job.alone, text);
     }},
    {"slowdown", "", "iteration_us / alone_us",
     [](const JobRow& job, std::string* text) {
       if (job.alone) AppendNumber(job.slowdown(), kDecimals, text);
     }},
};

struct IterationRow {
  const JobRow& job;
  size_t number;

  const JobRow::Iteration& iteration() const { return job.iterations[number]; }
};

constexpr Column<IterationRow> kIterationsColumns[] = {
    {"job", "", "name",
     [](const IterationRow& row, std::string* text) {
       AppendField(row.job.name, text);
     }},
    {"iteration", "", "its number, from 0",
     [](const IterationRow& row, std::string* text) {
       AppendInteger(static_cast<int64_t>(row.number), text);
     }},
    {"begin_us", "us", "when the last rank had ended the iteration before",
     [](const IterationRow& row, std::string* text) {
       AppendUs(row.iteration().begin, text);
     }},
    {"end_us", "us", "when the last rank ended it",
     [](const IterationRow& row, std::string* text) {
       AppendUs(row.iteration().end, text);
     }},
    {"time_us", "us", "end_us - begin_us",
     [](const IterationRow& row, std::string* text) {
       AppendUs(row.iteration().end - row.iteration().begin, text);
     }},
};

}  // namespace

double JobRow::slowdown() const {
  if (*alone == TimePs(0)) return 1;
  return static_cast<double>(mean().count()) /
         static_cast<double>(alone->count());
}

std::string JobsCsv(absl::Span<const JobRow> jobs) {
  std::string text = HeaderOf<JobRow>(kJobsColumns);
  for (const JobRow& job : jobs) AppendRow<JobRow>(kJobsColumns, job, &text);
  return text;
}

std::string IterationsCsv(absl::Span<const JobRow> jobs) {
  std::string text = HeaderOf<IterationRow>(kIterationsColumns);
  for (const JobRow& job : jobs) {
    for (size_t i = 0; i < job.iterations.size(); ++i) {
      AppendRow<IterationRow>(kIterationsColumns, {job, i}, &text);
    }
  }
  return text;
}

void AppendJobsColumns(std::vector<ColumnText>* texts) {
  AppendTexts<JobRow>(kJobsFile, kJobsColumns, texts);
  AppendTexts<IterationRow>(kIterationsFile, kIterationsColumns, texts);
}

}  // namespace astra
