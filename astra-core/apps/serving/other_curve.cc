#include "astra-core/apps/serving/other_curve.h"

#include <cstddef>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {

absl::StatusOr<OtherCurve> ReadOtherCurve(const std::string& folder) {
  const std::filesystem::path path(folder);
  const std::string file = (path / "curve.csv").string();
  ASTRA_ASSIGN_OR_RETURN(const std::string contents, ReadFile(file));
  CsvReader csv(file, contents);
  const size_t concurrency = csv.Column("concurrency");
  const size_t rate = csv.Column("rate_per_s");
  const size_t per_user = csv.Column("output_tokens_per_s_per_user");
  const std::pair<size_t, double OtherPoint::*> numbers[] = {
      {csv.Column("requests_per_s"), &OtherPoint::requests_per_s},
      {csv.Column("output_tokens_per_s_per_gpu"),
       &OtherPoint::output_tokens_per_s_per_gpu},
      {csv.Column("ttft_p50_ms"), &OtherPoint::ttft_p50_ms}};
  ASTRA_RETURN_IF_ERROR(csv.status());
  constexpr double kMost = 1e15;
  OtherCurve curve;
  // A path that ends in a slash has no last part of its own.
  curve.name = path.has_filename() ? path.filename().string()
                                   : path.parent_path().filename().string();
  while (csv.NextRow()) {
    OtherPoint& point = curve.points.emplace_back();
    point.load = csv.cell(concurrency).text.empty()
                     ? csv.cell(rate).text
                     : csv.cell(concurrency).text;
    for (const auto& [column, member] : numbers) {
      point.*member = csv.Number(column, 0, kMost);
    }
    if (!csv.cell(per_user).text.empty()) {
      point.output_tokens_per_s_per_user = csv.Number(per_user, 0, kMost);
    }
    if (!csv.cell(rate).text.empty()) {
      point.requests_per_s = csv.Number(rate, 0, kMost);
    }
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  if (curve.points.empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: no row", file));
  }
  return curve;
}

}  // namespace astra
