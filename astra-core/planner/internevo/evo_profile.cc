#include "astra-core/planner/internevo/evo_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "astra-core/base/append_format.h"
#include "astra-core/base/check.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/names.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/planner/internevo/evo_layout.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kKib = 1024;
constexpr int64_t kMib = kKib * kKib;
constexpr double kMicro = 1e-6;
constexpr double kLeastUs = 1e-3;
constexpr double kMostUs = 1e12;

// Sorts points by size; those of one size become their mean.
std::vector<EvoPoint> Merged(std::vector<EvoPoint> points) {
  std::stable_sort(
      points.begin(), points.end(),
      [](const EvoPoint& a, const EvoPoint& b) { return a.size < b.size; });
  std::vector<EvoPoint> merged;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = begin;
    double sum = 0;
    while (end < points.size() && points[end].size == points[begin].size) {
      sum += points[end++].seconds;
    }
    merged.push_back(
        {points[begin].size, sum / static_cast<double>(end - begin)});
    begin = end;
  }
  return merged;
}

// Weighted sums of a line's least squares. The weight 1 / time^2 makes errors
// relative.
struct Sums {
  double one = 0;
  double size = 0;
  double square = 0;
  double time = 0;
  double product = 0;
};
Sums SumsOf(const std::vector<EvoPoint>& points) {
  Sums sums;
  for (const auto& [size, seconds] : points) {
    const double weight = 1 / (seconds * seconds);
    sums.one += weight;
    sums.size += weight * size;
    sums.square += weight * size * size;
    sums.time += weight * seconds;
    sums.product += weight * size * seconds;
  }
  return sums;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): see the header.
const std::vector<int64_t> kEvoBytes = {
    kKib,      512 * kKib, kMib,       4 * kMib,   32 * kMib,
    64 * kMib, 128 * kMib, 256 * kMib, 512 * kMib, 1024 * kMib};
const std::vector<int64_t> kEvoRows = {512,  1024,  2048, 4096,
                                       8192, 16384, 32768};
const std::vector<int64_t> kEvoHidden = {512,  1024, 2048,  4096,  5120, 6144,
                                         8192, 9216, 10240, 11264, 12288};
// NOLINTEND(readability-identifier-naming)

std::optional<EvoGroup> GroupOnServers(int64_t size, int64_t stride,
                                       int64_t gpus_per_server) {
  if (size == 1) return EvoGroup{};
  if (stride >= gpus_per_server) {
    if (stride % gpus_per_server != 0) return std::nullopt;
    return EvoGroup{1, size};
  }
  if (gpus_per_server % stride != 0) return std::nullopt;
  const int64_t on_server = gpus_per_server / stride;
  if (size <= on_server) {
    if (on_server % size != 0) return std::nullopt;
    return EvoGroup{size, 1};
  }
  if (size % on_server != 0) return std::nullopt;
  return EvoGroup{on_server, size / on_server};
}

std::string Name(const EvoKey& key) {
  return fmt::format("{}_intra_{}_inter_{}", Name(key.op), key.group.intra,
                     key.group.inter);
}

EvoCurve::EvoCurve(std::vector<EvoPoint> points)
    : points_(Merged(std::move(points))) {
  ASTRA_CHECK(!points_.empty(), "a table without points");
}

double EvoCurve::Seconds(double size) const {
  const auto above =
      std::upper_bound(points_.begin(), points_.end(), size,
                       [](double s, const EvoPoint& p) { return s < p.size; });
  if (above == points_.begin()) return above->seconds;
  const EvoPoint& low = *(above - 1);
  if (above == points_.end()) return low.seconds * (size / low.size);
  const double share = (size - low.size) / (above->size - low.size);
  return low.seconds + share * (above->seconds - low.seconds);
}

double EvoProfile::Seconds(EvoOp op, const EvoGroup& group,
                           double bytes) const {
  if (group.size() == 1 || bytes <= 0) return 0;
  const auto found = collectives.find({op, group});
  ASTRA_CHECK(found != collectives.end(), "no {}", Name(EvoKey{op, group}));
  return found->second.Seconds(bytes);
}

EvoLine FitLine(const EvoCurve& curve) {
  const std::vector<EvoPoint>& points = curve.points();
  const Sums sums = SumsOf(points);
  const double determinant = sums.one * sums.square - sums.size * sums.size;
  double start = 0;
  double slope = sums.product / sums.square;  // Of a line through 0.
  if (points.size() > 1 && determinant > 0) {
    const double free_slope =
        (sums.one * sums.product - sums.size * sums.time) / determinant;
    const double free_start =
        (sums.square * sums.time - sums.size * sums.product) / determinant;
    if (free_slope > 0 && free_start >= 0) {
      start = free_start;
      slope = free_slope;
    }
  }
  EvoLine line = {.start = start, .rate = 1 / slope};
  for (const auto& [size, seconds] : points) {
    const double error = std::abs(line.Seconds(size) / seconds - 1);
    line.mean_error += error / static_cast<double>(points.size());
    line.worst_error = std::max(line.worst_error, error);
  }
  return line;
}

