#include "network-frontends/traffic/traffic_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "astra-core/base/random.h"
#include "astra-core/base/status_macros.h"
#include "fmt/core.h"

namespace astra {
namespace {

// What a number is drawn for.
enum class Purpose : uint8_t { kSize, kStart, kInterval, kTarget };

// Draws the messages of one pattern.
class PatternDraw {
 public:
  PatternDraw(const PatternSpec& spec, uint32_t pattern, uint64_t seed,
              std::vector<TrafficMessage>* messages)
      : spec_(spec), pattern_(pattern), seed_(seed), messages_(*messages) {}

  // Adds a message from `sender` to each of its receivers.
  absl::Status AddOnce(const PatternSender& sender) {
    for (uint64_t i = 0; i < sender.targets.size(); ++i) {
      const double part = Draw(Purpose::kStart, sender.rank, i);
      ASTRA_RETURN_IF_ERROR(Add(spec_.start + ShareOf(part, spec_.spread),
                                sender.rank, sender.targets[i], i));
    }
    return absl::OkStatus();
  }

  // Adds the messages of `sender` at the rate of the pattern.
  absl::Status AddAtRate(const PatternSender& sender) {
    constexpr double kBitPsPerByteSecond = 8e12;
    const double mean_ps = kBitPsPerByteSecond * spec_.sizes.mean_bytes() /
                           static_cast<double>(spec_.rate->count());
    // As a double, since an interval may be longer than a TimePs can hold.
    double passed = 0;
    for (uint64_t i = 0;; ++i) {
      passed -= mean_ps * std::log1p(-Draw(Purpose::kInterval, sender.rank, i));
      if (passed >= static_cast<double>(spec_.duration.count())) {
        return absl::OkStatus();
      }
      const auto to =
          static_cast<size_t>(Draw(Purpose::kTarget, sender.rank, i) *
                              static_cast<double>(sender.targets.size()));
      ASTRA_RETURN_IF_ERROR(Add(spec_.start + TimePs(std::llround(passed)),
                                sender.rank, sender.targets[to], i));
    }
  }

 private:
  // Returns a number in [0, 1) for message `i` of `sender`.
  double Draw(Purpose purpose, RankId sender, uint64_t i) const {
    return UnitInterval(HashOf(seed_, pattern_, static_cast<uint64_t>(purpose),
                               sender.index(), i));
  }

  absl::Status Add(TimePs start, RankId source, RankId target, uint64_t i) {
    if (messages_.size() == kMostTrafficMessages) {
      return absl::ResourceExhaustedError(fmt::format(
          "more than the limit of {} messages", kMostTrafficMessages));
    }
    const Bytes bytes = spec_.sizes.Quantile(Draw(Purpose::kSize, source, i));
    messages_.push_back({start, source, target, bytes, pattern_});
    return absl::OkStatus();
  }

  const PatternSpec& spec_;
  const uint32_t pattern_;
  const uint64_t seed_;
  std::vector<TrafficMessage>& messages_;
};

absl::Status AddPattern(const PatternSpec& spec, uint32_t pattern,
                        uint32_t num_ranks, uint64_t seed,
                        std::vector<TrafficMessage>* messages) {
  if (num_ranks < 2) {
    return absl::InvalidArgumentError("traffic needs two ranks or more");
  }
  PatternShape shape = spec.shape;
  shape.num_ranks = num_ranks;
  shape.seed = HashOf(seed, pattern);
  ASTRA_ASSIGN_OR_RETURN(const std::vector<PatternSender> senders,
                         spec.pattern->senders(shape));
  const size_t before = messages->size();
  PatternDraw draw(spec, pattern, seed, messages);
  for (const PatternSender& sender : senders) {
    ASTRA_RETURN_IF_ERROR(spec.rate ? draw.AddAtRate(sender)
                                    : draw.AddOnce(sender));
  }
  if (messages->size() > before) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "no message comes: the rate is too low for the duration");
}

std::string NameOf(absl::Span<const PatternSpec> specs, size_t position) {
  const PatternEntry* pattern = specs[position].pattern;
  const auto number = 1 + std::count_if(specs.begin(), specs.begin() + position,
                                        [&](const PatternSpec& spec) {
                                          return spec.pattern == pattern;
                                        });
  return number == 1 ? std::string(pattern->name)
                     : fmt::format("{}#{}", pattern->name, number);
}

}  // namespace

absl::StatusOr<Traffic> DrawTraffic(absl::Span<const PatternSpec> specs,
                                    uint32_t num_ranks, uint64_t seed) {
  Traffic traffic;
  for (uint32_t i = 0; i < specs.size(); ++i) {
    traffic.patterns.push_back(NameOf(specs, i));
    const absl::Status status =
        AddPattern(specs[i], i, num_ranks, seed, &traffic.messages);
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        fmt::format("{}: {}", traffic.patterns.back(),
                                    std::string(status.message())));
  }
  std::stable_sort(traffic.messages.begin(), traffic.messages.end(),
                   [](const TrafficMessage& a, const TrafficMessage& b) {
                     return a.start < b.start;
                   });
  return traffic;
}

}  // namespace astra
