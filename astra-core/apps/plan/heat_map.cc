#include "astra-core/apps/plan/heat_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "astra-core/base/append_format.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMostCells = 128;
constexpr double kSide = 640;  // Of the picture of the matrix, in pixels.
constexpr double kLeft = 60;
constexpr double kTop = 50;
constexpr double kDecades = 6;

// Returns the colour of `share` of the most bytes: white to dark blue.
std::string Colour(double share) {
  const double depth = std::clamp(1 + std::log10(share) / kDecades, 0.05, 1.0);
  const auto mix = [depth](int end) {
    constexpr int kWhite = 255;
    return kWhite + static_cast<int>(std::lround(depth * (end - kWhite)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(8), mix(48), mix(107));
}

// Sums of the bytes between blocks of `ranks` ranks each.
std::vector<double> Blocks(const TrafficMatrix& matrix, int64_t ranks,
                           int64_t cells) {
  std::vector<double> sums(static_cast<size_t>(cells * cells));
  for (int64_t from = 0; from < matrix.ranks(); ++from) {
    for (int64_t to = 0; to < matrix.ranks(); ++to) {
      sums[static_cast<size_t>(from / ranks * cells + to / ranks)] +=
          matrix.at(from, to);
    }
  }
  return sums;
}

// The title may hold the name of a GPU file.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const bool is_plain = c >= ' ' && c <= '~' && c != '<' && c != '&';
    plain += is_plain ? c : '?';
  }
  return plain;
}

}  // namespace

std::string TrafficCsv(const TrafficMatrix& matrix) {
  std::string csv = "from";
  for (int64_t to = 0; to < matrix.ranks(); ++to) AppendFormat(&csv, ",{}", to);
  csv += "\n";
  for (int64_t from = 0; from < matrix.ranks(); ++from) {
    AppendFormat(&csv, "{}", from);
    for (int64_t to = 0; to < matrix.ranks(); ++to) {
      AppendFormat(&csv, ",{:.0f}", matrix.at(from, to));
    }
    csv += "\n";
  }
  return csv;
}

std::string TrafficSvg(std::string_view title, const TrafficMatrix& matrix) {
  const int64_t ranks = (matrix.ranks() + kMostCells - 1) / kMostCells;
  const int64_t cells = (matrix.ranks() + ranks - 1) / ranks;
  const std::vector<double> sums = Blocks(matrix, ranks, cells);
  const double most = *std::max_element(sums.begin(), sums.end());
  const double width = kSide / static_cast<double>(cells);
  std::string body;
  for (int64_t i = 0; i < cells * cells; ++i) {
    const double bytes = sums[static_cast<size_t>(i)];
    if (bytes <= 0) continue;
    const int64_t row = i / cells;
    AppendFormat(&body,
                 "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
                 "height=\"{:.2f}\" fill=\"{}\"/>\n",
                 kLeft + width * static_cast<double>(i % cells),
                 kTop + width * static_cast<double>(row), width, width,
                 Colour(bytes / most));
  }
  constexpr double kGiga = 1e9;
  constexpr double kMargin = 50;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2:.0f}\" y=\"20\">{3}</text>\n"
      "<text x=\"{2:.0f}\" y=\"38\">a cell is {4} x {4} ranks; the darkest "
      "sends {5:.4g} GB a step</text>\n"
      "<text x=\"{2:.0f}\" y=\"{6:.0f}\">receiving rank, 0 to {7}</text>\n"
      "<text transform=\"translate(44 {8:.0f}) rotate(-90)\">sending rank, 0 "
      "to {7} from the top</text>\n"
      "<rect x=\"{2:.0f}\" y=\"{9:.0f}\" width=\"{10:.0f}\" "
      "height=\"{10:.0f}\" fill=\"none\" stroke=\"#888\"/>\n{11}</svg>\n",
      kLeft + kSide + kMargin, kTop + kSide + kMargin, kLeft, Plain(title),
      ranks, most / kGiga, kTop + kSide + 20, matrix.ranks() - 1, kTop + kSide,
      kTop, kSide, body);
}

}  // namespace astra