absl::StatusOr<EvoCurve> ReadEvoProducts(std::string_view file,
                                         std::string_view contents) {
  CsvReader csv(file, contents);
  constexpr std::string_view kColumns[] = {"rows", "hidden", "complexity",
                                           "time_us"};
  csv.RefuseOthers(kColumns);
  const std::optional<size_t> rows = csv.Find("rows");
  const std::optional<size_t> hidden = csv.Find("hidden");
  const size_t complexity = csv.Column("complexity");
  const size_t time = csv.Column("time_us");
  constexpr double kMostFlops = 1e24;
  constexpr int64_t kMostSize = int64_t{1} << 30;
  std::vector<EvoPoint> points;
  while (csv.NextRow()) {
    const double flops = csv.Number(complexity, 1, kMostFlops);
    points.push_back({flops, kMicro * csv.Number(time, kLeastUs, kMostUs)});
    if (!rows || !hidden) continue;
    const EvoProduct product = {.rows = csv.Integer(*rows, 1, kMostSize),
                                .hidden = csv.Integer(*hidden, 1, kMostSize)};
    if (product.complexity() == flops) continue;
    csv.Fail(
        csv.cell(complexity),
        fmt::format("complexity is {}: expected 2 x rows x hidden x hidden"
                    " = {:.0f}",
                    Quoted(csv.cell(complexity).text), product.complexity()));
  }
  if (points.empty()) {
    csv.Fail({.text = "", .line = 1, .column = 1},
             "no row: expected a product");
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return EvoCurve(std::move(points));
}

absl::StatusOr<std::map<EvoKey, EvoCurve>> ReadEvoCollectives(
    std::string_view file, std::string_view contents) {
  CsvReader csv(file, contents);
  constexpr std::string_view kColumns[] = {"op", "intra", "inter", "bytes",
                                           "time_us"};
  csv.RefuseOthers(kColumns);
  const size_t op = csv.Column("op");
  const size_t intra = csv.Column("intra");
  const size_t inter = csv.Column("inter");
  const size_t bytes = csv.Column("bytes");
  const size_t time = csv.Column("time_us");
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  std::map<EvoKey, std::vector<EvoPoint>> points;
  while (csv.NextRow()) {
    const std::string& name = csv.cell(op).text;
    const auto found =
        std::find(std::begin(kEvoOpNames), std::end(kEvoOpNames), name);
    if (found == std::end(kEvoOpNames)) {
      csv.Fail(csv.cell(op), UnknownName("op", name, kEvoOpNames));
      break;
    }
    const EvoGroup group = {csv.Integer(intra, 1, kMostEvoRanks),
                            csv.Integer(inter, 1, kMostEvoRanks)};
    const double size = static_cast<double>(csv.Integer(bytes, 1, kMostBytes));
    const double us = csv.Number(time, kLeastUs, kMostUs);
    if (group.size() == 1) {
      csv.Fail(csv.cell(intra), "a group of one rank: expected two or more");
    }
    points[{static_cast<EvoOp>(found - std::begin(kEvoOpNames)), group}]
        .push_back({size, kMicro * us});
  }
  if (points.empty()) {
    csv.Fail({.text = "", .line = 1, .column = 1},
             "no row: expected a collective");
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  std::map<EvoKey, EvoCurve> curves;
  for (auto& [key, list] : points) {
    curves.emplace(key, EvoCurve(std::move(list)));
  }
  return curves;
}

std::string FormatEvoProducts(absl::Span<const EvoProduct> products) {
  std::string text = "rows,hidden,complexity,time_us\n";
  for (const EvoProduct& product : products) {
    AppendFormat(&text, "{},{},{:.0f},{:.9g}\n", product.rows, product.hidden,
                 product.complexity(), product.seconds / kMicro);
  }
  return text;
}

std::string FormatEvoCollectives(
    const std::map<EvoKey, EvoCurve>& collectives) {
  std::string text = "op,intra,inter,bytes,time_us\n";
  for (const auto& [key, curve] : collectives) {
    for (const auto& [size, seconds] : curve.points()) {
      AppendFormat(&text, "{},{},{},{:.0f},{:.9g}\n", Name(key.op),
                   key.group.intra, key.group.inter, size, seconds / kMicro);
    }
  }
  return text;
}

}  // namespace astra
