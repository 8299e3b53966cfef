#include "astra-core/apps/collective/calibration_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "astra-core/apps/collective/physical_measurements.h"
#include "astra-core/apps/collective/simai_collective_cluster.h"
#include "astra-core/apps/collective/simai_collective_log.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "collectives/calibration/measured_setup.h"
#include "collectives/measurements/measured_file.h"
#include "collectives/measurements/measured_table.h"
#include "collectives/nccl/system_topology.h"
#include "collectives/nccl_algorithm.h"
#include "collectives/systems/system_library.h"
#include "fmt/core.h"

namespace astra {
namespace {

// Checks that no option is given that only a log of nccl-tests needs. `why`
// tells the user what says it instead.
absl::Status RefuseOptionsOfLogs(const SimaiCollectiveOptions& options,
                                 bool takes_nccl, std::string_view why) {
  const struct {
    std::string_view name;
    bool is_refused;
  } refusals[] = {
      {"op", options.kind.has_value()},
      {"servers", options.cluster.num_servers.has_value()},
      {"gpus-per-server", options.cluster.gpus_per_server.has_value()},
      {"gpus", options.cluster.num_gpus.has_value()},
      {"launch", options.nccl.launch.has_value()},
      {"in-place", options.in_place},
      {"nccl", !takes_nccl && options.nccl.list.has_value()},
      {"nccl-file", !takes_nccl && options.nccl.file.has_value()},
      {"symmetric", !takes_nccl && options.nccl.symmetric}};
  for (const auto& [name, is_refused] : refusals) {
    if (!is_refused) continue;
    return absl::InvalidArgumentError(fmt::format(
        "--{} has no effect: {}: {}", name, options.measurements, why));
  }
  return absl::OkStatus();
}

// Checks that any of the `num_all` rows of the measurements can be used, and
// warns of those that are left out. `rows` is how the source calls them; `none`
// and `rest` end the sentences about none of them and about the rest.
absl::Status TellOfRowsLeftOut(const SimaiCollectiveOptions& options,
                               size_t num_used, size_t num_all,
                               std::string_view rows, std::string_view none,
                               std::string_view rest, CalibrationInput& input) {
  if (num_used == 0) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: none of its {} {} {}", options.measurements, num_all, rows, none));
  }
  if (num_used < num_all) {
    input.warnings.push_back(
        fmt::format("{}: {} of {} {} are left out{}", options.measurements,
                    num_all - num_used, num_all, rows, rest));
  }
  return absl::OkStatus();
}

absl::StatusOr<CalibrationInput> ReadLog(
    const SimaiCollectiveOptions& options) {
  ASTRA_ASSIGN_OR_RETURN(const LoggedRun run, ReadLoggedRun(options));
  CalibrationInput input;
  input.system = run.cluster.system();
  for (const MeasuredRow& row : run.table.rows) {
    if (!row.problem.empty()) continue;
    input.observations.push_back(
        {.kind = row.collective,
         .num_gpus = run.cluster.topology().num_gpus(),
         .gpus_per_server = run.cluster.topology().gpus_per_server(),
         .options = run.nccl,
         .bytes = row.size,
         .time_us = row.time_us});
  }
  return input;
}

absl::StatusOr<CalibrationInput> ReadTable(
    const SimaiCollectiveOptions& options) {
  ASTRA_RETURN_IF_ERROR(RefuseOptionsOfLogs(
      options, false, "the rows of a table say what they ran on"));
  CalibrationInput input;
  ASTRA_ASSIGN_OR_RETURN(input.system, LoadSystem(options.cluster.system));
  ASTRA_ASSIGN_OR_RETURN(const MeasuredTable table,
                         ReadMeasuredTable(options.measurements));
  for (const MeasuredRow& row : table.rows) {
    const absl::StatusOr<MeasuredSetup> setup = SetupOf(row);
    if (!setup.ok() || row.grade == 'X' || setup->options.engine ||
        !IsOnLinksOf(input.system, *setup) || !CheckTime(row, *setup).ok()) {
      continue;
    }
    input.observations.push_back({.kind = row.collective,
                                  .num_gpus = setup->num_gpus,
                                  .gpus_per_server = setup->gpus_per_server,
                                  .options = setup->options,
                                  .bytes = row.size,
                                  .time_us = row.time_us});
  }
  const std::string links =
      fmt::format("measured on the links of {}", input.system.name);
  ASTRA_RETURN_IF_ERROR(TellOfRowsLeftOut(
      options, input.observations.size(), table.rows.size(), "rows",
      "was " + links, ", which cannot be used or were not " + links, input));
  return input;
}

// Returns how many of `num_gpus` GPUs on `num_nodes` hosts reach one another
// without the network of `system`.
uint32_t GpusPerServer(const SystemSpec& system, uint32_t num_gpus,
                       uint32_t num_nodes) {
  return IsRack(system.gpus_per_server)
             ? GpusOfDomain(num_gpus, system.gpus_per_server)
             : num_gpus / num_nodes;
}

absl::StatusOr<CalibrationInput> ReadInspector(
    const SimaiCollectiveOptions& options, std::string_view contents) {
  ASTRA_RETURN_IF_ERROR(
      RefuseOptionsOfLogs(options, true, "lines of NCCL's inspector say it"));
  NcclOptions queued;
  queued.launch = Launch::kQueued;
  ASTRA_ASSIGN_OR_RETURN(const NcclOptions nccl,
                         ApplyNcclSettings(options.nccl, queued));
  CalibrationInput input;
  ASTRA_ASSIGN_OR_RETURN(input.system, LoadSystem(options.cluster.system));
  ASTRA_ASSIGN_OR_RETURN(const MeasuredFile file,
                         ParseMeasuredFile(options.measurements, contents));
  std::vector<Observation> calls;
  std::map<std::string, size_t> positions;  // In `calls`, by name.
  size_t num_used = 0;
  for (size_t i = 0; i < file.rows.size(); ++i) {
    const MeasuredRow& row = file.rows[i];
    if (!row.problem.empty() || row.num_gpus < 2) continue;
    ++num_used;
    const auto [place, is_new] =
        positions.try_emplace(file.calls[i], calls.size());
    if (is_new) {
      calls.push_back({.kind = row.collective,
                       .num_gpus = row.num_gpus,
                       .gpus_per_server = GpusPerServer(
                           input.system, row.num_gpus, row.num_nodes),
                       .options = nccl,
                       .bytes = row.size,
                       .time_us = row.time_us});
    }
    double& time_us = calls[place->second].time_us;
    time_us = std::min(time_us, row.time_us);
  }
  ASTRA_RETURN_IF_ERROR(TellOfRowsLeftOut(options, num_used, file.rows.size(),
                                          "records", "can be used",
                                          ", which cannot be used", input));
  input.observations = MediansOf(calls);
  return input;
}

// Returns the choices of NCCL that send the messages of `collective`, or none
// if NCCL has no such algorithm.
std::optional<NcclChoices> ChoicesOf(const PhysicalCollective& collective) {
  NcclChoices choices;
  if (collective.algorithm == "P2P" || collective.algorithm == "direct") {
    const bool is_direct = IsAllToAll(collective.kind) ||
                           collective.kind == CollectiveKind::kSendRecv;
    return is_direct ? std::make_optional(choices) : std::nullopt;
  }
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    if (collective.algorithm != Name(algorithm) &&
        collective.algorithm != RegistryName(algorithm)) {
      continue;
    }
    choices.algorithms = 1U << IndexOf(algorithm);
    choices.protocols = 1U << IndexOf(NcclProtocol::kSimple);
    for (const NcclProtocol protocol : kNcclProtocols) {
      if (collective.protocol != Name(protocol)) continue;
      choices.protocols = 1U << IndexOf(protocol);
    }
    return choices;
  }
  return std::nullopt;
}

