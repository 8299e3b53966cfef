#include "astra-core/serving/step_times.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "astra-core/base/check.h"
#include "astra-core/base/real.h"

namespace astra {
namespace {

constexpr double kSecondsPerUs = 1e-6;

// Whole numbers, 2^bits of them in each octave, and all of those below.
class Grid {
 public:
  explicit constexpr Grid(int bits) : bits_(bits) {}

  // Returns the last point that is not above `value`.
  size_t Below(int64_t value) const {
    const auto width =
        static_cast<int>(std::bit_width(static_cast<uint64_t>(value)));
    const int octave = std::max(0, width - 1 - bits_);
    return static_cast<size_t>((int64_t{octave} << bits_) + (value >> octave));
  }
  int64_t At(size_t point) const {
    const auto index = static_cast<int64_t>(point);
    const int64_t octave = std::max<int64_t>(0, (index >> bits_) - 1);
    return (index - (octave << bits_)) << octave;
  }

 private:
  int bits_;
};

constexpr Grid kFine(4);
constexpr Grid kCoarse(2);
constexpr Grid kParts(1);

// Returns prices[point], which `price` makes if it is not there yet.
template <class Price>
const StepSeconds& Entry(std::vector<std::optional<StepSeconds>>& prices,
                         size_t point, Price price) {
  if (point >= prices.size()) prices.resize(point + 1);
  std::optional<StepSeconds>& entry = prices[point];
  if (!entry) entry = price();
  return *entry;
}

// Returns what `at(point)` is between the points of `grid` around `value`. The
// share of the upper one is share(lower, upper).
template <class At, class Share>
StepSeconds OnGrid(const Grid& grid, double value, At at, Share share) {
  const size_t point = grid.Below(static_cast<int64_t>(value));
  const int64_t lower = grid.At(point);
  if (Real(lower) == value) return at(point);
  return Between(at(point), at(point + 1), share(lower, grid.At(point + 1)));
}

template <class At>
StepSeconds OnGrid(const Grid& grid, double value, At at) {
  return OnGrid(grid, value, at, [value](int64_t lower, int64_t upper) {
    return (value - Real(lower)) / Real(upper - lower);
  });
}

// Returns the pairs of a query and a key of a part of a prompt.
double Pairs(double tokens, double cached) {
  return tokens * (cached + (tokens + 1) / 2);
}

// Equal parts of prompts that stand for those of a step.
struct EqualParts {
  int64_t parts = 0;
  double tokens = 0;
  double cached = 0;
};

EqualParts EqualPartsOf(const StepWork& work) {
  EqualParts equal;
  double pairs = 0;
  for (const PromptChunk& chunk : work.chunks) {
    ++equal.parts;
    equal.tokens += Real(chunk.tokens);
    pairs += Pairs(Real(chunk.tokens), Real(chunk.cached));
  }
  if (equal.parts == 0) return equal;
  const double sum = equal.tokens;
  equal.tokens /= Real(equal.parts);
  equal.cached = std::max(0.0, pairs / sum - (equal.tokens + 1) / 2);
  return equal;
}

}  // namespace

StepParts& StepParts::operator+=(const StepParts& other) {
  gpu += other.gpu;
  launch += other.launch;
  host += other.host;
  return *this;
}

ServingFacts WithoutHost(ServingFacts facts) {
  facts.step_us = facts.sequence_us = 0;
  return facts;
}

int64_t SequencesOf(const StepWork& work) {
  return work.decodes + static_cast<int64_t>(work.chunks.size());
}

TimePs TimeOfParts(const StepParts& parts) {
  return TimePs(std::max<int64_t>(1, std::llround(parts.sum() * kPsPerSecond)));
}

TimePs StepTimes::TimeOf(const StepWork& work) {
  return TimeOfParts(PartsOf(work));
}

StepParts StepTimes::PartsOf(absl::Span<const StepWork> ranks) {
  const GraphUse use = GraphOf(ranks);
  StepSeconds gpu;
  int64_t sequences = 0;
  for (const StepWork& work : ranks) {
    const StepSeconds own = RankParts(work, use);
    if (own.sum() > gpu.sum()) gpu = own;
    sequences = std::max(sequences, SequencesOf(work));
  }
  if (prices_.has_attention_ranks()) {
    gpu += ExpertsAt(Real(use.all_tokens) / static_cast<double>(ranks.size()),
                     use.in_graph);
  }
  return WithHost(sequences, use, gpu);
}

StepSeconds StepTimes::RankParts(const StepWork& work, const GraphUse& use) {
  const int64_t tokens =
      use.in_graph ? use.tokens : std::max<int64_t>(1, work.tokens());
  StepSeconds gpu = SharedAt(tokens, use.in_graph);
  const EqualParts equal = EqualPartsOf(work);
  if (equal.parts > 0) {
    gpu += PrefillAt(equal.parts, equal.tokens, equal.cached);
  }
  if (work.decodes > 0) gpu += DecodeAt(work);
  if (work.samples > 0) gpu += SampleAt(work.samples, use.in_graph);
  return gpu;
}

StepParts StepTimes::DirectPartsOf(const StepWork& work) {
  const GraphUse use = GraphOf({&work, 1});
  StepSeconds gpu = prices_.Shared(use.tokens, use.in_graph);
  const EqualParts equal = EqualPartsOf(work);
  if (equal.parts > 0) {
    gpu += prices_.Prefill(equal.parts, std::llround(equal.tokens),
                           std::llround(equal.cached));
  }
  if (work.decodes > 0) {
    const double context = Real(work.decode_context) / Real(work.decodes);
    gpu += prices_.Decode(work.decodes,
                          std::max<int64_t>(1, std::llround(context)),
                          1 + work.draft_tokens / work.decodes);
  }
  if (work.samples > 0) gpu += prices_.Sample(work.samples, use.in_graph);
  return WithHost(SequencesOf(work), use, gpu);
}

StepTimes::GraphUse StepTimes::GraphOf(absl::Span<const StepWork> ranks) const {
  GraphUse use;
  bool may_use_graph = true;
  int64_t all = 0;
  for (const StepWork& work : ranks) {
    const int64_t tokens = work.tokens();
    all += tokens;
    use.all_tokens += std::max<int64_t>(1, tokens);
    use.tokens = std::max(use.tokens, tokens);
    if (!work.chunks.empty() && !facts_.mixed_graphs) may_use_graph = false;
  }
  ASTRA_CHECK(all > 0, "a step without positions");
  const int64_t graph = may_use_graph ? facts_.GraphFor(use.tokens) : 0;
  if (graph == 0) return use;
  return {true, graph, graph * static_cast<int64_t>(ranks.size())};
}

StepParts StepTimes::WithHost(int64_t sequences, const GraphUse& use,
                              const StepSeconds& gpu) const {
  StepParts parts;
  parts.gpu = gpu;
  const double seconds = gpu.sum();
  if (!use.in_graph) {
    const double launches =
        facts_.launch_us * kSecondsPerUs * gpu.kernels + gpu.host;
    parts.launch = std::max(0.0, launches - seconds);
  }
  const double host = facts_.HostSeconds(sequences);
  parts.host = facts_.overlapped_host
                   ? std::max(0.0, host - seconds - parts.launch)
                   : host;
  return parts;
}

StepSeconds StepTimes::SharedAt(int64_t tokens, bool in_graph) {
  return OnGrid(kFine, Real(tokens), [&](size_t point) {
    return Entry(shared_[in_graph ? 1 : 0], point,
                 [&] { return prices_.Shared(kFine.At(point), in_graph); });
  });
}

StepSeconds StepTimes::ExpertsAt(double tokens, bool in_graph) {
  return OnGrid(kFine, std::max(1.0, tokens), [&](size_t point) {
    return Entry(experts_[in_graph ? 1 : 0], point,
                 [&] { return prices_.Experts(kFine.At(point), in_graph); });
  });
}

StepSeconds StepTimes::SampleAt(int64_t sequences, bool in_graph) {
  return OnGrid(kFine, Real(sequences), [&](size_t point) {
    return Entry(sample_[in_graph ? 1 : 0], point,
                 [&] { return prices_.Sample(kFine.At(point), in_graph); });
  });
}

StepSeconds StepTimes::DecodeAt(const StepWork& work) {
  const double context =
      std::max(1.0, Real(work.decode_context) / Real(work.decodes));
  const int64_t fewest = 1 + work.draft_tokens / work.decodes;
  const int64_t others = work.draft_tokens % work.decodes;
  StepSeconds price = DecodePlane(work.decodes, context, fewest);
  if (others == 0) return price;
  return Between(price, DecodePlane(work.decodes, context, fewest + 1),
                 Real(others) / Real(work.decodes));
}

StepSeconds StepTimes::DecodePlane(int64_t batch, double context,
                                   int64_t queries) {
  std::vector<Line>& plane = decode_[queries];
  return OnGrid(kCoarse, Real(batch), [&](size_t of_batch) {
    if (of_batch >= plane.size()) plane.resize(of_batch + 1);
    return OnGrid(kCoarse, context, [&](size_t point) {
      return Entry(plane[of_batch], point, [&] {
        return prices_.Decode(kCoarse.At(of_batch), kCoarse.At(point), queries);
      });
    });
  });
}

StepSeconds StepTimes::PrefillAt(int64_t parts, double tokens, double cached) {
  return OnGrid(kParts, Real(parts), [&](size_t point) {
    return PrefillPlane(kParts.At(point), tokens, cached);
  });
}

StepSeconds StepTimes::PrefillPlane(int64_t parts, double tokens,
                                    double cached) {
  std::vector<Line>& plane = prefill_[parts];
  return OnGrid(kCoarse, cached, [&](size_t of_cached) {
    if (of_cached >= plane.size()) plane.resize(of_cached + 1);
    const int64_t past = kCoarse.At(of_cached);
    return OnGrid(
        kCoarse, tokens,
        [&](size_t point) {
          return Entry(plane[of_cached], point, [&] {
            return prices_.Prefill(parts, kCoarse.At(point), past);
          });
        },
        [&](int64_t lower, int64_t upper) {
          const double least = Pairs(Real(lower), Real(past));
          return (Pairs(tokens, Real(past)) - least) /
                 (Pairs(Real(upper), Real(past)) - least);
        });
  });
}

}  // namespace astra
