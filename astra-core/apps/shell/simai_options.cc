#include "astra-core/apps/shell/simai_options.h"

#include <vector>

#include "astra-core/base/append_format.h"
#include "astra-core/base/names.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kUsage =
    "usage: simai COMMAND [options]\n"
    "       simai help COMMAND\n"
    "\n"
    "Predicts how long large models take on GPU clusters, and why. Each "
    "command\n"
    "runs a program of the same folder, which can also be called by its own "
    "name.\n"
    "\n"
    "Commands:\n";

constexpr SimaiCommand kCommands[] = {
    {"topo", "gen_topo", "write the topology file of a GPU cluster"},
    {"workload", "gen_workload", "write what a model computes and sends"},
    {"analyze", "simai_analytical", "time an iteration by formulas"},
    {"simulate", "simai_simulator", "time an iteration message by message"},
    {"collective", "simai_collective", "time collectives as nccl-tests does"},
    {"fit", "simai_fit", "compare and fit times of operators"},
    {"plan", "simai_planner", "rank the layouts of a training job"},
    {"serve", "simai_serving", "serve requests with replicas of a model"},
    {"compare", "simai_compare", "set finished runs side by side"},
    {"goodput", "simai_goodput", "what failures leave of a month"},
    {"trace", "simai_trace", "write and convert execution traces"},
    {"physical", "simai_physical", "run collectives between real hosts"},
    {"sweep", "simai_sweep", "run many cases and compare them"},
    {"vidur", "simai_vidur", "serve requests with Vidur's flags and tables"},
};

constexpr CommandExample kExamples[] = {
    {"simai topo -topo Spectrum-X -g 16 -gt H100 -o h100_16.txt",
     "Two servers of eight H100 GPUs:"},
    {"simai workload -m llama3-8b --gpu H100 --gpus 16 --tp 8 \\\n"
     "  --seq-length 8192 --global-batch 64 --format program -o llama3.yaml",
     "A training iteration of Llama 3 8B on 16 GPUs:"},
    {"simai analyze -w llama3.yaml -n h100_16.txt",
     "How long this iteration takes on these servers, and why:"},
};

}  // namespace

absl::Span<const SimaiCommand> SimaiCommands() { return kCommands; }

std::string SimaiHelp() {
  std::string usage(kUsage);
  for (const SimaiCommand& command : kCommands) {
    AppendFormat(&usage, "  {:<12} {} ({})\n", command.name, command.help,
                 command.program);
  }
  usage += "\nsimai COMMAND --help lists the options of a command.\n";
  return HelpText(usage, {}) + ExamplesText(kExamples);
}

absl::Span<const CommandExample> SimaiExamples() { return kExamples; }

absl::StatusOr<SimaiCommand> FindSimaiCommand(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SimaiCommand& command : kCommands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  names.push_back("help");
  return absl::InvalidArgumentError(UnknownName("command", name, names));
}

}  // namespace astra