// Returns the collective as an observation, or none if it cannot be used.
std::optional<Observation> ObservationOf(const PhysicalMeasurements& run,
                                         const PhysicalCollective& collective) {
  if (collective.num_ranks != run.num_ranks || collective.bytes == Bytes(0) ||
      collective.time_us == 0) {
    return std::nullopt;
  }
  const std::optional<NcclChoices> choices = ChoicesOf(collective);
  if (!choices) return std::nullopt;
  NcclOptions options;
  options.launch = Launch::kQueued;
  options.choices[collective.kind] = *choices;
  return Observation{.kind = collective.kind,
                     .num_gpus = run.num_ranks,
                     .gpus_per_server = run.ranks_per_server,
                     .options = options,
                     .bytes = collective.bytes,
                     .time_us = collective.time_us};
}

absl::StatusOr<CalibrationInput> ReadPhysical(
    const SimaiCollectiveOptions& options) {
  ASTRA_RETURN_IF_ERROR(RefuseOptionsOfLogs(
      options, false, "a folder of simai_physical says what ran"));
  CalibrationInput input;
  ASTRA_ASSIGN_OR_RETURN(input.system, LoadSystem(options.cluster.system));
  ASTRA_ASSIGN_OR_RETURN(const PhysicalMeasurements run,
                         ReadPhysicalMeasurements(options.measurements));
  if (run.ranks_per_server == run.num_ranks) {
    return absl::InvalidArgumentError(fmt::format(
        "{}: its topology has all {} GPUs on one server: expected several, "
        "since what is fitted is the network between them",
        options.measurements, run.num_ranks));
  }
  std::vector<Observation> all;
  for (const PhysicalCollective& collective : run.collectives) {
    const std::optional<Observation> one = ObservationOf(run, collective);
    if (one) all.push_back(*one);
  }
  const std::string rule = fmt::format(
      ": those of all {} ranks count, by NCCL's algorithms or straight from "
      "rank to rank",
      run.num_ranks);
  ASTRA_RETURN_IF_ERROR(TellOfRowsLeftOut(options, all.size(),
                                          run.collectives.size(), "collectives",
                                          "can be used" + rule, rule, input));
  input.observations = MediansOf(all);
  return input;
}

}  // namespace

absl::StatusOr<CalibrationInput> ReadCalibrationSource(
    const SimaiCollectiveOptions& options) {
  if (IsFolder(options.measurements)) {
    return ReadPhysical(options);
  }
  ASTRA_ASSIGN_OR_RETURN(const std::string contents,
                         ReadFile(options.measurements));
  switch (MeasuredFormOf(options.measurements, contents)) {
    case MeasuredForm::kInspector:
      return ReadInspector(options, contents);
    case MeasuredForm::kTable:
      return ReadTable(options);
    case MeasuredForm::kNcclTests:
      break;
  }
  return ReadLog(options);
}

}  // namespace astra
