#include "astra-core/apps/plan/internevo_profile.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "astra-core/base/append_format.h"
#include "astra-core/base/files.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/units.h"
#include "astra-core/planner/internevo/evo_profile_maker.h"
#include "collectives/measurements/svg_plot.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

double UnitOf(std::string_view unit) { return unit == "GB/s" ? kGiga : kTera; }

// Warns that the models' times stand for `missing` tables of the user.
void WarnOfMissing(const EvoRequest& request,
                   const std::vector<EvoKey>& missing, Warnings* warnings) {
  if (missing.empty() || !request.profile) return;
  constexpr size_t kNamed = 3;
  std::string names;
  for (size_t i = 0; i < std::min(kNamed, missing.size()); ++i) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", Name(missing[i]));
  }
  warnings->push_back(
      fmt::format("{} lacks {} tables, for which the models' times stand: {}{}",
                  *request.profile, missing.size(), names,
                  missing.size() > kNamed ? ", ..." : ""));
}

// Reads the user's tables. `products` is set where there are any.
absl::Status ReadTables(const std::string& folder, std::string* products_csv,
                        std::optional<EvoCurve>* products,
                        std::map<EvoKey, EvoCurve>* collectives) {
  const std::string products_path = folder + "/products.csv";
  const std::string collectives_path = folder + "/collectives.csv";
  const bool has_products = Exists(products_path);
  const bool has_collectives = Exists(collectives_path);
  if (!has_products && !has_collectives) {
    return absl::NotFoundError(
        fmt::format("--profile {}: no products.csv and no collectives.csv "
                    "there",
                    folder));
  }
  if (has_products) {
    ASTRA_ASSIGN_OR_RETURN(*products_csv, ReadFile(products_path));
    ASTRA_ASSIGN_OR_RETURN(*products,
                           ReadEvoProducts(products_path, *products_csv));
  }
  if (has_collectives) {
    ASTRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(collectives_path));
    ASTRA_ASSIGN_OR_RETURN(*collectives,
                           ReadEvoCollectives(collectives_path, text));
  }
  return absl::OkStatus();
}

EvoCurve CurveOf(const std::vector<EvoProduct>& products) {
  std::vector<EvoPoint> points;
  points.reserve(products.size());
  for (const EvoProduct& product : products) {
    points.push_back({product.complexity(), product.seconds});
  }
  return EvoCurve(std::move(points));
}

// Returns a picture of speed over size: the table, and its linear model.
std::string Picture(const std::string& name, const EvoCurve& curve,
                    std::string_view size, std::string_view unit,
                    bool is_measured) {
  const EvoLine line = FitLine(curve);
  PlotSeries table = {is_measured ? "measured" : "model", {}, {}};
  PlotSeries fit = {"fit: " + DescribeLine(line, unit), {}, {}};
  for (const auto& [x, seconds] : curve.points()) {
    table.dots.push_back({x, x / seconds / UnitOf(unit)});
    fit.line.push_back({x, x / line.Seconds(x) / UnitOf(unit)});
  }
  const PlotPanel panel = {{name},
                           std::string(size),
                           fmt::format("speed ({})", unit),
                           {std::move(table), std::move(fit)}};
  return FormatSvg(name, {&panel, 1});
}

void AppendFit(std::string_view name, const EvoCurve& curve, bool is_measured,
               std::string_view unit, std::string* csv) {
  const EvoLine line = FitLine(curve);
  AppendFormat(csv, "{},{},{},{:.6g},{:.6g},{},{:.4f},{:.4f}\n", name,
               is_measured ? "measured" : "model", curve.points().size(),
               line.start / kMicro, line.rate / UnitOf(unit), unit,
               line.mean_error, line.worst_error);
}

// Returns the pictures in `folder` that are not among `files`.
std::vector<std::string> OtherPictures(const std::string& folder,
                                       const std::vector<NamedFile>& files) {
  std::vector<std::string> others;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_written =
        std::any_of(files.begin(), files.end(),
                    [&](const NamedFile& file) { return file.name == name; });
    if (!is_written && entry.path().extension() == ".svg") {
      others.push_back(name);
    }
  }
  std::sort(others.begin(), others.end());
  return others;
}

