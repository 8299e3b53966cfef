#include "network-frontends/traffic/flow_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "astra-core/base/parse.h"
#include "astra-core/base/status_macros.h"
#include "astra-core/base/text_reader.h"
#include "fmt/core.h"

namespace astra {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 53;
constexpr size_t kMostPoints = 100'000;

absl::StatusOr<double> NumberAt(const TextReader& reader, const Token& token,
                                std::string_view what, double min, double max) {
  const absl::StatusOr<double> number = ParseNumber(what, token.text, min, max);
  if (number.ok()) return *number;
  return reader.Error(token, std::string(number.status().message()));
}

}  // namespace

FlowSizes::FlowSizes(std::vector<Point> points) : points_(std::move(points)) {
  for (size_t i = 1; i < points_.size(); ++i) {
    const Point& low = points_[i - 1];
    const Point& high = points_[i];
    mean_bytes_ += (high.share - low.share) * (low.bytes + high.bytes) / 2;
  }
}

FlowSizes FlowSizes::All(Bytes bytes) {
  const auto count = static_cast<double>(bytes.count());
  return FlowSizes({{count, 0}, {count, 1}});
}

absl::StatusOr<FlowSizes> FlowSizes::Parse(std::string_view file,
                                           std::string_view contents) {
  TextReader reader(file, contents);
  std::vector<Point> points;
  double percent = 0;
  while (reader.NextLine()) {
    const absl::Span<const Token> tokens = reader.tokens();
    if (tokens.empty() || tokens[0].text.front() == '#') continue;
    if (tokens.size() != 2) {
      return reader.ErrorAtEnd(
          fmt::format("{} words, expected 2: a size in bytes and a percentage",
                      tokens.size()));
    }
    if (points.size() == kMostPoints) {
      return reader.Error(tokens[0], fmt::format("more than the limit of {} "
                                                 "sizes",
                                                 kMostPoints));
    }
    const double least = points.empty() ? 0 : points.back().bytes;
    ASTRA_ASSIGN_OR_RETURN(
        const double bytes,
        NumberAt(reader, tokens[0], "size", least, kMostBytes));
    ASTRA_ASSIGN_OR_RETURN(
        percent, NumberAt(reader, tokens[1], "percentage", percent, kPercent));
    if (points.empty() && percent != 0) {
      return reader.Error(tokens[1], "the first percentage is not 0");
    }
    points.push_back({bytes, percent / kPercent});
  }
  if (points.size() < 2 || percent != kPercent) {
    return reader.ErrorAtEnd(fmt::format("the sizes end at {} %, expected 100",
                                         points.empty() ? 0 : percent));
  }
  if (points.back().bytes < 1) {
    return reader.ErrorAtEnd("no message has a byte");
  }
  return FlowSizes(std::move(points));
}

Bytes FlowSizes::Quantile(double share) const {
  const auto high = std::lower_bound(
      points_.begin() + 1, points_.end() - 1, share,
      [](const Point& point, double value) { return point.share < value; });
  const Point& low = *(high - 1);
  const double width = high->share - low.share;
  const double part = width > 0 ? (share - low.share) / width : 1;
  const double bytes = low.bytes + part * (high->bytes - low.bytes);
  return Bytes(std::max<int64_t>(1, std::llround(bytes)));
}

}  // namespace astra
