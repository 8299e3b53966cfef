#include "astra-core/results/jobs_table.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

#include "astra-core/base/csv_reader.h"

namespace astra {
namespace {

constexpr std::string_view kJobsFile = "jobs.csv";
constexpr std::string_view kIterationsFile = "iterations.csv";
constexpr std::string_view kSharedFile = "shared_links.csv";
constexpr int kDecimals = 6;

constexpr Column<JobRow> kJobsColumns[] = {
    {"job", "", "name",
     [](const JobRow& job, std::string* text) { AppendField(job.name, text); }},
    {"workload", "", "file, or the model of a job that serves",
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
    {"begin_us", "us", "when its first iteration, or serving, began",
     [](const JobRow& job, std::string* text) {
       AppendUs(job.served ? job.start : job.iterations.front().begin, text);
     }},
    {"end_us", "us", "when its last iteration, or its last request, ended",
     [](const JobRow& job, std::string* text) { AppendUs(job.end(), text); }},
    {"iterations", "", "how many it ran; empty for a job that serves",
     [](const JobRow& job, std::string* text) {
       if (job.served) return;
       AppendInteger(static_cast<int64_t>(job.iterations.size()), text);
     }},
    {"iteration_us", "us",
     "mean time of an iteration; empty for a job that serves",
     [](const JobRow& job, std::string* text) {
       if (!job.served) AppendUs(job.mean(), text);
     }},
    {"alone_us", "us",
     "the same without the other jobs; empty if they never ran without, and "
     "for "
     "a job that serves",
     [](const JobRow& job, std::string* text) {
       if (job.alone) AppendUs(*job.alone, text);
     }},
    {"slowdown", "",
     "iteration_us / alone_us; of a job that serves, that of e2e in "
     "latencies.csv",
     [](const JobRow& job, std::string* text) {
       if (job.RanAlone()) AppendNumber(job.slowdown(), kDecimals, text);
     }},
};

// Columns of runs in which a job uses storage.
constexpr Column<JobRow> kJobsStorageColumns[] = {
    {"without_storage_us", "us", "iteration_us while no job uses storage",
     [](const JobRow& job, std::string* text) {
       if (job.without_storage) AppendUs(*job.without_storage, text);
     }},
    {"storage_slowdown", "", "iteration_us / without_storage_us",
     [](const JobRow& job, std::string* text) {
       if (!job.without_storage) return;
       AppendNumber(job.storage_slowdown(), kDecimals, text);
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
    {"begin_us", "us",
     "when the last rank had ended the iteration before, and storage was ready",
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

// Columns of runs in which a job uses storage.
constexpr Column<IterationRow> kIterationsStorageColumns[] = {
    {"waited_us", "us", "for checkpoints and data before it began",
     [](const IterationRow& row, std::string* text) {
       AppendUs(row.job.WaitedFor(row.number), text);
     }},
    {"without_storage_us", "us",
     "time_us while no job uses storage; empty if there are fewer then",
     [](const IterationRow& row, std::string* text) {
       const std::optional<TimePs>& time = row.iteration().without_storage;
       if (time) AppendUs(*time, text);
     }},
};

struct SharedRow {
  const Topology& topology;
  const SharedLink& link;
  const std::string& user;
  size_t number;  // Of the user.
};

constexpr Column<SharedRow> kSharedColumns[] = {
    {"link", "", "number, as in links.csv",
     [](const SharedRow& row, std::string* text) {
       AppendInteger(row.link.link.index(), text);
     }},
    {"name", "", "its ends and its rate",
     [](const SharedRow& row, std::string* text) {
       AppendField(row.topology.LinkName(row.link.link), text);
     }},
    {"job", "", "name; with \"storage\" behind it what the job wrote and read",
     [](const SharedRow& row, std::string* text) {
       AppendField(row.user, text);
     }},
    {"bytes", "B", "of messages of the job, without headers",
     [](const SharedRow& row, std::string* text) {
       AppendNumber(row.link.bytes[row.number], 0, text);
     }},
    {"share", "", "of the bytes of all jobs on the link",
     [](const SharedRow& row, std::string* text) {
       AppendNumber(row.link.bytes[row.number] / row.link.all(), kDecimals,
                    text);
     }},
};

// Returns the columns of a table of `jobs`: `of_storage` only if they were run
// without storage, too.
template <class Row>
std::vector<Column<Row>> ColumnsOf(absl::Span<const JobRow> jobs,
                                   absl::Span<const Column<Row>> columns,
                                   absl::Span<const Column<Row>> of_storage) {
  std::vector<Column<Row>> all(columns.begin(), columns.end());
  if (std::any_of(jobs.begin(), jobs.end(), [](const JobRow& job) {
        return job.without_storage.has_value();
      })) {
    all.insert(all.end(), of_storage.begin(), of_storage.end());
  }
  return all;
}

}  // namespace

double SharedLink::all() const {
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

std::vector<SharedLink> SharedLinks(
    const Topology& topology, absl::Span<const std::vector<double>> bytes) {
  std::vector<SharedLink> links;
  for (uint32_t i = 0; i < topology.links().size(); ++i) {
    SharedLink link{LinkId(i), {}};
    for (const std::vector<double>& of_user : bytes) {
      link.bytes.push_back(of_user[i]);
    }
    const auto users = std::count_if(link.bytes.begin(), link.bytes.end(),
                                     [](double each) { return each > 0; });
    if (users > 1) links.push_back(std::move(link));
  }
  const auto load = [&topology](const SharedLink& link) {
    const Bandwidth rate = topology.type(link.link).bandwidth;
    return link.all() / static_cast<double>(rate.count());
  };
  std::stable_sort(links.begin(), links.end(),
                   [&load](const SharedLink& a, const SharedLink& b) {
                     return load(a) > load(b);
                   });
  return links;
}

std::string SharedLinksCsv(const Topology& topology,
                           absl::Span<const SharedLink> links,
                           absl::Span<const std::string> users) {
  std::string text = HeaderOf<SharedRow>(kSharedColumns);
  for (const SharedLink& link : links) {
    for (size_t user = 0; user < users.size(); ++user) {
      if (link.bytes[user] == 0) continue;
      AppendRow<SharedRow>(kSharedColumns, {topology, link, users[user], user},
                           &text);
    }
  }
  return text;
}

double JobRow::slowdown() const {
  if (served) return served->slowdown();
  if (*alone == TimePs(0)) return 1;
  return static_cast<double>(mean().count()) /
         static_cast<double>(alone->count());
}

double JobRow::storage_slowdown() const {
  if (*without_storage == TimePs(0)) return 1;
  return static_cast<double>(mean().count()) /
         static_cast<double>(without_storage->count());
}

std::string JobsCsv(absl::Span<const JobRow> jobs) {
  const std::vector<Column<JobRow>> columns =
      ColumnsOf<JobRow>(jobs, kJobsColumns, kJobsStorageColumns);
  std::string text = HeaderOf<JobRow>(columns);
  for (const JobRow& job : jobs) AppendRow<JobRow>(columns, job, &text);
  return text;
}

std::vector<std::string> JobsInCsv(std::string_view contents) {
  std::string header = HeaderOf<JobRow>(kJobsColumns);
  header.pop_back();  // Columns of storage may follow.
  if (!contents.starts_with(header)) return {};
  std::vector<std::string> names;
  CsvReader csv(kJobsFile, contents);
  while (csv.NextRow()) names.push_back(csv.cell(0).text);
  return names;
}

std::string IterationsCsv(absl::Span<const JobRow> jobs) {
  const std::vector<Column<IterationRow>> columns = ColumnsOf<IterationRow>(
      jobs, kIterationsColumns, kIterationsStorageColumns);
  std::string text = HeaderOf<IterationRow>(columns);
  for (const JobRow& job : jobs) {
    for (size_t i = 0; i < job.iterations.size(); ++i) {
      AppendRow<IterationRow>(columns, {job, i}, &text);
    }
  }
  return text;
}

void AppendJobsColumns(std::vector<ColumnText>* texts) {
  AppendTexts<JobRow>(kJobsFile, kJobsColumns, texts);
  AppendTexts<JobRow>(kJobsFile, kJobsStorageColumns, texts);
  AppendTexts<IterationRow>(kIterationsFile, kIterationsColumns, texts);
  AppendTexts<IterationRow>(kIterationsFile, kIterationsStorageColumns, texts);
  AppendTexts<SharedRow>(kSharedFile, kSharedColumns, texts);
}

}  // namespace astra
