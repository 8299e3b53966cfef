#include "workload/generator/vidur_workload.h"

#include <iterator>
#include <string_view>

#include "absl/status/status.h"
#include "astra-core/base/append_format.h"

namespace astra {
namespace {

// Returns the part that a module belongs to; empty if it belongs to none.
std::string_view PartOf(std::string_view module) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"attention_", "attention"},
      {"mlp_", "mlp"},
      {"moe_", "moe"},
      {"shared_", "moe"},
  };
  for (const auto& [prefix, part] : kParts) {
    if (module.rfind(prefix, 0) == 0) return part;
  }
  return {};
}

// One line of the file. Successive modules of one part share it.
struct Line {
  int64_t layer = -1;
  std::string_view part;
  TimePs compute = {};
  Bytes communicated = {};
};

void Write(const Line& line, std::string& text) {
  if (line.part.empty()) return;
  AppendFormat(&text, "{}\t{}\t{}\t{}\n", line.layer, line.part,
               (line.compute.count() + 500) / 1000, line.communicated.count());
}

}  // namespace

absl::StatusOr<std::string> FormatVidurWorkload(const Blueprint& blueprint,
                                                const ModuleTimes& times) {
  if (!blueprint.forward_only) {
    return absl::InvalidArgumentError(
        "Vidur's format is for inference: give --phase prefill or decode");
  }
  std::string text = "layer_id\tlayer_name\tcomp_time\tcomm_size\n";
  Line line;
  const auto add = [&](const MockModule& module) {
    const std::string_view part = PartOf(module.name);
    if (part != line.part) {
      Write(line, text);
      line = {.layer = line.layer + (part == "attention" ? 1 : 0),
              .part = part};
    }
    line.compute += times.Total(module, ModulePass::kForward);
    for (const ModuleStep& step : module.pass(ModulePass::kForward)) {
      if (step.kind == StepKind::kCompute) continue;
      line.communicated += step.communication.bytes;
    }
  };
  for (const ProgramStage& stage : blueprint.stages) {
    for (int64_t i = 0; i < stage.count; ++i) {
      for (const ModuleRun& run : stage.runs) {
        for (int64_t time = 0; time < run.times; ++time) {
          for (const ModuleId id : run.modules) {
            add(blueprint.modules[id.index()]);
          }
        }
      }
    }
  }
  Write(line, text);
  return text;
}

}  // namespace astra
