#include "astra-core/apps/simai_sweep_progress.h"

#include <cstdio>

#include "astra-core/apps/json_parts.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/sweep/execution/shell_word.h"
#include "astra-core/sweep/results/sweep_table.h"
#include "fmt/format.h"

namespace astra {
namespace {

void PrintJson(const Json& json) {
  Print(JsonLine(json));
  std::fflush(stdout);  // Who reads it may wait for it.
}

Json VariablesJson(const SweepPoints& points, const SweepPoint& point) {
  Json json = Json::object();
  for (const std::string& name : points.variables) {
    json[name] = point.variables.find(name)->second;
  }
  return json;
}

}  // namespace

void PrintNote(std::string_view note, SweepOutput output) {
  if (output == SweepOutput::kJsonLines) {
    PrintJson({{"event", "note"}, {"text", note}});
  } else if (output == SweepOutput::kText) {
    Print(fmt::format("{}\n", note));
  }
}

SweepProgress::SweepProgress(const PlannedSweep& plan,
                             const std::vector<const PreparedPoint*>& points,
                             SweepOutput output)
    : plan_(plan), output_(output) {
  for (const PreparedPoint* point : points) {
    points_.emplace(point->key(), point);
  }
}

void SweepProgress::Begin(size_t num_failed) const {
  const size_t num_points = plan_.points.points.size();
  if (output_ == SweepOutput::kText) {
    Print(fmt::format(
        "sweep      {}: {} point{}, {} left out by rules\n"
        "folder     {}\n"
        "to run     {}\n",
        plan_.sweep.name, num_points, num_points == 1 ? "" : "s",
        plan_.points.skipped.size(), plan_.folder.path(), points_.size()));
    if (num_failed > 0) {
      Print(fmt::format(
          "failed     {} before; simai_sweep retry {} runs them again\n",
          num_failed, ShellWord(plan_.folder.path())));
    }
  } else if (output_ == SweepOutput::kJsonLines) {
    PrintJson({{"event", "begin"},
               {"sweep", plan_.sweep.name},
               {"folder", plan_.folder.path()},
               {"points", num_points},
               {"left_out", plan_.points.skipped.size()},
               {"to_run", points_.size()},
               {"failed_before", num_failed}});
  }
}

void SweepProgress::OnRecord(const PointRecord& record) {
  ++num_done_;
  const PointState state = StateOf(record);
  if (state == PointState::kFailed) ++num_failed_;
  const auto found = points_.find(record.key);
  if (found == points_.end()) return;
  const SweepPoint& point = found->second->point;
  if (output_ == SweepOutput::kJsonLines) {
    Json metrics = Json::object();
    for (const Metric& metric : record.metrics) {
      metrics[metric.name] = metric.value;
    }
    PrintJson({{"event", "point"},
               {"point", point.number},
               {"state", PointStateName(state)},
               {"reason", record.reason},
               {"variables", VariablesJson(plan_.points, point)},
               {"metrics", std::move(metrics)},
               {"wall_s", record.cost.wall_s}});
  } else if (output_ == SweepOutput::kText && state == PointState::kFailed) {
    line_.Clear();
    Print(fmt::format(
        "failed     point {} ({}): {}\n", point.number,
        DescribeVariables(plan_.points.axis_variables, point.variables),
        record.reason));
  }
}

void SweepProgress::OnRunning(int64_t running) {
  if (output_ != SweepOutput::kText || !line_.IsDue()) return;
  std::string done = fmt::format("{} of {} points, {} running", num_done_,
                                 points_.size(), running);
  if (num_failed_ > 0) done += fmt::format(", {} failed", num_failed_);
  line_.Update(
      static_cast<double>(num_done_) / static_cast<double>(points_.size()),
      done);
}

void SweepProgress::OnNote(std::string_view note) {
  line_.Clear();
  PrintNote(note, output_);
}

void SweepProgress::End(const SweepEnd& end) {
  line_.Clear();
  const std::chrono::duration<double> wall = Clock::now() - begin_;
  const std::string why(end.status.message());
  if (output_ == SweepOutput::kJsonLines) {
    PrintJson({{"event", "end"},
               {"finished", end.num_finished},
               {"illegal", end.num_illegal},
               {"failed", end.num_failed},
               {"not_run", end.num_pending},
               {"run_now", num_done_},
               {"wall_s", wall.count()},
               {"how", end.how},
               {"why", why}});
  } else if (output_ == SweepOutput::kText) {
    const std::string illegal =
        end.num_illegal == 0
            ? ""
            : fmt::format(", {} left out as illegal", end.num_illegal);
    const std::string more =
        end.status.ok() ? ""
                        : fmt::format("; {}; simai_sweep resume {} goes on",
                                      why, ShellWord(plan_.folder.path()));
    Print(fmt::format(
        "{:<10} {}: {} finished{}{}, {} failed, {} not run; {} run now, in "
        "{:.1f} s{}\n",
        end.how, plan_.sweep.name, end.num_finished, end.infeasible, illegal,
        end.num_failed, end.num_pending, num_done_, wall.count(), more));
  }
}

}  // namespace astra
