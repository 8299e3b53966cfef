// simai_physical: runs the collectives of a workload as traffic between hosts.

#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "astra-core/apps/job_folders.h"
#include "astra-core/apps/physical/physical_report.h"
#include "astra-core/apps/physical/physical_roles.h"
#include "astra-core/apps/physical/rank_environment.h"
#include "astra-core/apps/physical/run_beside.h"
#include "astra-core/apps/physical/simai_physical_options.h"
#include "astra-core/apps/run_output.h"
#include "astra-core/apps/run_request.h"
#include "astra-core/base/files.h"
#include "astra-core/base/log.h"
#include "astra-core/base/sha256.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/stop_handler.h"
#include "astra-core/command_line/command_line.h"
#include "astra-core/command_line/main_support.h"
#include "astra-core/engine/simulation_setting.h"
#include "astra-core/hosts/socket.h"
#include "fmt/core.h"
#include "topology/routes.h"

namespace astra {
namespace {

constexpr std::string_view kBesideFile = "comparison.csv";

// Returns a hash of all that must be the same for all ranks.
absl::StatusOr<std::string> DigestOf(const SimaiPhysicalOptions& options) {
  std::string text = options.what;
  for (const std::string& file : options.files) {
    ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
    text += Sha256(contents);
  }
  return Sha256(text);
}

// The names of files that may be those of an earlier run.
std::vector<std::string_view> OwnFiles() {
  std::vector<std::string_view> files(std::begin(kResultFiles),
                                      std::end(kResultFiles));
  files.push_back(kBesideFile);
  return files;
}

absl::StatusOr<MeanTimes> ReadSimulated(const std::string& folder) {
  const std::string file = folder + "/collectives.csv";
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  return ParseMeanTimes(file, contents);
}

absl::StatusOr<Beside> BesideOf(const std::string& folder,
                                const MeanTimes& simulated,
                                const std::vector<NamedFile>& files) {
  ASTRA_ASSIGN_OR_RETURN(
      const MeanTimes measured,
      ParseMeanTimes(files.front().name, files.front().contents));
  absl::StatusOr<Beside> beside = SetBeside(measured, simulated);
  if (beside.ok()) return beside;
  return absl::InvalidArgumentError(fmt::format(
      "--compare is {}: {}", folder, std::string(beside.status().message())));
}

absl::Status Coordinate(const PhysicalRun& run, const RunRequest& request,
                        const Warnings& warnings) {
  const SimaiPhysicalOptions& options = run.options;
  MeanTimes simulated;  // Read first, since a run takes long.
  if (options.beside) {
    ASTRA_ASSIGN_OR_RETURN(simulated, ReadSimulated(*options.beside));
  }
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder,
                         OutputFolder::Create(options.run.output));
  ASTRA_ASSIGN_OR_RETURN(const PhysicalReports reports,
                         options.role == PhysicalRole::kLauncher
                             ? Launch(run)
                             : RunFirstRank(run));
  ASTRA_ASSIGN_OR_RETURN(const PhysicalOutcome outcome,
                         OutcomeOf(options, run.setting, reports));
  std::vector<NamedFile> files =
      PhysicalFiles(options, request, warnings, outcome);
  std::optional<Beside> beside;
  absl::Status compared;
  if (options.beside) {
    absl::StatusOr<Beside> both = BesideOf(*options.beside, simulated, files);
    compared = both.status();
    if (both.ok()) {
      beside = *std::move(both);
      files.push_back({std::string(kBesideFile), BesideCsv(*beside)});
    }
  }
  // Measurements that cannot be compared are kept.
  ASTRA_RETURN_IF_ERROR(EmptyJobFolders(options.run.output));
  ASTRA_RETURN_IF_ERROR(folder.Write(files, OwnFiles()));
  Print(DescribePhysical(options, outcome, beside, files));
  ASTRA_RETURN_IF_ERROR(FlushStdout());
  return compared;
}

// Runs a rank that does not coordinate. The launcher says why a run has ended,
// once, so that the ranks that it has started need not.
absl::StatusOr<int> TakePart(const PhysicalRun& run) {
  constexpr int kFailedRun = 1;
  EndSilentlyOnSignals();
  const absl::Status status = RunOtherRank(run);
  if (run.options.is_launched && absl::IsAborted(status)) return kFailedRun;
  if (absl::IsUnavailable(status)) return WithExitCode(status, kFailedRun);
  if (!status.ok()) return status;
  return 0;
}

// Returns the exit code.
absl::StatusOr<int> RunCommand(int argc, const char* const* argv,
                               const Log& log) {
  ASTRA_ASSIGN_OR_RETURN(
      const CommandLine flags,
      CommandLine::Parse(SimaiPhysicalOptionSpecs(), argc, argv));
  if (PrintedInstead(flags, "simai_physical", SimaiPhysicalHelp())) {
    ASTRA_RETURN_IF_ERROR(FlushStdout());
    return 0;
  }
  ASTRA_ASSIGN_OR_RETURN(const SimaiPhysicalOptions options,
                         ReadSimaiPhysicalOptions(flags));
  Warnings warnings;
  ASTRA_ASSIGN_OR_RETURN(RunRequest request,
                         ReadRequest(options.run, &warnings));
  if (options.num_ranks &&
      *options.num_ranks != request.program.sizes().num_ranks) {
    return absl::InvalidArgumentError(fmt::format(
        "{} processes were started, but {} has {} ranks", *options.num_ranks,
        options.run.workload_file, request.program.sizes().num_ranks));
  }
  ASTRA_ASSIGN_OR_RETURN(std::string digest, DigestOf(options));
  request.simulation.lowering = Lowering::kFlowGraph;
  Routes routes(request.topology);
  const NetworkFactory no_network = [] { return nullptr; };
  ASTRA_ASSIGN_OR_RETURN(const SimulationSetting setting,
                         PrepareSimulation(request.program, request.simulation,
                                           routes, no_network));
  const PhysicalRun run{options, request.program, setting, std::move(digest),
                        log};
  RaiseSocketLimit();
  if (options.role == PhysicalRole::kRank) return TakePart(run);
  log.Report(warnings);
  ASTRA_RETURN_IF_ERROR(Coordinate(run, request, warnings));
  return 0;
}

// Returns whether mpirun or srun has started this process, and not as rank 0.
bool IsOtherRank() {
  const auto place = ReadRankEnvironment(FindInEnvironment);
  return place.ok() && *place && (*place)->rank != 0;
}

}  // namespace
}  // namespace astra

int main(int argc, char** argv) {
  const astra::Log log("simai_physical");
  return astra::RunMain(log, [&] {
    // mpirun ends the others once rank 0 has ended with an error, and one line
    // of rank 0 tells more than one of each rank.
    const bool is_other_rank = astra::IsOtherRank();
    if (is_other_rank) astra::EndSilentlyOnSignals();
    const absl::StatusOr<int> code = astra::RunCommand(argc, argv, log);
    if (code.ok()) return *code;
    // Rank 0 has the time to report an error that all ranks have, such as a
    // wrong option. An error that is reported later is one of this rank alone.
    constexpr std::chrono::seconds kPatience(3);
    if (is_other_rank) std::this_thread::sleep_for(kPatience);
    return astra::ExitCode(code.status(), log);
  });
}
