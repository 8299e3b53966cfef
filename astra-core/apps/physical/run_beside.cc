#include "astra-core/apps/physical/run_beside.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "astra-core/base/csv_reader.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/results/table.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr Column<BesideRow> kColumns[] = {
    {"collective", "", "kind",
     [](const BesideRow& row, std::string* text) {
       AppendField(std::get<0>(row.like), text);
     }},
    {"group", "", "TP, DP, ...",
     [](const BesideRow& row, std::string* text) {
       AppendField(std::get<1>(row.like), text);
     }},
    {"ranks", "", "ranks of a group",
     [](const BesideRow& row, std::string* text) {
       AppendInteger(std::get<2>(row.like), text);
     }},
    {"bytes", "B", "buffer size",
     [](const BesideRow& row, std::string* text) {
       AppendInteger(std::get<3>(row.like), text);
     }},
    {"measured", "", "collectives that were measured",
     [](const BesideRow& row, std::string* text) {
       AppendInteger(row.measured.count, text);
     }},
    {"measured_us", "us", "mean of their time_us",
     [](const BesideRow& row, std::string* text) {
       AppendNumber(row.measured.us, 3, text);
     }},
    {"simulated", "", "collectives that were simulated",
     [](const BesideRow& row, std::string* text) {
       AppendInteger(row.simulated.count, text);
     }},
    {"simulated_us", "us", "mean of their time_us",
     [](const BesideRow& row, std::string* text) {
       AppendNumber(row.simulated.us, 3, text);
     }},
    {"error_percent", "%", "by how much longer the simulation takes them",
     [](const BesideRow& row, std::string* text) {
       *text += fmt::format("{:.2f}", row.error_percent());
     }},
};

}  // namespace

absl::StatusOr<MeanTimes> ParseMeanTimes(std::string_view file,
                                         std::string_view contents) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr double kMostUs = 1e13;
  CsvReader csv(file, contents);
  const size_t kind = csv.Column("collective");
  const size_t group = csv.Column("group");
  const size_t ranks = csv.Column("ranks");
  const size_t bytes = csv.Column("bytes");
  const size_t count = csv.Column("count");
  const size_t time = csv.Column("time_us");
  MeanTimes times;
  while (csv.status().ok() && csv.NextRow()) {
    MeanTime& mean =
        times[{csv.cell(kind).text, csv.cell(group).text,
               csv.Integer(ranks, 1, kMost), csv.Integer(bytes, 0, kMost)}];
    const int64_t more = csv.Integer(count, 1, kMost >> 16);
    const double us = csv.Number(time, 0, kMostUs);
    mean.count += more;
    mean.us += (us - mean.us) * static_cast<double>(more) /
               static_cast<double>(mean.count);
  }
  ASTRA_RETURN_IF_ERROR(csv.status());
  return times;
}

absl::StatusOr<Beside> SetBeside(const MeanTimes& measured,
                                 const MeanTimes& simulated) {
  Beside beside;
  for (const auto& [like, mean] : measured) {
    const auto other = simulated.find(like);
    if (other == simulated.end()) {
      ++beside.only_measured;
    } else if (mean.us > 0) {
      beside.rows.push_back({like, mean, other->second});
    }
  }
  beside.only_simulated =
      simulated.size() - (measured.size() - beside.only_measured);
  if (beside.rows.empty()) {
    return absl::InvalidArgumentError(
        "no collective of the simulated run has the kind, group, ranks and "
        "bytes of one that was measured");
  }
  return beside;
}

double MedianError(const Beside& beside, Bytes least) {
  std::vector<double> errors;
  for (const BesideRow& row : beside.rows) {
    if (std::get<3>(row.like) < least.count()) continue;
    errors.push_back(std::abs(row.error_percent()));
  }
  if (errors.empty()) return -1;
  std::sort(errors.begin(), errors.end());
  const size_t half = errors.size() / 2;
  return errors.size() % 2 == 1 ? errors[half]
                                : (errors[half - 1] + errors[half]) / 2;
}

std::string BesideCsv(const Beside& beside) {
  std::string text = HeaderOf<BesideRow>(kColumns);
  for (const BesideRow& row : beside.rows) {
    AppendRow<BesideRow>(kColumns, row, &text);
  }
  return text;
}

std::string DescribeBeside(const Beside& beside) {
  std::string text = fmt::format("{:<15}{:<7}{:>6}{:>13}{:>14}{:>14}{:>9}\n",
                                 "collective", "group", "ranks", "bytes",
                                 "measured us", "simulated us", "error");
  for (const BesideRow& row : beside.rows) {
    const auto& [kind, group, ranks, bytes] = row.like;
    text += fmt::format("{:<15}{:<7}{:>6}{:>13}{:>14.1f}{:>14.1f}{:>+8.1f}%\n",
                        kind, group, ranks, bytes, row.measured.us,
                        row.simulated.us, row.error_percent());
  }
  constexpr Bytes kLarge(1 << 20);
  if (const double median = MedianError(beside, kLarge); median >= 0) {
    text += fmt::format(
        "median of the errors of collectives of 1 MiB and more: {:.1f} %\n",
        median);
  }
  if (beside.only_measured + beside.only_simulated > 0) {
    text += fmt::format(
        "left out, since only one run has them: {} kinds of the measured, {} "
        "of the simulated run\n",
        beside.only_measured, beside.only_simulated);
  }
  return text;
}

}  // namespace astra
