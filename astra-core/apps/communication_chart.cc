#include "astra-core/apps/communication_chart.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "astra-core/pages/html.h"
#include "astra-core/pages/page.h"
#include "astra-core/pages/pie_chart.h"
#include "fmt/core.h"

namespace astra {
namespace {

struct Traffic {
  int64_t count = 0;
  double bytes = 0;
};
using TrafficByName = std::map<std::string, Traffic>;

// Adds the collectives of a module that runs `times` times in each of
// `micro_batches`. Some steps run in only the first or the last micro-batch.
void AddModule(const ProgramModule& module, int64_t times,
               int64_t micro_batches, TrafficByName& traffic) {
  for (const std::vector<Step>& steps : module.passes) {
    for (const Step& step : steps) {
      const auto& [kind, dimension, bytes] = step.communication;
      if (step.kind == StepKind::kCompute || step.kind == StepKind::kWait) {
        continue;
      }
      const int64_t count =
          times * (step.when == StepWhen::kEach ? micro_batches : 1);
      Traffic& sum = traffic[fmt::format("{} {}", Name(dimension), Name(kind))];
      sum.count += count;
      sum.bytes +=
          static_cast<double>(count) * static_cast<double>(bytes.count());
    }
  }
}

}  // namespace

std::string CommunicationChart(std::string_view name, const Program& program) {
  const int64_t micro_batches = program.shape().micro_batches;
  const ProgramStage& stage = program.stages().front();
  TrafficByName traffic;
  for (const ModuleRun& run : stage.runs) {
    for (const ModuleId id : run.modules) {
      AddModule(program.module(id), run.times, micro_batches, traffic);
    }
  }
  for (const ModuleId id : stage.after) {
    AddModule(program.module(id), 1, 1, traffic);
  }
  if (program.sizes().pipeline > 1) {
    const int64_t messages = (program.forward_only() ? 1 : 2) * micro_batches;
    traffic["PP messages"] = {
        messages, static_cast<double>(messages) *
                      static_cast<double>(program.pipeline_message().count())};
  }
  PieChart chart = {{}, {"times", "MB"}};
  constexpr double kMega = 1e-6;
  for (const auto& [what, sum] : traffic) {
    chart.slices.push_back({what,
                            sum.bytes,
                            {fmt::format("{}", sum.count),
                             fmt::format("{:.3f}", sum.bytes * kMega)}});
  }
  constexpr std::string_view kCaption =
      "What a rank of the first pipeline stage communicates in an iteration";
  Page page(name);
  return page.Html(HtmlNote(kCaption), page.Add(Draw(chart, kCaption)));
}

}  // namespace astra
