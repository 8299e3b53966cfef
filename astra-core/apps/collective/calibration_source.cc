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
  const size_t num_rows = table.rows.size();
  const size_t num_left_out = num_rows - input.observations.size();
  if (input.observations.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: none of its {} rows was measured on the links of {}",
                    options.measurements, num_rows, input.system.name));
  }
  if (num_left_out > 0) {
    input.warnings.push_back(fmt::format(
        "{}: {} of {} rows are left out, which cannot be used or were not "
        "measured on the links of {}",
        options.measurements, num_left_out, num_rows, input.system.name));
  }
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
  size_t num_left_out = 0;
  for (size_t i = 0; i < file.rows.size(); ++i) {
    const MeasuredRow& row = file.rows[i];
    if (!row.problem.empty() || row.num_gpus < 2) {
      ++num_left_out;
      continue;
    }
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
  if (calls.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: none of its {} records can be used",
                    options.measurements, file.rows.size()));
  }
  if (num_left_out > 0) {
    input.warnings.push_back(
        fmt::format("{}: {} of {} records are left out, which cannot be used",
                    options.measurements, num_left_out, file.rows.size()));
  }
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
  const size_t num_rows = run.collectives.size();
  const std::string rule = fmt::format(
      "those of all {} ranks count, by NCCL's algorithms or straight from rank "
      "to rank",
      run.num_ranks);
  if (all.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: none of its {} collectives can be used: {}",
                    options.measurements, num_rows, rule));
  }
  if (all.size() < num_rows) {
    input.warnings.push_back(fmt::format(
        "{}: {} of {} collectives are left out: {}", options.measurements,
        num_rows - all.size(), num_rows, rule));
  }
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
