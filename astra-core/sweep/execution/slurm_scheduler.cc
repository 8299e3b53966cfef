#include "astra-core/sweep/execution/slurm_scheduler.h"

#include <dirent.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "astra-core/base/files.h"
#include "astra-core/base/names.h"
#include "astra-core/base/shell_word.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/stop_signals.h"
#include "astra-core/sweep/execution/point_process.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace astra {
namespace {

using Clock = std::chrono::steady_clock;
using Points = std::vector<const PreparedPoint*>;

// Longest part of a log line that a reason quotes.
constexpr size_t kMaxLogLine = 300;

std::string Count(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Makes a network file system look again for new files in `folder`: it does so
// when the folder is opened.
void Refresh(const std::string& folder) {
  if (DIR* open = opendir(folder.c_str())) closedir(open);
}

// Returns text that says where to find out why a task ended: its log and the
// last line of the log, unless that is the line with which every log begins.
std::string LogHint(const std::string& log) {
  const absl::StatusOr<std::string> text = ReadFile(log);
  if (!text.ok()) return fmt::format("; there is no {}", log);
  const std::vector<std::string_view> lines = PartsOf(*text, '\n');
  if (lines.empty() || lines.back().substr(0, 5) == "task ") {
    return fmt::format(": see {}", log);
  }
  std::string line(lines.back().substr(0, kMaxLogLine));
  std::replace_if(
      line.begin(), line.end(),
      [](char c) {
        return !IsPlain({&c, 1});
      },
      ' ');
  return fmt::format(": see {}: {}", log, line);
}

// The points that tasks hold, during one call of RunOnSlurm().
class SlurmRun {
 public:
  SlurmRun(const SweepRun& run, const SchedulerOptions& options,
           const SweepEvents& events, const SlurmTiming& timing)
      : run_(run), options_(options), events_(events), timing_(timing) {}

  absl::Status RunAll() {
    const StopSignals signals;
    left_.assign(run_.points.begin(), run_.points.end());
    while (!left_.empty()) {
      ASTRA_RETURN_IF_ERROR(FindHeld(signals));
      if (!left_.empty()) ASTRA_RETURN_IF_ERROR(SubmitLeft());
      if (!options_.slurm.wait) return NoteHowToCollect();
      ASTRA_RETURN_IF_ERROR(Wait(signals));
    }
    return absl::OkStatus();
  }

 private:
  struct Held {
    const PreparedPoint* point;
    size_t array;  // Index in arrays_.
    uint32_t task;
  };
  struct Array {
    SlurmSubmission submission;
    bool is_ours;  // False for an array of an earlier call.
  };
  // Identifies a task by the id of its job and the index of the task.
  using TaskId = std::pair<std::string, uint32_t>;

  // Moves points that tasks of earlier arrays hold from left_ to held_.
  absl::Status FindHeld(const StopSignals& signals) {
    arrays_.clear();
    gone_.clear();
    const std::vector<SlurmSubmission> submissions =
        ReadSubmissions(run_.folder);
    if (submissions.empty()) return absl::OkStatus();
    for (const SlurmSubmission& submission : submissions) {
      arrays_.push_back({submission, false});
    }
    ASTRA_ASSIGN_OR_RETURN(CapturedCommand squeue, StartQuery());
    ASTRA_ASSIGN_OR_RETURN(const CommandResult said, squeue.Wait(signals));
    const absl::StatusOr<std::vector<SlurmTask>> queue = ParseSlurmTasks(said);
    if (!queue.ok()) {
      return absl::AbortedError(queue.status().message());
    }
    TakeHeld(*queue);
    return absl::OkStatus();
  }

  void TakeHeld(const std::vector<SlurmTask>& queue) {
    std::set<TaskId> queued;
    for (const SlurmTask& task : queue) queued.insert({task.job, task.index});
    std::map<std::string, Held> holders;  // Holder of each point, by key.
    std::vector<Array> live;
    for (const Array& array : arrays_) {
      const std::string& id = array.submission.job.id;
      const auto task = queued.lower_bound({id, 0});
      if (task == queued.end() || task->first != id) continue;
      live.push_back(array);
      uint32_t index = 0;
      for (const auto& keys : ReadTaskKeys(array.submission)) {
        if (queued.count({id, ++index}) == 0) continue;
        for (const std::string& key : keys) {
          holders[key] = {nullptr, live.size() - 1, index};
        }
      }
    }
    arrays_ = std::move(live);
    std::vector<size_t> counts(arrays_.size());
    Points left;
    for (const PreparedPoint* point : left_) {
      const auto holder = holders.find(point->key());
      if (holder == holders.end()) {
        left.push_back(point);
        continue;
      }
      held_.push_back({point, holder->second.array, holder->second.task});
      ++counts[holder->second.array];
    }
    left_ = std::move(left);
    for (size_t i = 0; i < arrays_.size(); ++i) {
      if (counts[i] == 0) continue;
      const SlurmSubmission& submission = arrays_[i].submission;
      events_.on_note(fmt::format("queued     {} in job {} already, logs in {}",
                                  Count(counts[i], "point"), submission.job.id,
                                  submission.folder));
    }
  }

  absl::Status SubmitLeft() {
    SweepRun run = run_;
    run.points = left_;
    ASTRA_ASSIGN_OR_RETURN(SlurmSubmission submission, Submit(run, options_));
    const auto tasks = TasksOf(left_, options_.slurm.points_per_task);
    events_.on_note(
        fmt::format("submitted  job {}: {} of {}{}, logs in {}",
                    submission.job.id, Count(tasks.size(), "task"),
                    tasks.back().size() < tasks.front().size() ? "up to " : "",
                    Count(tasks.front().size(), "point"), submission.folder));
    if (!submission.warning.empty()) {
      events_.on_note(fmt::format("warning    {}", submission.warning));
    }
    const PreparedPoint* const* point = left_.data();
    for (size_t i = 0; i < tasks.size(); ++i) {
      for (size_t j = 0; j < tasks[i].size(); ++j) {
        held_.push_back(
            {*point++, arrays_.size(), static_cast<uint32_t>(i + 1)});
      }
    }
    arrays_.push_back({std::move(submission), true});
    left_.clear();
    return absl::OkStatus();
  }

  // Returns the ids of the jobs that hold points, such as "12 13".
  std::string Jobs() const {
    std::set<size_t> holders;
    for (const Held& held : held_) holders.insert(held.array);
    std::vector<std::string> ids;
    ids.reserve(holders.size());
    for (const size_t i : holders) ids.push_back(arrays_[i].submission.job.id);
    return fmt::format("{}", fmt::join(ids, " "));
  }

  absl::Status NoteHowToCollect() const {
    const std::string folder = ShellWord(run_.folder.path());
    events_.on_note(fmt::format("to collect simai_sweep status {}", folder));
    events_.on_note(fmt::format(
        "to wait    simai_sweep resume {} --scheduler slurm", folder));
    return absl::OkStatus();
  }

  // Waits until no point is held.
  absl::Status Wait(const StopSignals& signals) {
    begin_ = last_news_ = Clock::now();
    next_query_ = next_read_ = begin_;
    while (true) {
      ASTRA_RETURN_IF_ERROR(ReadRecords());
      if (held_.empty()) break;
      ASTRA_RETURN_IF_ERROR(AskQueue());
      ASTRA_RETURN_IF_ERROR(GiveUpLost());
      events_.on_running(num_running_);
      if (const char* signal = signals.Wait(timing_.poll)) {
        return Stopped(signal);
      }
    }
    query_.reset();
    if (!left_.empty()) {
      events_.on_note(
          fmt::format("left over  {} of the earlier array: its tasks are gone",
                      Count(left_.size(), "point")));
    }
    std::sort(left_.begin(), left_.end(), [](const auto* a, const auto* b) {
      return a->point.number < b->point.number;
    });
    return absl::OkStatus();
  }

  absl::Status Stopped(const char* signal) const {
    const std::string jobs = Jobs();
    events_.on_note(fmt::format(
        "goes on    job {}: simai_sweep resume {} --scheduler slurm waits for "
        "it, scancel {} ends it",
        jobs, ShellWord(run_.folder.path()), jobs));
    return absl::CancelledError(fmt::format("stopped by {}", signal));
  }

  // Reports the records that are new.
  absl::Status ReadRecords() {
    const Clock::time_point begin = Clock::now();
    if (begin < next_read_) return absl::OkStatus();
    std::vector<Held> rest;
    rest.reserve(held_.size());
    for (const Held& held : held_) {
      ASTRA_ASSIGN_OR_RETURN(const bool is_read, ReadRecord(*held.point));
      if (!is_read) rest.push_back(held);
    }
    held_ = std::move(rest);
    // Reading takes at most a tenth of the time.
    const Clock::time_point end = Clock::now();
    next_read_ =
        end + std::max<Clock::duration>(timing_.poll / 2, 10 * (end - begin));
    return absl::OkStatus();
  }

  absl::StatusOr<bool> ReadRecord(const PreparedPoint& point) {
    std::string fault;  // Ignored: the task may still replace the record.
    const std::optional<PointRecord> record =
        ReadPointRecord(run_.folder, point.key(), &fault);
    if (!record) return false;
    last_news_ = Clock::now();
    ASTRA_RETURN_IF_ERROR(events_.on_record(*record));
    return true;
  }

  absl::StatusOr<CapturedCommand> StartQuery() const {
    std::vector<SlurmJob> jobs;
    jobs.reserve(arrays_.size());
    for (const Array& array : arrays_) jobs.push_back(array.submission.job);
    return CapturedCommand::Start(QueueCommand(jobs), kQueueVariables);
  }

  // Starts squeue when a query is due, or takes its answer.
  absl::Status AskQueue() {
    const Clock::time_point now = Clock::now();
    if (!query_ && now >= next_query_) {
      ASTRA_ASSIGN_OR_RETURN(CapturedCommand query, StartQuery());
      query_.emplace(std::move(query));
    }
    if (query_) {
      if (const std::optional<CommandResult> result = query_->Poll()) {
        query_.reset();
        next_query_ = now + std::clamp<Clock::duration>((now - begin_) / 10,
                                                        timing_.first_query,
                                                        timing_.last_query);
        TakeAnswer(ParseSlurmTasks(*result));
      }
    }
    if (now - last_news_ <= timing_.patience) return absl::OkStatus();
    return absl::AbortedError(fmt::format(
        "Slurm's queue has not answered for {} s{}; job {} may go on: "
        "simai_sweep resume --scheduler slurm waits for it again",
        std::chrono::duration_cast<std::chrono::seconds>(timing_.patience)
            .count(),
        queue_error_.empty() ? "" : fmt::format(" ({})", queue_error_),
        Jobs()));
  }

  void TakeAnswer(const absl::StatusOr<std::vector<SlurmTask>>& queue) {
    if (!queue.ok()) {
      queue_error_ = std::string(queue.status().message());
      Note(fmt::format("no answer  {}; asking again", queue_error_), "squeue");
      return;
    }
    last_news_ = Clock::now();
    std::set<TaskId> queued;
    num_running_ = 0;
    for (const SlurmTask& task : *queue) {
      queued.insert({task.job, task.index});
      const bool is_running = task.state == "RUNNING";
      num_running_ += is_running ? 1 : 0;
      if (is_running || IsUsualReason(task.reason)) continue;
      Note(fmt::format("waits      task {} of job {}: Slurm says {}",
                       task.index, task.job, task.reason),
           task.reason);
    }
    for (const Held& held : held_) {
      TaskId id = {arrays_[held.array].submission.job.id, held.task};
      if (queued.count(id) > 0) {
        gone_.erase(id);
      } else {
        // Keeps the time at which it was first missed.
        gone_.emplace(std::move(id), last_news_);
      }
    }
  }

  // Reports `note`, unless a note with the same `about` was reported before.
  void Note(const std::string& note, const std::string& about) {
    if (noted_.insert(about).second) events_.on_note(note);
  }

  // Settles the points whose tasks ended without writing a record.
  absl::Status GiveUpLost() {
    if (gone_.empty()) return absl::OkStatus();
    const Clock::time_point now = Clock::now();
    std::vector<Held> rest;
    rest.reserve(held_.size());
    for (const Held& held : held_) {
      const auto gone =
          gone_.find({arrays_[held.array].submission.job.id, held.task});
      if (gone == gone_.end() || now - gone->second < timing_.lag) {
        rest.push_back(held);
        continue;
      }
      ASTRA_RETURN_IF_ERROR(Settle(held));
    }
    held_ = std::move(rest);
    return absl::OkStatus();
  }

  absl::Status Settle(const Held& held) {
    const std::string folder = run_.folder.PointFolder(held.point->key());
    Refresh(run_.folder.path() + "/points");
    Refresh(folder);
    ASTRA_ASSIGN_OR_RETURN(const bool is_read, ReadRecord(*held.point));
    if (is_read) return absl::OkStatus();
    if (!arrays_[held.array].is_ours) {
      left_.push_back(held.point);
      return absl::OkStatus();
    }
    return events_.on_record(LostRecord(held));
  }

  // Returns the record of a point whose task ended without writing one.
  PointRecord LostRecord(const Held& held) const {
    const PreparedPoint& point = *held.point;
    const SlurmSubmission& submission = arrays_[held.array].submission;
    PointRecord record;
    record.key = point.key();
    record.exit_code = 1;
    record.reason = fmt::format(
        "task {} of Slurm job {} ended without a result{}", held.task,
        submission.job.id, LogHint(LogFile(submission, held.task)));
    record.version = run_.version;
    for (size_t step = 0; step < point.steps.size(); ++step) {
      record.commands.push_back(ShellCommand(StepCommand(run_, point, step)));
    }
    record.inputs = point.inputs;
    return record;
  }

  const SweepRun& run_;
  const SchedulerOptions& options_;
  const SweepEvents& events_;
  const SlurmTiming& timing_;
  Points left_;  // Points that no task holds, in the order of their numbers.
  std::vector<Held> held_;
  std::vector<Array> arrays_;
  std::optional<CapturedCommand> query_;
  std::string queue_error_;  // Last error of a query; empty if none failed.
  // Time since which each task is missed in the queue.
  std::map<TaskId, Clock::time_point> gone_;
  std::set<std::string> noted_;
  int64_t num_running_ = 0;
  Clock::time_point begin_;
  Clock::time_point next_query_;
  Clock::time_point next_read_;
  // Time of the last record or answer of the queue.
  Clock::time_point last_news_;
};

}  // namespace

absl::Status RunOnSlurmTimed(const SweepRun& run,
                             const SchedulerOptions& options,
                             const SweepEvents& events,
                             const SlurmTiming& timing) {
  return SlurmRun(run, options, events, timing).RunAll();
}

std::string QueuedJob(const SweepFolder& folder) {
  std::vector<SlurmJob> jobs;
  for (const SlurmSubmission& submission : ReadSubmissions(folder)) {
    jobs.push_back(submission.job);
  }
  if (jobs.empty()) return "";
  absl::StatusOr<CapturedCommand> squeue =
      CapturedCommand::Start(QueueCommand(jobs), kQueueVariables);
  if (!squeue.ok()) return "";
  const absl::StatusOr<std::vector<SlurmTask>> queue =
      ParseSlurmTasks(squeue->Wait());
  return queue.ok() && !queue->empty() ? queue->front().job : "";
}

absl::Status RunOnSlurm(const SweepRun& run, const SchedulerOptions& options,
                        const SweepEvents& events) {
  return RunOnSlurmTimed(run, options, events, SlurmTiming());
}

}  // namespace astra
