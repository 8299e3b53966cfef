#include "astra-core/apps/simai_simulator_run.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra-core/apps/run_watch.h"
#include "astra-core/apps/simulator_tables.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

// collectives.csv while the run goes. It is complete after each collective, and
// begins with the first.
class GrowingFile {
 public:
  GrowingFile(std::string path, std::vector<std::string> layer_names)
      : path_(std::move(path)), layer_names_(std::move(layer_names)) {}
  ~GrowingFile() {
    if (std::uncaught_exceptions() > 0) Remove();  // Memory has run out.
    if (file_ != nullptr) std::fclose(file_);
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // What cannot be written is left out: the whole file is written at the end.
  void Add(const CollectiveRecord& record) {
    if (file_ == nullptr) {
      file_ = std::fopen(path_.c_str(), "wb");
      if (file_ == nullptr) return;
      Put(SimulatedCollectivesHeader());
    }
    Put(SimulatedCollectiveRow(record, layer_names_[record.layer.index()]));
    std::fflush(file_);
  }

  void Remove() {
    if (file_ != nullptr) std::remove(path_.c_str());
  }

 private:
  void Put(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), file_);
  }

  std::string path_;
  std::vector<std::string> layer_names_;
  std::FILE* file_ = nullptr;
};

bool IsUnfinished(const absl::Status& status) {
  return status.code() == absl::StatusCode::kAborted ||
         status.code() == absl::StatusCode::kInternal;
}

}  // namespace

absl::StatusOr<SimulatorRun> RunSimulator(const SimaiSimulatorOptions& options,
                                          const SimaiSimulatorInputs& inputs) {
  Routes routes(inputs.topology);
  GrowingFile collectives(fmt::format("{}/collectives.csv", options.output),
                          LayerNames(inputs.program));
  RunWatch watch(options.environment.log_level == LogLevel::kInfo);
  SimulatorRun run;
  bool has_network = false;
  SimulationOptions simulation = inputs.simulation;
  simulation.on_progress = [&](double fraction, TimePs simulated) {
    return watch.Update(fraction, simulated);
  };
  simulation.on_collective = [&](const CollectiveRecord& record) {
    collectives.Add(record);
  };
  simulation.on_network_end = [&](NetworkBackend& network) {
    if (has_network && network.now() <= run.network_time) return;
    has_network = true;
    run.network_time = network.now();
    run.network = network.statistics();
  };
  const NetworkFactory new_network = [&] {
    return options.backend->make(inputs.network, routes);
  };
  SimulationResult partial;
  absl::StatusOr<SimulationResult> result =
      Simulate(inputs.program, simulation, routes, new_network, &partial);
  if (!result.ok() && !IsUnfinished(result.status())) {
    collectives.Remove();
    if (result.status().code() != absl::StatusCode::kFailedPrecondition) {
      return result.status();
    }
    return absl::FailedPreconditionError(
        fmt::format("{}: {}", options.topology_file,
                    std::string(result.status().message())));
  }
  run.status = result.status();
  run.result = result.ok() ? *std::move(result) : std::move(partial);
  if (run.status.ok()) {
    ASTRA_ASSIGN_OR_RETURN(
        run.explanation,
        Explain(inputs.program, inputs.simulation, routes, run.result));
  }
  return run;
}

}  // namespace astra
