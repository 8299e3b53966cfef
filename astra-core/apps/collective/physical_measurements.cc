#include "astra-core/apps/collective/physical_measurements.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <utility>

#include "astra-core/base/csv_reader.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/yaml_reader.h"
#include "collectives/measurements/measured_table.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr std::string_view kProgram = "simai_physical";

// Sets what run.json tells of the run.
absl::Status ReadRanks(const NamedFile& file, PhysicalMeasurements& run) {
  YamlDocument document(file.name, file.contents);
  YamlFields root = document.Root("a run");
  const std::string program = root.Text("program");
  if (program != kProgram) {
    root.Error("program", fmt::format("a run of {}: expected one of {}",
                                      Quoted(program), kProgram));
  }
  YamlFields topology = root.Map("topology", "the topology");
  const int64_t gpus = topology.Integer("gpus", 1, kMaxMeasuredGpus);
  const int64_t per_server =
      topology.Integer("gpus_per_server", 1, kMaxMeasuredGpus);
  run.num_ranks = static_cast<uint32_t>(gpus);
  run.ranks_per_server = static_cast<uint32_t>(std::min(gpus, per_server));
  return document.status();
}

// Returns the kind that a cell names; all-reduce after an error.
CollectiveKind ReadKind(size_t column, CsvReader& csv) {
  const CsvCell& cell = csv.cell(column);
  std::vector<std::string_view> names;
  for (const CollectiveKind kind : kCollectiveKinds) {
    if (cell.text == Name(kind)) return kind;
    names.push_back(Name(kind));
  }
  csv.Fail(cell, UnknownName("collective", cell.text, names));
  return CollectiveKind::kAllReduce;
}

absl::Status ReadCollectives(const NamedFile& file, PhysicalMeasurements& run) {
  CsvReader csv(file.name, file.contents);
  const size_t kind = csv.Column("collective");
  const size_t ranks = csv.Column("ranks");
  const size_t algorithm = csv.Column("algorithm");
  const size_t protocol = csv.Column("protocol");
  const size_t bytes = csv.Column("bytes");
  const size_t time = csv.Column("time_us");
  while (csv.status().ok() && csv.NextRow()) {
    run.collectives.push_back(
        {.kind = ReadKind(kind, csv),
         .algorithm = csv.cell(algorithm).text,
         .protocol = csv.cell(protocol).text,
         .num_ranks =
             static_cast<uint32_t>(csv.Integer(ranks, 1, run.num_ranks)),
         .bytes = Bytes(csv.Integer(bytes, 0, kMaxMeasuredBytes)),
         .time_us = csv.Number(time, 0, kMaxMeasuredUs)});
  }
  return csv.status();
}

}  // namespace

absl::StatusOr<PhysicalMeasurements> ParsePhysicalMeasurements(
    const NamedFile& run_json, const NamedFile& collectives_csv) {
  PhysicalMeasurements run;
  ASTRA_RETURN_IF_ERROR(ReadRanks(run_json, run));
  ASTRA_RETURN_IF_ERROR(ReadCollectives(collectives_csv, run));
  return run;
}

absl::StatusOr<PhysicalMeasurements> ReadPhysicalMeasurements(
    const std::string& folder) {
  const std::filesystem::path path(folder);
  NamedFile run_json = {(path / "run.json").string(), ""};
  NamedFile collectives = {(path / "collectives.csv").string(), ""};
  for (NamedFile* file : {&run_json, &collectives}) {
    ASTRA_ASSIGN_OR_RETURN(file->contents, ReadFile(file->name));
  }
  return ParsePhysicalMeasurements(run_json, collectives);
}

}  // namespace astra
