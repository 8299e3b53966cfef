// A sweep with its points and results, for tests of the results store.

#ifndef TESTS_ASTRA_CORE_SWEEP_RESULTS_MADE_UP_SWEEP_H_
#define TESTS_ASTRA_CORE_SWEEP_RESULTS_MADE_UP_SWEEP_H_

#include <string>
#include <utility>
#include <vector>

#include "astra-core/sweep/execution/point_record.h"
#include "astra-core/sweep/point_commands.h"
#include "astra-core/sweep/sweep.h"
#include "astra-core/sweep/sweep_points.h"
#include "tests/astra-core/sweep/made_up_programs.h"

namespace astra::testing {

struct MadeUpSweep {
  Sweep sweep;
  SweepPoints points;
  std::vector<PreparedPoint> prepared;
};

// Points of "tp" and "net", with the variable "gpus" that follows; the key of
// tp=1 net=x is "1x". Minimizes "time".
inline MadeUpSweep MakeSweep(const std::vector<std::string>& tps,
                             const std::vector<std::string>& nets) {
  MadeUpSweep made;
  made.sweep.name = "made up";
  made.sweep.sections.push_back({&kMadePrograms[2], {}});
  made.sweep.axes = {{"tp", {"tp"}, {}}, {"net", {"net"}, {}}};
  made.sweep.objectives = {{"time", false}};
  made.points.axis_variables = {"tp", "net"};
  made.points.variables = {"tp", "net", "gpus"};
  for (const std::string& tp : tps) made.sweep.axes[0].steps.push_back({tp});
  for (const std::string& net : nets) made.sweep.axes[1].steps.push_back({net});
  for (const std::string& tp : tps) {
    for (const std::string& net : nets) {
      SweepPoint point;
      point.number = static_cast<uint32_t>(made.prepared.size() + 1);
      point.variables = {{"tp", tp}, {"net", net}, {"gpus", tp + "0"}};
      made.points.points.push_back(point);
      made.prepared.push_back({point, {{&kMadePrograms[2], {}, tp + net}}, {}});
    }
  }
  return made;
}

inline PointRecord FinishedRecord(const std::string& key,
                                  std::vector<Metric> metrics) {
  PointRecord record;
  record.key = key;
  record.finished = true;
  record.version = "0.1.0";
  record.commands = {"run " + key};
  record.metrics = std::move(metrics);
  record.cost = {1.5, 2.5, 64, "node7", "2026-01-31T12:00:00Z", 1};
  return record;
}

inline PointRecord FailedRecord(const std::string& key,
                                const std::string& reason) {
  PointRecord record = FinishedRecord(key, {});
  record.finished = false;
  record.exit_code = 1;
  record.reason = reason;
  return record;
}

}  // namespace astra::testing

#endif  // TESTS_ASTRA_CORE_SWEEP_RESULTS_MADE_UP_SWEEP_H_
