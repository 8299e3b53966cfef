#include "astra-core/apps/sweep/simai_sweep_progress.h"

#include <cstdio>

#include "astra-core/base/json_writer.h"
#include "astra-core/base/shell_word.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/sweep/results/row_text.h"
#include "astra-core/sweep/results/sweep_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Prints the text of `json` as a line.
void PrintLine(const JsonWriter& json) {
  Print(json.text() + "\n");
  std::fflush(stdout);  // A reader may wait for the line.
}

}  // namespace

void PrintNote(std::string_view note, SweepOutput output) {
  if (output == SweepOutput::kJsonLines) {
    PrintLine(JsonWriter()
                  .BeginObject()
                  .Field("event", "note")
                  .Field("text", note)
                  .EndObject());
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
    PrintLine(JsonWriter()
                  .BeginObject()
                  .Field("event", "begin")
                  .Field("sweep", plan_.sweep.name)
                  .Field("folder", plan_.folder.path())
                  .Field("points", num_points)
                  .Field("left_out", plan_.points.skipped.size())
                  .Field("to_run", points_.size())
                  .Field("failed_before", num_failed)
                  .EndObject());
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
    JsonWriter json;
    json.BeginObject()
        .Field("event", "point")
        .Field("point", point.number)
        .Field("state", PointStateName(state))
        .Field("reason", record.reason);
    json.Key("variables").BeginObject();
    for (const std::string& name : plan_.points.variables) {
      json.Field(name, point.variables.find(name)->second);
    }
    json.EndObject().Key("metrics").BeginObject();
    for (const Metric& metric : record.metrics) {
      json.Field(metric.name, metric.value);
    }
    json.EndObject().Field("wall_s", record.cost.wall_s).EndObject();
    PrintLine(json);
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
    PrintLine(JsonWriter()
                  .BeginObject()
                  .Field("event", "end")
                  .Field("finished", end.num_finished)
                  .Field("infeasible", end.num_infeasible)
                  .Field("illegal", end.num_illegal)
                  .Field("failed", end.num_failed)
                  .Field("not_run", end.num_pending)
                  .Field("run_now", num_done_)
                  .Field("wall_s", wall.count())
                  .Field("how", end.how)
                  .Field("why", why)
                  .EndObject());
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
        end.how, plan_.sweep.name, end.num_finished,
        InfeasibleText(end.num_infeasible), illegal, end.num_failed,
        end.num_pending, num_done_, wall.count(), more));
  }
}

}  // namespace astra
