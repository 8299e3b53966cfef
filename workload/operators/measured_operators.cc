#include "workload/operators/measured_operators.h"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <variant>

#include "astra-core/base/median.h"

namespace astra {
namespace {

struct Entry {
  std::pair<std::string, OperatorClass> key;  // GPU and class.
  Dimensions dimensions{};
  OperatorSample sample;
};

bool SameShape(const Entry& a, const Entry& b) {
  return a.dimensions == b.dimensions && a.key == b.key;
}

// Returns the median time of entries of one shape.
TimePs MedianTime(absl::Span<const Entry> entries) {
  std::vector<TimePs> times;
  for (const Entry& entry : entries) times.push_back(entry.sample.time);
  std::sort(times.begin(), times.end());
  return MedianOf(times);
}

}  // namespace

std::optional<Precision> PrecisionOf(std::string_view name) {
  if (name == "fp16") return Precision::kBf16;
  for (const Precision precision : kPrecisions) {
    if (name == Name(precision)) return precision;
  }
  return std::nullopt;
}

OperatorClass ClassOf(const Operator& op) {
  OperatorClass kind = {
      .shape = op.shape.index(), .name = {}, .precision = op.precision};
  if (const auto* gemm = std::get_if<Gemm>(&op.shape)) {
    kind.grouped = gemm->groups > 1;
  } else if (const auto* attention = std::get_if<Attention>(&op.shape)) {
    kind.backward = attention->backward;
    kind.has_bias = attention->has_bias;
    kind.window = attention->window;
  } else if (const auto* rule = std::get_if<DeltaRule>(&op.shape)) {
    kind.backward = rule->backward;
  } else {
    kind.name = std::string(op.name);
  }
  return kind;
}

Dimensions DimensionsOf(const OperatorShape& shape) {
  Dimensions all;
  all.fill(1);
  const auto set = [&all](std::initializer_list<int64_t> sizes) {
    std::copy(sizes.begin(), sizes.end(), all.begin());
  };
  if (const auto* gemm = std::get_if<Gemm>(&shape)) {
    set({gemm->groups, gemm->m, gemm->n, gemm->k});
  } else if (const auto* attention = std::get_if<Attention>(&shape)) {
    set({attention->batch, attention->queries, attention->keys,
         attention->heads, attention->kv_heads, attention->qk_dim,
         attention->v_dim, attention->causal ? 1 : 2});
  } else if (const auto* rule = std::get_if<DeltaRule>(&shape)) {
    set({rule->batch, rule->positions, rule->heads, rule->key_dim,
         rule->value_dim});
  } else {
    set({std::get<Stream>(shape).bytes});
  }
  return all;
}

MeasuredOperators::MeasuredOperators(std::vector<OperatorSample> samples) {
  std::vector<Entry> entries;
  entries.reserve(samples.size());
  for (OperatorSample& sample : samples) {
    Entry& entry = entries.emplace_back();
    entry.key = {sample.gpu, ClassOf(sample.op())};
    entry.dimensions = DimensionsOf(sample.shape);
    entry.sample = std::move(sample);
  }
  std::stable_sort(
      entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.key, a.dimensions) < std::tie(b.key, b.dimensions);
      });
  for (size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    while (end < entries.size() && SameShape(entries[begin], entries[end])) {
      ++end;
    }
    const TimePs time =
        MedianTime(absl::MakeSpan(entries).subspan(begin, end - begin));
    const auto range = ranges_.insert(
        {entries[begin].key, {.begin = samples_.size(), .end = 0}});
    samples_.push_back(std::move(entries[begin].sample));
    samples_.back().time = time;
    range.first->second.end = samples_.size();
  }
}

MeasuredOperators::Range MeasuredOperators::Find(
    const std::string& gpu, const OperatorClass& kind) const {
  const auto found = ranges_.find({gpu, kind});
  return found == ranges_.end() ? Range() : found->second;
}

}  // namespace astra