absl::Status WriteFiles(const std::string& path,
                        const std::vector<NamedFile>& files) {
  ASTRA_ASSIGN_OR_RETURN(const OutputFolder folder, OutputFolder::Create(path));
  const std::vector<std::string> others = OtherPictures(path, files);
  const std::vector<std::string_view> stale(others.begin(), others.end());
  return folder.Write(files, stale);
}

}  // namespace

absl::StatusOr<PreparedProfile> PrepareProfile(const EvoRequest& request,
                                               absl::Span<const EvoKey> keys,
                                               const ComputeModel& operators,
                                               const EvoNetwork& network,
                                               Warnings* warnings) {
  std::string products_csv;
  std::optional<EvoCurve> products;
  std::map<EvoKey, EvoCurve> collectives;
  if (request.profile) {
    ASTRA_RETURN_IF_ERROR(
        ReadTables(*request.profile, &products_csv, &products, &collectives));
  }
  std::set<EvoKey> measured;
  for (const auto& [key, _] : collectives) measured.insert(key);
  const bool has_products = products.has_value();
  if (!has_products) {
    const std::vector<EvoProduct> made = ModelProducts(operators);
    products_csv = FormatEvoProducts(made);
    products = CurveOf(made);
    if (request.profile) {
      warnings->push_back(fmt::format(
          "{} lacks products.csv, for which the models' times stand",
          *request.profile));
    }
  }
  const EvoCluster cluster = {
      .world = request.world,
      .gpus_per_server = std::min<int64_t>(
          network.routes.topology().gpus_per_server(), request.world)};
  std::vector<EvoKey> missing;
  for (const EvoKey& key : keys) {
    if (collectives.count(key) != 0) continue;
    missing.push_back(key);
    ASTRA_ASSIGN_OR_RETURN(EvoCurve curve,
                           ModelCollective(key, cluster, network.system,
                                           request.run.nccl, network.routes));
    collectives.emplace(key, std::move(curve));
  }
  WarnOfMissing(request, missing, warnings);
  return PreparedProfile{{*std::move(products), std::move(collectives)},
                         std::move(products_csv),
                         has_products,
                         std::move(measured)};
}

absl::Status WriteProfile(const PreparedProfile& prepared,
                          const std::string& folder) {
  const EvoProfile& profile = prepared.profile;
  std::string fits =
      "table,source,points,start_us,rate,unit,mean_error,worst_error\n";
  AppendFit("linear", profile.products, prepared.has_measured_products,
            "TFLOP/s", &fits);
  std::vector<NamedFile> pictures;
  for (const auto& [key, curve] : profile.collectives) {
    const bool is_measured = prepared.measured.count(key) != 0;
    AppendFit(Name(key), curve, is_measured, "GB/s", &fits);
    pictures.push_back(
        {Name(key) + ".svg",
         Picture(Name(key), curve, "buffer (bytes)", "GB/s", is_measured)});
  }
  ASTRA_RETURN_IF_ERROR(WriteFiles(
      folder, {{"products.csv", prepared.products_csv},
               {"collectives.csv", FormatEvoCollectives(profile.collectives)},
               {"fits.csv", fits}}));
  ASTRA_RETURN_IF_ERROR(WriteFiles(
      folder + "/pics/cal",
      {{"linear.svg", Picture("linear", profile.products, "complexity (FLOP)",
                              "TFLOP/s", prepared.has_measured_products)}}));
  return WriteFiles(folder + "/pics/comm", pictures);
}

std::string DescribeLine(const EvoLine& line, std::string_view unit) {
  return fmt::format(
      "{:.1f} us + size / {:.1f} {}, errors {:.0f} % mean, "
      "{:.0f} % worst",
      line.start / kMicro, line.rate / UnitOf(unit), unit,
      kPercent * line.mean_error, kPercent * line.worst_error);
}

}  // namespace astra
